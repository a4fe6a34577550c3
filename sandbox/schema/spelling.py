"""Values as the server's messages print them, which is Go's way."""

from __future__ import annotations

from typing import Any

_JSON_TYPES: dict[type, str] = {dict: "object", list: "array", str: "string", bool: "bool"}


def spell_value(value: Any) -> str:
    """Return a value: `map[a:1 b:[x y]]`, `<nil>`, `true`."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return (
            f"map[{' '.join(f'{key}:{spell_value(part)}' for key, part in sorted(value.items()))}]"
        )
    if isinstance(value, list):
        return f"[{' '.join(map(spell_value, value))}]"
    return str(value)


def json_type(value: Any) -> str:
    """Return what Go's JSON decoder calls a value: `object`, `array`, `number`."""
    return _JSON_TYPES.get(type(value), "number" if value is not None else "null")


def spelled_type(value: Any) -> str:
    """Return the Go type that decoded JSON has."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    return {str: "string", int: "int64", float: "float64"}.get(type(value), "<nil>")
