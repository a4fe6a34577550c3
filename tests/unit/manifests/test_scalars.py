"""Plain scalars: every row is what kubectl v1.36 made of the same text."""

from __future__ import annotations

import pytest

from gate.manifests.scalars import Value, json_value, key_text, resolve
from tests.table import each

BIG = 18446744073709551615

SCALARS: list[tuple[str, Value]] = [
    *[(word, True) for word in ("y", "Y", "yes", "Yes", "YES", "on", "On", "true", "TRUE")],
    *[(word, False) for word in ("n", "N", "no", "No", "NO", "off", "OFF", "false", "False")],
    *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
    *[(word, word) for word in ("yEs", "nULL", "oN", "tRUE", "Infinity", "inf", "nan", "=", "<<")],
    *[(word, word) for word in ("2024-01-02", "2024-01-02T03:04:05Z", "190:20:30", "1.2.3")],
    *[(word, word) for word in ("_", "0x", "0xg", "1e", "0x1p4", ".e5", ".", "+", "-.", "0b2")],
    *[(word, word) for word in ("._5", ".5__0", "1e999", "-1e999", "0xFFFFFFFFFFFFFFFFF")],
    ("0", 0),
    ("00", 0),
    ("017", 15),
    ("-017", -15),
    ("0_17", 15),
    ("0o17", 15),
    ("0O17", 15),
    ("0x1F", 31),
    ("-0x1f", -31),
    ("0X1f", 31),
    ("0b101", 5),
    ("-0B11", -3),
    ("089", 89),
    ("+12", 12),
    ("1_000", 1000),
    ("1__0", 10),
    ("1.0", 1),
    ("1e3", 1000),
    ("1E5", 100000),
    ("1e+3", 1000),
    ("5.", 5),
    (".5", 0.5),
    ("+.5", 0.5),
    ("-.5", -0.5),
    (".5_0", 0.5),
    ("1_0.5", 10.5),
    ("-0.0", 0),
    ("1.5e300", 1.5e300),
    ("1e20", 1e20),
    ("9223372036854775807", 9223372036854775807),
    ("-9223372036854775808", -9223372036854775808),
    ("9223372036854775808", 9223372036854775808.0),
    ("18446744073709551616", 18446744073709551616.0),
    ("0xFFFFFFFFFFFFFFFF", float(BIG)),
    ("0777777777777777777777777", 777777777777777777777777.0),
]

KEYS: list[tuple[str, str]] = [
    ("yes", "true"),
    ("n", "false"),
    ("1", "1"),
    ("017", "15"),
    ("0x10", "16"),
    ("2024-01-01", "2024-01-01"),
    ("1.10", "1.1"),
    ("0.1", "0.1"),
    ("100000.0", "100000"),
    ("1e6", "1e+06"),
    ("1e22", "1e+22"),
    ("0.0001", "0.0001"),
    ("1e-5", "1e-05"),
    ("123456.789", "123456.79"),
    ("16777217.5", "1.6777218e+07"),
    ("3.14159265358979", "3.1415927"),
    ("-0.0", "-0"),
    ("1e-45", "1e-45"),
    ("1e-50", "0"),
    ("3.403e38", ".inf"),
    ("-1e300", "-.inf"),
    (".inf", ".inf"),
    (".NaN", ".nan"),
]


@pytest.mark.contract("B217")
@each(("text", "value"), SCALARS)
def test_values_mean_what_kubectl_takes_them_for(text: str, value: Value) -> None:
    """Booleans of YAML 1.1, dates as text, numbers as Go reads them."""
    read = json_value(resolve(text))
    assert (read, type(read)) == (value, type(value))


@pytest.mark.contract("B217")
@each(("text", "key"), KEYS)
def test_keys_become_the_text_that_kubectl_makes_of_them(text: str, key: str) -> None:
    """A key of JSON is text: numbers and booleans are written out as Go does."""
    assert key_text(resolve(text)) == key
