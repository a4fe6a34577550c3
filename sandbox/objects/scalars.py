"""How the server reads the values of leaf types, and what it says where one does not fit."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sandbox.objects.quantity import QuantityError, canonical, canonical_resource
from sandbox.schema.spelling import json_type

INT32 = 2**31
INT64 = 2**63
TIME_LAYOUT = "2006-01-02T15:04:05Z07:00"
MICRO_TIME_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


class Mismatch(Exception):
    """A value that does not fit its Go type; where it stood is added on the way out.

    `problem` is a sentence of a type's own parser; the others are put together as Go does.
    """

    def __init__(self, value: Any, expected: str, problem: str = "") -> None:
        super().__init__(expected)
        self._value = json_type(value)
        self._expected = expected
        self._problem = problem
        self._struct = ""
        self._fields: list[str] = []

    def within(self, struct: str, field: str) -> None:
        """Note the struct and the field that hold the value or its holder."""
        self._struct = self._struct or struct
        self._fields.insert(0, field)

    def __str__(self) -> str:
        """Return the message of `encoding/json`."""
        if self._problem:
            return self._problem
        place = f"struct field {self._struct}.{'.'.join(self._fields)}"
        where = place if self._fields else "value"
        return f"json: cannot unmarshal {self._value} into Go {where} of type {self._expected}"


def named_string_reader(name: str) -> Callable[[Any], str]:
    """Return the reader of a string type, which messages name (`v1.PullPolicy`)."""

    def read(value: Any) -> str:
        if type(value) is str:
            return value
        raise Mismatch(value, name)

    return read


_read_string = named_string_reader("string")


def _read_bool(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise Mismatch(value, "bool")


def _integer_reader(name: str, limit: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is int and -limit <= value < limit:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise _WrongNumber(value, name)
        raise Mismatch(value, name)

    return read


class _WrongNumber(Mismatch):
    """A number that is no integer of the wanted size: the message tells it."""

    def __init__(self, value: float, expected: str) -> None:
        super().__init__(value, expected)
        self._value = f"number {json.dumps(value)}"


def _read_float(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise Mismatch(value, "float64")


def _read_bytes(value: Any) -> str:
    if type(value) is not str:
        raise Mismatch(value, "[]uint8")
    try:
        # Go's decoder skips line ends and nothing else.
        plain = value.replace("\n", "").replace("\r", "")
        return base64.b64encode(base64.b64decode(plain, validate=True)).decode()
    except (binascii.Error, ValueError):
        problem = f"illegal base64 data at input byte {_first_wrong_byte(value)}"
        raise Mismatch(value, "[]uint8", problem) from None


def _first_wrong_byte(text: str) -> int:
    """Return where Go's decoder gives up: at the first alien letter, else where the text ends."""
    match = re.search(r"[^A-Za-z0-9+/\r\n]", text)
    if match is None:
        return len(text) // 4 * 4
    return match.start()


def _quantity_reader(form: Callable[[str], str]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = value if type(value) is str else json.dumps(value)
        try:
            return form(text.strip())
        except QuantityError as error:
            raise Mismatch(value, "resource.Quantity", str(error)) from None

    return read


def _read_int_or_string(value: Any) -> int | str:
    if type(value) is str:
        return value
    if type(value) is int and -INT32 <= value < INT32:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise _WrongNumber(value, "int32")
    raise Mismatch(value, "int32")


def _time_reader(layout: str, written: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if type(value) is not str:
            raise Mismatch(value, "string")
        if _TIME.fullmatch(value) is None:
            # Go names the first part of the layout that does not fit; the year is the usual one.
            problem = f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"'
            raise Mismatch(value, "v1.Time", problem)
        moment = _moment(value)
        if value[-1] == "Z" and len(value) == len(written):
            return value
        micros = f".{moment.microsecond:06}" if "." in written else ""
        return f"{moment:%Y-%m-%dT%H:%M:%S}{micros}Z"

    return read


def _moment(text: str) -> datetime:
    """Return the moment that a text in the form of a time means, in UTC; `Mismatch` for none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        # "month must be in 1..12", where Go has "month out of range".
        problem = f'parsing time "{text}": {str(error).partition(" ")[0]} out of range'
        raise Mismatch(text, "v1.Time", problem) from None


def _read_untyped(value: Any) -> Any:
    return value


SCALAR_READERS: dict[str, Callable[[Any], Any]] = {
    "string": _read_string,
    "bool": _read_bool,
    "int32": _integer_reader("int32", INT32),
    "int64": _integer_reader("int64", INT64),
    "float64": _read_float,
    "bytes": _read_bytes,
    "Quantity": _quantity_reader(canonical),
    "ResourceQuantity": _quantity_reader(canonical_resource),
    "IntOrString": _read_int_or_string,
    "Time": _time_reader(TIME_LAYOUT, "2006-01-02T15:04:05Z"),
    "MicroTime": _time_reader(MICRO_TIME_LAYOUT, "2006-01-02T15:04:05.000000Z"),
    "Duration": _read_string,
    "FieldsV1": _read_untyped,
    "Raw": _read_untyped,
}
"""A reader of each leaf type; each raises `Mismatch`."""
