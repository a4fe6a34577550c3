"""The version that an undo went back from, as its workload's lock remembers it."""

from __future__ import annotations

from gate.core.attempt.state import Attempt, Ending
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome
from gate.core.plan.journal_record import Record
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.judged_version import LeftVersion, template_digest


def find_left_version(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> LeftVersion | None:
    """Return what an undo went back from, None unless it did and the pods left that version."""
    before = {one.ref: one.before.value for one in record.objects if isinstance(one.before, Known)}
    live = before.get(ref)
    if record.command != "undo" or ending.outcome is not Outcome.VERIFIED:
        return None
    if live is None or live.workload is None:
        return None
    digests = ((one, applied_digest(object_)) for one, object_ in before.items())
    members = FrozenMap((one, digest) for one, digest in digests if digest)
    made = None if attempt.plan.resumed is not None else attempt.plan.target(ref).snapshot.current()
    name = made.name if made is not None else ""
    return LeftVersion(template_digest(live.workload.template), members, replica_set=name)
