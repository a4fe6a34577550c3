"""What keeps a pod template from returning to an earlier one: fields that other managers own.

A server-side apply removes what its own manager owned and leaves out. A field that somebody else
added, or owns as well, stays.
"""

from __future__ import annotations

from collections.abc import Collection

from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Template
from gate.core.ssa import field_set


def fields_that_stay(
    trial: LiveObject, wanted: Template, taken_over: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return, by manager, the paths of others' fields that differ between `trial` and `wanted`.

    `trial` is the server's answer to the dry run of the apply that should bring `wanted` back.
    Fields of the managers in `taken_over` are left out, since that apply takes them: a dry run
    cannot take over first.
    """
    has, wants = trial.body.thaw(), {"spec": {"template": wanted.body.thaw()}}
    found: dict[str, tuple[str, ...]] = {}
    for manager, owned in _owned_by_others(trial).items():
        if manager in taken_over:
            continue
        if paths := field_set.paths(field_set.select_changed(has, wants, owned)):
            found[manager] = paths
    return found


def _owned_by_others(live: LiveObject) -> dict[str, field_set.Fields | None]:
    """Return what other managers own of the pod template."""
    owned: dict[str, field_set.Fields | None] = {}
    for entry in live.thaw_managed_fields():
        manager = str(entry.get("manager"))
        held = field_set.descend(entry.get("fieldsV1"), "spec", "template")
        if manager != FIELD_MANAGER and held is not None:
            below = {"f:spec": {"f:template": held}}
            owned[manager] = field_set.union(owned.get(manager), below)
    return owned
