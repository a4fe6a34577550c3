"""A record without what went with a deleted namespace: nothing is written there any more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveObject
from gate.core.plan.record import Record

_LATER: Final = "~"
"""Sorts behind every time."""


def find_oldest(record: Record) -> dict[str, str]:
    """Return, by namespace, when the oldest object of a record was created there (RFC 3339)."""
    oldest: dict[str, str] = {}
    for one in record.objects:
        before = one.before.value if isinstance(one.before, Known) else None
        for live in (before, one.expected):
            if not isinstance(live, LiveObject):
                continue
            made = str((live.body.thaw().get("metadata") or {}).get("creationTimestamp") or "")
            if made and made < oldest.get(one.ref.namespace, _LATER):
                oldest[one.ref.namespace] = made
    return oldest


def without_namespaces(record: Record, namespaces: Collection[str]) -> Record:
    """Return the record without the objects of some namespaces."""
    bodies = record.target_set.bodies.items()
    kept_bodies = FrozenMap((ref, body) for ref, body in bodies if ref.namespace not in namespaces)
    return replace(
        record,
        objects=tuple(one for one in record.objects if one.ref.namespace not in namespaces),
        followed=tuple(one for one in record.followed if one.ref.namespace not in namespaces),
        target_set=replace(record.target_set, bodies=kept_bodies),
    )
