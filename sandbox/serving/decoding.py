"""JSON to values that can be walked and encoded again."""

from __future__ import annotations

import json
import math
import re
from typing import Any

MOST_LEVELS = 200
"""No object of the API is half as deep."""

_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def from_json(raw: bytes) -> Any:
    """Return what JSON says; raises ValueError for what is none, or can be no object of the API."""
    try:
        value = json.loads(raw, parse_constant=_refuse_constant, parse_float=_finite)
        if raw.count(b"[") + raw.count(b"{") > MOST_LEVELS or _ESCAPE.search(raw):
            _check(value, 0)
    except RecursionError as error:
        raise ValueError("exceeded max depth") from error
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise ValueError(f"the number {text} is too large")
    return found


def _check(value: Any, levels: int) -> None:
    """Refuse what is too deep to be walked, and text that cannot be encoded."""
    if levels > MOST_LEVELS:
        raise ValueError("exceeded max depth")
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise ValueError("a text has half of a surrogate pair in it")
    elif isinstance(value, list):
        for item in value:
            _check(item, levels + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(key, levels)
            _check(item, levels + 1)
