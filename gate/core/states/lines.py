"""Lines of the timeline that more than one module announces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.attempt import check_conclusions
from gate.core.attempt.state import Attempt
from gate.core.endings.rollback_ending import way_back_cause
from gate.core.model.outcome import Reason
from gate.core.rollout.verdict import VerdictKind
from gate.core.states.verdicts import Verdicts

Line = tuple[str, str]
"""The name of a timeline event, and what it says."""

_NOBODY_REJECTED: Final = (Reason.OBJECT_NOT_READY, Reason.TIMEOUT)


def describe_failures(attempt: Attempt, verdicts: Verdicts) -> Iterator[Line]:
    """Yield a line for each failed verdict."""
    against = check_conclusions.find_against_all(attempt)
    if against is not None:
        yield "failed", f"{against.reason}: {against.message}"
    for ref, verdict in verdicts.items():
        if verdict is not None and verdict.kind is VerdictKind.FAILED:
            yield "failed", f"{attempt.plan.name_of(ref)}: {verdict.reason}: {verdict.message}"


def describe_rejection(attempt: Attempt) -> Iterator[Line]:
    """Yield a line for what ended the way out before its last write, if anything did."""
    rejection = attempt.writes.rejection
    if rejection is None:
        return
    why = f"{attempt.plan.name_of(rejection.ref)}: {rejection.message}"
    is_theirs = rejection.ref in attempt.interference.departures
    if is_theirs or rejection.reason in _NOBODY_REJECTED:
        yield "unwritten", f"nothing else is written, since {why}"
    else:
        yield "rejected", why


def describe_refusals(before: Attempt, after: Attempt) -> Iterator[Line]:
    """Yield a line for each write of the way back that is newly refused."""
    for ref, refusal in after.writes.refusals.items():
        if ref not in before.writes.refusals:
            yield "refused", way_back_cause(after, refusal).message
