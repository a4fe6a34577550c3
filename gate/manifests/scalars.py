"""Plain scalars as kubectl reads them: YAML 1.1 as `sigs.k8s.io/yaml` resolves it.

It differs from PyYAML's reading: `y` and `n` are booleans, dates stay text, `0o17` and `1e3` are
numbers, `190:20:30` is not. Every rule was compared with kubectl v1.36.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping
from typing import Final

Value = str | int | float | bool | None

_WORDS: Final[Mapping[str, Value]] = {
    form: value
    for value, words in (
        (True, ("y", "yes", "true", "on")),
        (False, ("n", "no", "false", "off")),
        (None, ("", "~", "null")),
        (math.nan, (".nan",)),
        (math.inf, (".inf", "+.inf")),
        (-math.inf, ("-.inf",)),
    )
    for word in words
    for form in (word, word.capitalize(), word.upper())
} | {".NaN": math.nan, ".Inf": math.inf, "+.Inf": math.inf, "-.Inf": -math.inf}

_LONGEST_NUMBER: Final = 100
"""More characters than 64 bits and an exponent need; it keeps a hostile number cheap."""

_DECIMAL: Final = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_OCTAL: Final = re.compile(r"[+-]?0[oO]?[0-7]+")
_PREFIXED: Final = re.compile(r"[+-]?0(?:[xX][0-9a-fA-F]+|[bB][01]+)")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

_JOINT: Final = re.compile(r"(?<=[0-9])_(?=[0-9])")
"""The only underscores allowed in a number that begins with its dot."""

_INT64: Final = range(-(2**63), 2**63)


def resolve(text: str) -> Value:
    """Return what a plain (unquoted, untagged) scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER or text[0] not in "+-.0123456789":
        return text
    digits = _JOINT.sub("", text) if text[0] == "." else text.replace("_", "")
    integer = _integer(digits)
    if integer is not None and integer in _INT64:
        return integer
    if integer is not None and integer in range(2**64):
        return float(integer)
    if _FLOAT.fullmatch(digits) and math.isfinite(number := float(digits)):
        return number
    return text


def json_value(value: Value) -> Value:
    """Return `value` as it is sent: a whole number without its `.0`, as Go encodes it.

    ValueError for infinities and NaN, which JSON does not have.
    """
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise ValueError("infinity and NaN are no JSON numbers")
    return int(value) if value.is_integer() and int(value) in _INT64 else value


def key_text(value: Value) -> str:
    """Return `value` as the key of a JSON object; ValueError for null, which cannot be one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        raise ValueError("null is no key")
    return str(value) if isinstance(value, int) else _float_text(value)


def _integer(digits: str) -> int | None:
    if _DECIMAL.fullmatch(digits):
        return int(digits)
    if _OCTAL.fullmatch(digits):
        return int(digits.replace("o", "").replace("O", ""), 8)
    if _PREFIXED.fullmatch(digits):
        return int(digits, 0)
    return None


def _float_text(value: float) -> str:
    """Write a float as kubectl does in keys: Go's shortest `%g` of the nearest 32-bit float."""
    single = _single(value)
    if not math.isfinite(single):
        return {math.inf: ".inf", -math.inf: "-.inf"}.get(single, ".nan")
    precisions = (f"{single:.{digits}e}" for digits in range(9))
    shortest = next(form for form in precisions if _single(float(form)) == single)
    mantissa, exponent = shortest.split("e")
    if not -4 <= int(exponent) < 6:  # noqa: PLR2004 - where Go's %g turns to an exponent
        return shortest
    decimals = max(len(mantissa.partition(".")[2]) - int(exponent), 0)
    return f"{float(shortest):.{decimals}f}"


def _single(value: float) -> float:
    return array("f", [value])[0]
