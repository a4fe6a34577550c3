"""Kubernetes' messages to the JSON that they stand for.

`messages.json` is written by `python -m tests.cluster.protobufs`. It maps a message
(`core/v1.Pod`) to its fields: number to JSON name and type; an empty name is a struct that JSON
has inline. In a type `[]` is a list and `{}` a map of strings.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from sandbox.json import JSON

_MOST_VARINT_BYTES = 10
_SIGN = 1 << 63

Value = int | bytes


class WireError(ValueError):
    """The bytes are no protobuf."""


def fields(raw: bytes) -> Iterator[tuple[int, Value]]:
    """Yield the number and the value of each field, in the order of the message."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        value, at = _value(raw, at, tag & 7)
        yield tag >> 3, value


def decode_signed(value: Value) -> int:
    """Return a varint as the whole number it stands for: negative ones are two's complement."""
    number = value if isinstance(value, int) else 0
    return number - (_SIGN << 1) if number >= _SIGN else number


def as_bytes(value: Value) -> bytes:
    """Return a run of bytes; raises `WireError` for a number."""
    if isinstance(value, bytes):
        return value
    raise WireError("proto: wrong wireType")


def _value(raw: bytes, at: int, wire_type: int) -> tuple[Value, int]:
    match wire_type:
        case 0:
            return _varint(raw, at)
        case 2:
            length, at = _varint(raw, at)
            return _run(raw, at, length), at + length
        case _:
            raise WireError(f"proto: illegal wireType {wire_type}")


def _run(raw: bytes, at: int, length: int) -> bytes:
    if at + length > len(raw):
        raise WireError("unexpected EOF")
    return raw[at : at + length]


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    number = 0
    for position in range(_MOST_VARINT_BYTES):
        byte = _run(raw, at + position, 1)[0]
        number |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:  # noqa: PLR2004 - the last byte has no continuation bit
            return number, at + position + 1
    raise WireError("proto: integer overflow")


DATA = "messages.json"
MAGIC = b"k8s\x00"

OPTIONS = "meta/v1.DeleteOptions"
"""The options of a deletion belong to every group version."""

_CORE = "core"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EMPTY_LIST, _EMPTY_MAP = "[]", "{}"


def message_name(api_version: str, kind: str) -> str:
    """Return the message of a kind: `apps/v1.Deployment`, `core/v1.Pod`."""
    group, _, version = api_version.rpartition("/")
    return f"{group.partition('.')[0] or _CORE}/{version}.{kind}"


def from_protobuf(raw: bytes, api_version: str, kind: str) -> JSON:
    """Return the object of an envelope, with its kind; WireError where it is none.

    `api_version` and `kind` are what it is taken for where the envelope does not say.
    """
    if not raw.startswith(MAGIC):
        raise WireError("provided data does not appear to be a protobuf message")
    envelope = dict(fields(raw[len(MAGIC) :]))
    meta = dict(fields(as_bytes(envelope.get(1, b""))))
    type_meta = (as_bytes(meta.get(1, b"")).decode(), as_bytes(meta.get(2, b"")).decode())
    api_version, kind = type_meta[0] or api_version, type_meta[1] or kind
    name = OPTIONS if kind == "DeleteOptions" else message_name(api_version, kind)
    if name not in _messages():
        raise WireError(f'no kind "{kind}" is registered for version "{api_version}"')
    body = _message(name, as_bytes(envelope.get(2, b"")))
    return {"kind": kind, "apiVersion": api_version, **body}


@cache
def _messages() -> Mapping[str, Mapping[int, tuple[str, str]]]:
    text = files("sandbox.serving.protobuf").joinpath(DATA).read_text(encoding="utf-8")
    return {
        name: {int(number): (field[0], field[1]) for number, field in content.items()}
        for name, content in json.loads(text).items()
    }


def _message(name: str, raw: bytes) -> JSON:
    known = _messages()[name]
    found: JSON = {}
    for number, value in fields(raw):
        if number not in known:
            continue
        field, kind = known[number]
        if not field:
            found.update(_message(kind, as_bytes(value)))
        elif kind.startswith(_EMPTY_LIST):
            found.setdefault(field, []).append(_read(kind[2:], value))
        elif kind.startswith(_EMPTY_MAP):
            found.setdefault(field, {}).update(_entry(kind[2:], as_bytes(value)))
        else:
            found[field] = _read(kind, value)
    return found


def _entry(kind: str, raw: bytes) -> JSON:
    parts = dict(fields(raw))
    default = 0 if kind in ("int32", "int64", "bool") else b""
    return {as_bytes(parts.get(1, b"")).decode(): _read(kind, parts.get(2, default))}


def _read(kind: str, value: Value) -> Any:
    reader = _READERS.get(kind)
    return reader(value) if reader is not None else _message(kind, as_bytes(value))


def _text(value: Value) -> str:
    return as_bytes(value).decode()


def _quantity(value: Value) -> str:
    return _text(dict(fields(as_bytes(value))).get(1, b""))


def _int_or_string(value: Value) -> int | str:
    parts = dict(fields(as_bytes(value)))
    return _text(parts.get(3, b"")) if parts.get(1) else decode_signed(parts.get(2, 0))


def _time_reader(form: str) -> Callable[[Value], str | None]:
    def read(value: Value) -> str | None:
        parts = dict(fields(as_bytes(value)))
        if not parts:
            return None
        seconds, nanoseconds = (decode_signed(parts.get(number, 0)) for number in (1, 2))
        moment = _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        return moment.strftime(form)

    return read


def _extra(value: Value) -> list[str]:
    return [_text(item) for _, item in fields(as_bytes(value))]


def _raw_json(value: Value) -> Any:
    raw = as_bytes(dict(fields(as_bytes(value))).get(1, b""))
    return json.loads(raw) if raw else None


_READERS: Mapping[str, Callable[[Value], Any]] = {
    "string": _text,
    "bool": bool,
    "int32": decode_signed,
    "int64": decode_signed,
    "bytes": lambda value: base64.b64encode(as_bytes(value)).decode(),
    "api/resource.Quantity": _quantity,
    "util/intstr.IntOrString": _int_or_string,
    "meta/v1.Time": _time_reader("%Y-%m-%dT%H:%M:%SZ"),
    "meta/v1.MicroTime": _time_reader("%Y-%m-%dT%H:%M:%S.%fZ"),
    "meta/v1.FieldsV1": _raw_json,
    "runtime.RawExtension": _raw_json,
    "authentication/v1.ExtraValue": _extra,
}
