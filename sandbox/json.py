"""Objects as they travel: plain JSON, never changed in place once they are stored."""

from __future__ import annotations

import json
import re
from typing import Any

JSON = dict[str, Any]
_CHANGEABLE = (dict, list)


def copy_json(value: Any) -> Any:
    """Return a copy that shares nothing with `value` that could be changed."""
    if isinstance(value, dict):
        return {
            key: copy_json(item) if isinstance(item, _CHANGEABLE) else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [copy_json(item) if isinstance(item, _CHANGEABLE) else item for item in value]
    return value


def dig(value: Any, *path: str) -> Any:
    """Return what stands at a path of keys, None where the way ends before."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def go_json(value: Any, *, is_sorted: bool = True) -> str:
    """Return compact JSON as Go writes it: HTML's letters escaped, the keys of maps sorted.

    A struct has its fields in their own order, which is the caller's.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=is_sorted)
    return re.sub("[<>&]", lambda match: f"\\u{ord(match[0]):04x}", text)
