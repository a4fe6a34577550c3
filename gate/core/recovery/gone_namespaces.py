"""A record without what went with a deleted namespace: nothing is written there any more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gate.core.model.body import FrozenMap
from gate.core.plan.journal_record import Record


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
