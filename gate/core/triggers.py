"""Reads off an attempt what moves it on, at most one trigger at a time.

The order of the questions is the order of preference that `machine` states.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from gate.core.attempt import CLOSING_SECONDS, OVERTIME_SECONDS, Attempt, Purpose
from gate.core.effects import Asking, Release, SaveRecord, Write
from gate.core.machine import Leg, State, Trigger
from gate.core.objects import Ref
from gate.core.policy import OnInterrupt
from gate.core.remedy import writes_back
from gate.core.rollout import Verdict, VerdictKind

_MOVING = (State.RECORDING, State.WRITING, State.FOLLOWING, State.BAKING, State.CONFIRMING)


def derive(attempt: Attempt) -> Trigger | None:
    """Return the trigger that the attempt's facts pull, None where it has to wait."""
    if attempt.state is State.CLOSING:
        return _closing(attempt)
    if attempt.state not in _MOVING:
        return None
    return _ending(attempt) or _BY_STATE[attempt.state](attempt)


def followed(attempt: Attempt) -> tuple[tuple[Ref, Verdict], ...]:
    """Return the verdicts of all Deployments that nobody else has taken over."""
    return tuple(
        (ref, rollout.verdict(attempt.now))
        for ref, rollout in attempt.rollouts.items()
        if ref not in attempt.departures
    )


def failed(attempt: Attempt) -> frozenset[Ref]:
    """Return the Deployments whose verdict is failed now."""
    return frozenset(
        ref for ref, verdict in followed(attempt) if verdict.kind is VerdictKind.FAILED
    )


def retreat_writes(attempt: Attempt, failures: Iterable[Ref]) -> bool:
    """Tell whether there is anything to write back."""
    departed = frozenset(attempt.departures)
    return bool(writes_back(attempt.plan, attempt.written, departed, frozenset(failures)))


def wake_at(attempt: Attempt) -> float:
    """Return when the attempt wants to hear `Woke`, infinite where nothing is due."""
    times = [attempt.next_read_at, attempt.not_before, attempt.leg_ends_at + OVERTIME_SECONDS]
    times.append(attempt.closing_since + CLOSING_SECONDS)
    times.append(attempt.baked_since + attempt.plan.policy.bake_seconds)
    times.extend(rollout.wake_at(attempt.now) for rollout in attempt.rollouts.values())
    return min((at for at in times if at > attempt.now), default=math.inf)


def _ending(attempt: Attempt) -> Trigger | None:
    """Ask what ends an attempt from any state."""
    if attempt.signal_number is not None and not _writing_back(attempt):
        return _interrupted(attempt)
    if attempt.contact_gone and not _awaiting(attempt, Write):
        return Trigger.LOST
    if attempt.now >= attempt.leg_ends_at + OVERTIME_SECONDS:
        return Trigger.LOST
    if attempt.departures and all(ref in attempt.departures for ref in _targets(attempt)):
        return None if _awaiting(attempt, Write) else Trigger.DEPARTED
    return None


def _targets(attempt: Attempt) -> tuple[Ref, ...]:
    if attempt.leg is Leg.BACK and attempt.rollouts:
        return tuple(attempt.rollouts)
    return tuple(target.ref for target in attempt.plan.targets)


def _writing_back(attempt: Attempt) -> bool:
    return attempt.leg is Leg.BACK and attempt.state in (State.RECORDING, State.WRITING)


def _interrupted(attempt: Attempt) -> Trigger | None:
    """Answer a signal: wait for the write under way, then go back or out, by policy."""
    if _awaiting(attempt, Write):
        return None
    policy = attempt.plan.policy.on_interrupt
    wanted = policy is OnInterrupt.ROLLBACK or (
        policy is OnInterrupt.AUTO
        and any(rollout.has_evidence(attempt.now) for rollout in attempt.rollouts.values())
    )
    may = attempt.leg is Leg.FORWARD and attempt.state is not State.RECORDING
    if wanted and may and retreat_writes(attempt, attempt.rollouts):
        return Trigger.RETREAT
    return Trigger.INTERRUPTED


def _recording(attempt: Attempt) -> Trigger | None:
    return None if _awaiting(attempt, SaveRecord) else Trigger.RECORDED


def _writing(attempt: Attempt) -> Trigger | None:
    if attempt.leg is Leg.FORWARD and attempt.rejection is not None:
        changed = any(written.changed for written in attempt.written.values())
        back = changed and retreat_writes(attempt, attempt.rollouts)
        return Trigger.RETREAT if back else Trigger.REJECTED
    if attempt.queue or attempt.asks:
        return None
    if attempt.leg is Leg.FORWARD:
        return Trigger.WRITTEN
    if attempt.signal_number is not None:
        return Trigger.INTERRUPTED
    return Trigger.WRITTEN if attempt.rollouts or attempt.rejection is None else Trigger.REJECTED


def _following(attempt: Attempt) -> Trigger | None:
    if attempt.now < attempt.not_before:
        return None
    verdicts = followed(attempt)
    if any(verdict.kind is VerdictKind.FAILED for _, verdict in verdicts):
        return Trigger.FAILED
    if all(verdict.kind is VerdictKind.COMPLETE for _, verdict in verdicts):
        return Trigger.COMPLETE
    return None


def _baking(attempt: Attempt) -> Trigger | None:
    verdicts = followed(attempt)
    if any(verdict.kind is VerdictKind.FAILED for _, verdict in verdicts):
        return Trigger.FAILED
    if not all(verdict.kind is VerdictKind.COMPLETE for _, verdict in verdicts):
        return Trigger.UNSETTLED
    bake_seconds = attempt.plan.policy.bake_seconds if attempt.leg is Leg.FORWARD else 0.0
    return Trigger.BAKED if attempt.now >= attempt.baked_since + bake_seconds else None


def _confirming(attempt: Attempt) -> Trigger | None:
    """Bear the verdict out, or go back: only facts that were read may decide."""
    if attempt.asks:
        return None
    if attempt.unread:
        return Trigger.REFUTED
    if attempt.purpose is Purpose.FAILURE:
        return _confirming_failure(attempt)
    complete = all(verdict.kind is VerdictKind.COMPLETE for _, verdict in followed(attempt))
    return Trigger.CONFIRMED if complete else Trigger.REFUTED


def _confirming_failure(attempt: Attempt) -> Trigger:
    failures = failed(attempt)
    if not failures:
        return Trigger.REFUTED
    if attempt.leg is Leg.FORWARD and retreat_writes(attempt, failures):
        return Trigger.RETREAT
    return Trigger.CONFIRMED


def _closing(attempt: Attempt) -> Trigger | None:
    overdue = attempt.now >= attempt.closing_since + CLOSING_SECONDS
    return Trigger.CLOSED if overdue or not _awaiting(attempt, Release) else None


def _awaiting(attempt: Attempt, kind: type[Asking]) -> bool:
    return any(isinstance(effect, kind) for effect in attempt.outstanding.values())


_BY_STATE = {
    State.RECORDING: _recording,
    State.WRITING: _writing,
    State.FOLLOWING: _following,
    State.BAKING: _baking,
    State.CONFIRMING: _confirming,
}
