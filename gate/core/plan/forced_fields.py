"""The fields that a forced apply took from other field managers."""

from __future__ import annotations

from gate.core.model.live_object import LiveObject
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.ssa import managed_fields
from gate.core.ssa.field_set import union


def lost_fields(
    object_: WrittenObject, restored: LiveObject | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the fields that others owned before our apply and no longer own, by field manager.

    `restored` is the object after the way back, None if that did not write it.
    """
    if object_.before is None:
        return {}
    left = object_.after.thaw_managed_fields()
    after = left if restored is None else restored.thaw_managed_fields()
    ours = union(managed_fields.owned_fields(left), managed_fields.owned_fields(after))
    had = managed_fields.managers_of(object_.before.thaw_managed_fields(), ours)
    kept = managed_fields.managers_of(after, ours)
    lost = {
        manager: tuple(path for path in paths if path not in kept.get(manager, ()))
        for manager, paths in had.items()
    }
    return {manager: paths for manager, paths in lost.items() if paths}


def forced_fields(object_: WrittenObject) -> frozenset[str]:
    """Return the paths of the fields that our apply took from other managers by force."""
    if not object_.forced:
        return frozenset()
    return frozenset(path for paths in lost_fields(object_).values() for path in paths)
