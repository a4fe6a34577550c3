"""The version that an undo went back from, as its workload's lock remembers it."""

from __future__ import annotations

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import is_workload
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.outcome import WELL
from gate.core.plan.record import Record
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.judged_version import LeftVersion, template_digest


def find_left_version(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> LeftVersion | None:
    """Return what an undo went back from, None unless it did.

    It counts as left before its pods are, where people replace those (`OnDelete`). Where the undo
    changed the pod template, that one is left however it was rolled out.
    """
    before = {one.ref: one.before.value for one in record.objects if isinstance(one.before, Known)}
    live = before.get(ref)
    if record.command != "undo" or ending.outcome not in WELL:
        return None
    if live is None or live.workload is None:
        return None
    template = template_digest(live.workload.template)
    after = attempt.workloads.rollouts[ref].snapshot.live
    is_same = after is not None and template_digest(after.template) == template
    digests = ((one, applied_digest(object_)) for one, object_ in before.items())
    members = FrozenMap(
        (one, digest) for one, digest in digests if digest and (is_same or not is_workload(one))
    )
    made = _find_restart(attempt, ref) if is_same else ""
    return LeftVersion(template, members, revision_name=made)


def _find_restart(attempt: Attempt, ref: Ref) -> str:
    """Return the revision that was left where an undo took a restart back, "" otherwise.

    Between two templates all revisions of the one that was left count as left, restarts of it too.
    """
    if attempt.plan.resumed is not None:
        return ""
    made = attempt.plan.target(ref).snapshot.current()
    return made.name if made is not None else ""
