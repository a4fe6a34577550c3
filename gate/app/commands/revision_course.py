"""How a revision that `history` lists came to run, or left, beside what is remembered of it."""

from __future__ import annotations

from gate.app.locks.unfinished_attempt import LockFacts
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Revision
from gate.core.plan.leg import Leg
from gate.core.plan.record import Kept
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.report.views.history import Course


def course_of(
    revision: Revision, judged: JudgedVersion | None, memory: History, *, tried_again: bool
) -> Course:
    """Return the course of a revision, whose newest judgement is `judged`."""
    if judged is None:
        return Course()
    if judged.verified:
        return Course(memory.left_at(judged) or "", memory.has_come_back(judged))
    return Course(verified_at=_verified_at(revision, judged, memory), tried_again=tried_again)


def _verified_at(revision: Revision, judged: JudgedVersion, memory: History) -> str:
    """Return when a revision was verified, "" if it was not, or if that no longer counts.

    Nor does it where `judged`, which is newer, is about other configuration, or is no judgement.
    """
    if judged.is_unjudged:
        return ""
    own = (one for one in memory.verified if one.revision_name in ("", revision.name))
    return next((one.judged_at for one in own if judged.is_part_of(one)), "")


def is_tried_again(
    judged: JudgedVersion | None,
    facts: LockFacts,
    ref: Ref,
    revision: Revision,
    current: Revision | None,
) -> bool:
    """Tell whether another attempt than that of `judged`, unfinished, has rolled out a revision.

    The attempt that judged it leaves its record open where a signal ended it, or the recovery that
    was to finish it. On the way out it is the current revision, before that nothing was written.
    """
    record = facts.record
    if record is None or judged is None:
        return False
    if judged.attempt_id.rstrip("+") == record.attempt_id:
        return False
    kept = next((one for one in record.objects if one.ref == ref), None)
    if kept is None or _written_template(kept) != template_digest(revision.template):
        return False
    if record.leg is Leg.BACK:
        return kept.reach.is_known_written
    return current is not None and current.uid == revision.uid


def _written_template(kept: Kept) -> str:
    """Return the digest of the pod template that an attempt writes, "" if it is not known."""
    written = kept.expected.workload if isinstance(kept.expected, LiveObject) else None
    return template_digest(written.template) if written is not None else ""
