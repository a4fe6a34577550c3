"""The wire format of protobuf: numbered fields, each a number or a run of bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_MOST_VARINT_BYTES = 10
_SIGN = 1 << 63

Value = int | float | bytes


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
    number = int(value) if not isinstance(value, bytes) else 0
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
        case 1:
            return float(struct.unpack("<d", _run(raw, at, 8))[0]), at + 8
        case 2:
            length, at = _varint(raw, at)
            return _run(raw, at, length), at + length
        case 5:
            return float(struct.unpack("<f", _run(raw, at, 4))[0]), at + 4
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
