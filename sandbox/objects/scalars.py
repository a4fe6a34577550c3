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
from sandbox.schema import json_type

INT32 = 2**31
INT64 = 2**63

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


class Mismatch(Exception):
    """A value that does not fit its Go type; where it stood is added on the way out.

    `problem` is what a type's own parser says; the others are put together as Go does.
    """

    def __init__(self, value: Any, expected: str, problem: str = "") -> None:
        super().__init__(expected)
        self._value = json_type(value)
        if self._value == "number" and expected in ("int32", "int64"):
            self._value = f"number {json.dumps(value)}"
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
        raise Mismatch(value, name)

    return read


def _read_bytes(value: Any) -> str:
    if type(value) is not str:
        raise Mismatch(value, "[]uint8")
    try:
        # Go's decoder skips line ends and nothing else.
        plain = value.replace("\n", "").replace("\r", "")
        return base64.b64encode(base64.b64decode(plain, validate=True)).decode()
    except (binascii.Error, ValueError):
        raise Mismatch(value, "[]uint8", "illegal base64 data") from None


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
    raise Mismatch(value, "int32")


def _time_reader(written: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if type(value) is not str:
            raise Mismatch(value, "string")
        moment = _moment(value)
        if value[-1] == "Z" and len(value) == len(written):
            return value
        micros = f".{moment.microsecond:06}" if "." in written else ""
        return f"{moment:%Y-%m-%dT%H:%M:%S}{micros}Z"

    return read


def _moment(text: str) -> datetime:
    """Return the moment that a text in the form of a time means, in UTC; `Mismatch` for none."""
    try:
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Mismatch(text, "v1.Time", f'parsing time "{text}": it is none')


def _read_untyped(value: Any) -> Any:
    return value


SCALAR_READERS: dict[str, Callable[[Any], Any]] = {
    "string": _read_string,
    "bool": _read_bool,
    "int32": _integer_reader("int32", INT32),
    "int64": _integer_reader("int64", INT64),
    "bytes": _read_bytes,
    "Quantity": _quantity_reader(canonical),
    "ResourceQuantity": _quantity_reader(canonical_resource),
    "IntOrString": _read_int_or_string,
    "Time": _time_reader("2006-01-02T15:04:05Z"),
    "MicroTime": _time_reader("2006-01-02T15:04:05.000000Z"),
    "FieldsV1": _read_untyped,
    "Raw": _read_untyped,
}
"""A reader of each leaf type; each raises `Mismatch`."""
