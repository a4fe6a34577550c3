"""What a failure of the next apply would return to, before that apply is known."""

from __future__ import annotations

from dataclasses import replace

from gate.core.frozen import dataclass
from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref, Template
from gate.core.plan.plan import PlannedObject, Target
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.selection import select


@dataclass(frozen=True, slots=True)
class NextReturn:
    """What a failure would return to.

    `revision_name` is the revision's name, "" if there is nothing to return to; it may be gone.
    `lacks` are the objects that could not be returned with it.
    """

    revision_name: str = ""
    lacks: tuple[Ref, ...] = ()


def next_return(
    target: Target, live: LiveObject, history: History, beside: LiveFacts
) -> NextReturn:
    """Return what `select` chooses for an apply of a version that is not known yet.

    That apply is assumed to name the objects `beside` the workload, which earlier attempts
    wrote. Bodies that are kept beside the lock count as known and are not read.
    """
    objects = (
        PlannedObject(target.ref, Known(live), _another_version(live)),
        *(PlannedObject(ref, fact) for ref, fact in beside.items()),
    )
    kept = {digest: Body.of({}) for digest in history.kept}
    selection = select(Candidates((target,), objects, {target.ref: history}, kept), {})
    (chosen,) = selection.targets
    if not isinstance(chosen.baseline, Known):
        return NextReturn()
    return NextReturn(chosen.baseline.value.revision_name, tuple(selection.target_set.missing))


def _another_version(live: LiveObject) -> LiveObject:
    """Return a workload that differs from every remembered version."""
    nothing = Body.of({})
    workload = live.workload
    if workload is not None:
        workload = replace(workload, template=Template(nothing, ()))
    managed = Body.of({"managedFields": []})
    return replace(live, body=nothing, managed=managed, workload=workload)
