"""Equal parts of objects are kept once: a new version shares what it did not change.

That is safe because nothing changes what is stored, and it is what lets thousands of pods of the
same template, and their history, fit into little memory. Parts that Python calls equal are taken as
equal: a field of one kind never has `true` where another object has 1.
"""

from __future__ import annotations

from sys import intern
from typing import Any

INTERNED_LENGTH = 64
"""Strings up to this length recur (kinds, phases, names of fields); longer ones hardly do."""


def share_parts(value: Any, like: Any) -> Any:
    """Return a value equal to `value`, made of the parts of `like` wherever those are equal."""
    if value is like or value == like:
        return like
    if type(value) is dict:
        known = like if type(like) is dict else {}
        return {intern(key): share_parts(item, known.get(key)) for key, item in value.items()}
    if type(value) is list:
        return _shared_list(value, like if type(like) is list else [])
    if type(value) is str and len(value) <= INTERNED_LENGTH:
        return intern(value)
    return value


def _shared_list(value: list[Any], like: list[Any]) -> list[Any]:
    beside = [*like, *[None] * (len(value) - len(like))]
    return [share_parts(item, other) for item, other in zip(value, beside, strict=False)]
