"""Adapts a planned take-over of managed fields to the object that is live when it is sent."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.plan.plan import PlannedWrite
from gate.core.ssa import managed_fields
from gate.core.ssa.field_set import select_changed, subtract
from gate.core.ssa.held_fields import release
from gate.core.ssa.managed_fields import ManagedFields
from gate.core.ssa.unowned_fields import add_claims


def take_over_now(
    head: PlannedWrite, before: LiveObject | None, after: LiveObject | None, live: LiveObject
) -> Body | None:
    """Return the managed fields to be sent, None if nothing is left to take over.

    The planned body has `managedFields` as the plan wanted them; on the way back it has `managers`
    whose fields become ours, `claims`, and what others lose: `released`. They keep of that what
    has changed since our write, which left the object as it is in `after`.
    """
    planned = head.body.thaw()
    managed = live.thaw_managed_fields()
    taken = None
    if "managedFields" in planned and before is not None:
        if before.managed == live.managed:
            return head.body
        taken = managed_fields.take_over(managed, find_taken(head, before) | {FIELD_MANAGER})
    if planned.get("managers"):
        taken = managed_fields.take_over(taken or managed, planned["managers"]) or taken
    if planned.get("claims"):
        taken = add_claims(taken or managed, planned["claims"], head.ref.api_version) or taken
    if planned.get("released") and after is not None:
        changed = select_changed(after.body.thaw(), live.body.thaw(), planned["released"])
        lost = subtract(planned["released"], changed)
        taken = release(taken or managed, lost, head.field_manager) or taken
    return None if taken is None else Body.of({"managedFields": taken})


def find_taken(head: PlannedWrite, before: LiveObject) -> set[str]:
    """Return the managers of an object of before of which a planned take-over leaves nothing.

    What they own through a subresource stays theirs and does not count.
    """
    left, had = head.body.thaw()["managedFields"], before.thaw_managed_fields()
    return _name_managers(had) - _name_managers(left)


def _name_managers(entries: ManagedFields) -> set[str]:
    return {str(entry.get("manager")) for entry in entries if not entry.get("subresource")}


def as_taken_over(live: LiveObject, managers: Collection[str]) -> LiveObject:
    """Return an object as it is once all that these managers own of it is ours."""
    managed = live.managed.thaw()
    taken = managed_fields.take_over(managed["managedFields"], managers)
    return live if taken is None else replace(live, managed=Body.of({"managedFields": taken}))
