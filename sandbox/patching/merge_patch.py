"""JSON merge patch (RFC 7386): objects are merged, null removes, all else replaces."""

from __future__ import annotations

from typing import Any

from sandbox.json import JSON


def merge_patch(doc: JSON, patch: JSON) -> JSON:
    """Return the patched document, which may share parts with what was given."""
    found: JSON = _merge_value(doc, patch)
    return found


def _merge_value(value: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return without_nulls(patch)
    found = dict(value) if isinstance(value, dict) else {}
    for name, part in patch.items():
        if part is None:
            found.pop(name, None)
        else:
            found[name] = _merge_value(found.get(name), part)
    return found


def without_nulls(value: Any) -> Any:
    """Return a value without members that are null; a list's items stay."""
    if isinstance(value, dict):
        return {name: without_nulls(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
