"""JSON as text for annotations: gzip and base64, with a bound on unpacking."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from gate.wire.decode import DecodeError
from gate.wire.untrusted import clean_line

MOST_BYTES: Final = 32 * 1024 * 1024
"""The most that a text may unpack to: what this project packs never comes near."""
FORMAT: Final = 1
"""Written into every text; other formats are refused, not guessed at."""

Value = TypeVar("Value")


def pack(value: Mapping[str, Any]) -> str:
    """Return the text of a JSON object; the same object is the same text."""
    data = json.dumps({"format": FORMAT, **value}, separators=(",", ":"), sort_keys=True)
    return base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode()


def unpack(text: str, read: Callable[[Mapping[str, Any]], Value]) -> Value:
    """Read a text that anybody may have written; DecodeError if it is not one of ours."""
    try:
        value = json.loads(_bytes(text))
        if value["format"] != FORMAT:
            raise DecodeError(f"format {clean_line(str(value['format']))} is not known")
        return read(value)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DecodeError(f"it cannot be read: {clean_line(str(error))}") from None


def _bytes(text: str) -> bytes:
    try:
        unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        data = unpacking.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise DecodeError(f"it cannot be unpacked: {clean_line(str(error))}") from None
    if not unpacking.eof:
        raise DecodeError("it is cut, or too large")
    return data
