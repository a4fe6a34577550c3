"""Whether an attempt that ended left something to finish: then its record stays.

An orderly end leaves its record open where a signal or lost contact broke it off, and where its
way back failed only for want of an answer that could be used: sent again later, the same requests
may be done. A refusal, and a verdict about pods, are answers: the same again would end alike.
"""

from __future__ import annotations

import math
from typing import Final

from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.parts import Rejection
from gate.core.attempt.pod_replacement import Stage
from gate.core.attempt.state import Attempt
from gate.core.model.outcome import Outcome, Reason

_BROKEN_OFF: Final = (Outcome.INTERRUPTED, Outcome.LOST_CONTACT)
"""The orderly ends that leave something to finish in any case."""
_NO_ANSWERS: Final = (Reason.UNAUTHORIZED, Reason.UNREACHABLE)
"""Why a write of the way back was given up that the same server may accept later."""


def is_left_open(attempt: Attempt) -> bool:
    """Tell whether an attempt ended with something left to finish.

    A write that was done too late to be taken back is in its record, for whoever comes next.
    """
    has_written = attempt.may_have_written or attempt.plan.resumed is not None
    ending = attempt.result.ending
    if ending is None or not has_written:
        return False
    if ending.outcome is not Outcome.ROLLBACK_FAILED:
        return ending.outcome in _BROKEN_OFF
    found = {one.kind for one in attempt.ledger.findings.values()}
    is_late = FindingKind.WRITTEN_LATE in found
    return is_late or _is_unanswered(attempt)


def _is_unanswered(attempt: Attempt) -> bool:
    """Tell whether a way back failed for want of an answer; if its time ran out, nothing looked."""
    has_run_out = math.isinf(attempt.course.inspecting_since)
    is_given_up = any(map(is_without_answer, attempt.writes.refusals.values()))
    return has_run_out or is_given_up or _is_removal_unanswered(attempt)


def is_without_answer(refused: Rejection) -> bool:
    """Tell whether a write of the way back is left for want of an answer that could be used.

    It may restore something, or answer a failure otherwise: pause, scale to 0, delete.
    """
    return refused.reason in _NO_ANSWERS


def _is_removal_unanswered(attempt: Attempt) -> bool:
    """Tell whether a pod holds up a way back of which the server did not say that it goes."""
    asked = {
        (one.workload, f"pod/{one.pod}")
        for one in attempt.workloads.replacements.values()
        if one.stage is Stage.UNANSWERED
    }
    return any(
        (ref, cause.subject) in asked
        for ref, ending in attempt.result.endings.items()
        if ending.outcome is Outcome.ROLLBACK_FAILED
        for cause in ending.causes
        if cause.reason is Reason.BLOCKED_BY_POD
    )
