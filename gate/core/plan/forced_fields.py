"""The fields that a forced apply took from other field managers."""

from __future__ import annotations

from gate.core.plan.rollback_plan import WrittenObject
from gate.core.ssa import managed_fields


def lost_fields(object_: WrittenObject) -> dict[str, tuple[str, ...]]:
    """Return the fields that others owned before our apply and no longer own, by field manager."""
    if object_.before is None:
        return {}
    after = object_.after.managed.thaw()["managedFields"]
    ours = managed_fields.owned_fields(after)
    had = managed_fields.managers_of(object_.before.managed.thaw()["managedFields"], ours)
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
