"""What an apply removes that takes other managers' fields over first.

Its dry run does not show that: the server cannot try a take-over and an apply as one.
"""

from __future__ import annotations

from collections.abc import Iterable

from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.plan.plan import PlannedObject, PlannedWrite
from gate.core.ssa import field_set
from gate.core.ssa.field_set import Fields
from gate.core.ssa.managed_fields import owned_fields


def removes_taken_fields(planned: PlannedObject, writes: Iterable[PlannedWrite]) -> bool:
    """Tell whether `writes` take over a field that the apply then leaves out, so that it goes.

    `planned` is the object; False if it has no dry run, or if nothing of it is taken over.
    """
    trial, before = planned.trial, planned.before
    if trial is None or not isinstance(before, Known):
        return False
    taken = next((one.body for one in writes if _takes_over(one, planned)), None)
    if taken is None:
        return False
    applied = owned_fields(trial.thaw_managed_fields(), FIELD_MANAGER)
    left = field_set.subtract(_owned_alone(taken), applied)
    return bool(field_set.differing(before.value.body.thaw(), left, {}))


def _takes_over(write: PlannedWrite, planned: PlannedObject) -> bool:
    return write.ref == planned.ref and write.verb is Verb.TAKE_OVER


def _owned_alone(taken: Body) -> Fields | None:
    """Return what our manager alone owns after the take-over."""
    entries = taken.thaw().get("managedFields") or []
    ours = owned_fields(entries, FIELD_MANAGER)
    for entry in entries:
        if entry.get("manager") != FIELD_MANAGER:
            ours = field_set.subtract(ours, entry.get("fieldsV1"))
    return ours
