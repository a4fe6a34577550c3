"""Pod templates: whether two are the same, and the short name of one (`pod-template-hash`).

The real hash is taken over Go's print of the template; this one over its canonical JSON, so the
figures differ and their form is the same.
"""

from __future__ import annotations

import json
from typing import Any

from sandbox.json import JSON
from sandbox.times import NAME_LETTERS

LABEL = "pod-template-hash"

_FNV_OFFSET = 0x811C9DC5
_FNV_PRIME = 0x01000193
_32_BITS = 0xFFFFFFFF
_NESTED = (dict, list)


def canonical(template: JSON) -> str:
    """Return a template's text without its hash label: equal texts are equal templates.

    Empty maps of labels and annotations and fields without a value count as absent, as in Go.
    """
    return json.dumps(_bare(template), sort_keys=True, separators=(",", ":"))


def same_template(one: JSON, other: JSON) -> bool:
    """Say whether two templates are equal but for their hash label."""
    return bool(_bare(one) == _bare(other))


def template_hash(template: JSON, collision_count: int | None) -> str:
    """Return the hash of a template, made another one by each collision that was counted."""
    content = canonical(template).encode()
    if collision_count is not None:
        content += collision_count.to_bytes(8, "little")
    found = _FNV_OFFSET
    for byte in content:
        found = ((found ^ byte) * _FNV_PRIME) & _32_BITS
    return safe_letters(str(found))


def safe_letters(text: str) -> str:
    """Return text in letters that make no words (apimachinery `rand.SafeEncodeString`)."""
    return "".join(NAME_LETTERS[ord(letter) % len(NAME_LETTERS)] for letter in text)


def _bare(template: JSON) -> Any:
    """Return a template without its hash label, and without what counts as absent."""
    metadata = _without_empty(template.get("metadata") or {})
    labels = {key: value for key, value in metadata.get("labels", {}).items() if key != LABEL}
    return _without_null({**template, "metadata": _without_empty({**metadata, "labels": labels})})


def _without_empty(metadata: JSON) -> JSON:
    return {key: value for key, value in metadata.items() if value not in ({}, [], None, "")}


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_null(each) if isinstance(each, _NESTED) else each
            for key, each in value.items()
            if each is not None and each != []
        }
    if isinstance(value, list):
        return [_without_null(item) for item in value]
    return value
