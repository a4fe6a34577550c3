"""Derives from an attempt's facts what moves it on, at most one trigger at a time.

The questions are asked in the order of preference that `transitions` states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from gate.core.attempt import health_checks
from gate.core.attempt.health_checks import combine_verdicts
from gate.core.attempt.state import (
    ANSWER_SECONDS,
    EVIDENCE_SECONDS,
    INTERRUPT_SECONDS,
    Attempt,
    Purpose,
)
from gate.core.attempt.transitions import State, Trigger
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.plan.rollback_plan import writes_back
from gate.core.protocol.effects import Collect, Read, Release, SaveRecord, Write
from gate.core.rollout.policy import OnInterrupt
from gate.core.rollout.verdict import Verdict, VerdictKind

Rulings = Mapping[Ref, Verdict | None]
"""What the first rule that applies says of each Deployment that is followed and still ours."""


def with_rulings(attempt: Attempt) -> tuple[Attempt, Rulings]:
    """Return the attempt and the current rulings on all Deployments that nobody has taken over.

    A Deployment is judged again only if something of it was observed, a clock has run out, or its
    verdict names a time; the attempt caches the rulings.
    """
    known, rollouts = attempt.workloads.rulings, attempt.workloads.rollouts
    rulings = known.at(rollouts, attempt.now)
    if rulings is not known:
        attempt = replace(attempt, workloads=replace(attempt.workloads, rulings=rulings))
    departures, against = attempt.interference.departures, health_checks.against(attempt)
    ruled = {
        ref: combine_verdicts(ruling.verdict, against.get(ref))
        for ref, ruling in zip(rollouts, rulings.all, strict=True)
        if ref not in departures
    }
    return attempt, _without_patience(attempt, ruled) if attempt.plan.resumed else ruled


def _without_patience(attempt: Attempt, ruled: Rulings) -> Rulings:
    """Return the rulings of a recovery: it does not wait if only pauses keep it from completing."""
    held = {ref: one for ref, one in ruled.items() if one and one.kind is VerdictKind.HELD}
    done = _of_kind(ruled, VerdictKind.COMPLETE)
    if not all(ref in done or attempt.workloads.rollouts[ref].is_held() for ref in ruled):
        return ruled
    ended = {ref: replace(one, kind=VerdictKind.FAILED) for ref, one in held.items()}
    return {**ruled, **ended}


def find_failed(ruled: Rulings) -> frozenset[Ref]:
    """Return the Deployments whose verdict is failed."""
    return _of_kind(ruled, VerdictKind.FAILED)


def culprits(ruled: Rulings) -> frozenset[Ref]:
    """Return the failed Deployments that justify a rollback; a pause is left to whoever paused."""
    return frozenset(ref for ref in find_failed(ruled) if not _is(ruled[ref], Reason.PAUSED))


def fails(attempt: Attempt, ruled: Rulings) -> bool:
    """Tell whether a Deployment has failed, or a check of a plan without Deployments."""
    return bool(find_failed(ruled)) or health_checks.against_all(attempt) is not None


def retreat_writes(attempt: Attempt, failures: Collection[Ref]) -> bool:
    """Tell whether there is anything to write back."""
    departed = frozenset(attempt.interference.departures)
    return bool(writes_back(attempt.plan, attempt.ledger.written, departed, frozenset(failures)))


def derive(attempt: Attempt, ruled: Rulings) -> Trigger | None:
    """Return the trigger that the attempt's facts enable, None if it has to wait."""
    if attempt.course.state is State.INSPECTING:
        return _inspecting(attempt)
    if attempt.course.state is State.CLOSING:
        overdue = attempt.now >= attempt.closes_at
        return Trigger.CLOSED if overdue or not attempt.awaits(Release) else None
    if attempt.course.state is State.ENDED:
        return None
    steps_back = _steps_back(attempt, ruled)
    ending = _ending(attempt, steps_back=steps_back)
    if ending is not None or steps_back:
        return ending
    return _BY_STATE[attempt.course.state](attempt, ruled)


def wake_at(attempt: Attempt) -> float:
    """Return when the attempt wants a `Woke` event (monotonic seconds), infinity for never."""
    if attempt.ended:
        return math.inf
    return min((at for at in _times(attempt) if at > attempt.now), default=math.inf)


def _times(attempt: Attempt) -> Iterator[float]:
    if attempt.course.state is State.INSPECTING:
        yield attempt.inspection_ends_at
        return
    if attempt.course.state is State.CLOSING:
        yield attempt.closes_at
        return
    yield attempt.requests.not_before
    yield attempt.leg_ends_at
    yield attempt.gives_up_at
    yield attempt.interference.interrupted_at + INTERRUPT_SECONDS
    yield attempt.interference.departed_at + EVIDENCE_SECONDS
    if attempt.course.state is State.CONFIRMING:
        yield attempt.course.confirming_since + EVIDENCE_SECONDS
    if attempt.course.state in (State.FOLLOWING, State.BAKING):
        yield attempt.requests.next_read_at
        yield attempt.bake_ends_at
        yield attempt.bake_ends_at + ANSWER_SECONDS
        yield health_checks.wake_at(attempt)
        yield attempt.workloads.rulings.at(attempt.workloads.rollouts, attempt.now).wakes_at


# -- from any state --------------------------------------------------------------------------------


def _steps_back(attempt: Attempt, ruled: Rulings) -> bool:
    """Tell whether the gate has nothing left to do: a lock is lost, or others took over all."""
    if attempt.interference.lock_lost is not None:
        return True
    if not attempt.interference.departures:
        return False
    if all(target.ref in attempt.interference.departures for target in attempt.plan.targets):
        return True
    return (
        attempt.course.leg is Leg.BACK
        and bool(attempt.workloads.rollouts)
        and not ruled
        and not attempt.writes.queue
    )


def _ending(attempt: Attempt, *, steps_back: bool) -> Trigger | None:
    """Return a trigger that ends the attempt from any state; a write under way is awaited first.

    That wait ends with `gives_up_at`, or with `INTERRUPT_SECONDS` after a signal.
    """
    if attempt.interference.signal_number is not None:
        return _answer_signal(attempt, steps_back=steps_back)
    if attempt.now >= attempt.gives_up_at:
        return Trigger.LOST if attempt.interference.lock_lost is None else Trigger.DEPARTED
    if attempt.awaits(Write):
        return None
    if attempt.interference.contact.refusal is not None:
        return Trigger.LOST
    if not steps_back or _asks_who(attempt):
        return None
    return Trigger.DEPARTED


def _asks_who(attempt: Attempt) -> bool:
    """Tell whether the other writer's name is awaited: a courtesy, `EVIDENCE_SECONDS` at most."""
    late = attempt.now >= attempt.interference.departed_at + EVIDENCE_SECONDS
    return not late and _reads(attempt, attempt.interference.departures)


def _reads(attempt: Attempt, refs: Collection[Ref]) -> bool:
    """Tell whether a read of any of `refs` is outstanding."""
    return any(
        isinstance(effect, Read) and effect.ref in refs
        for effect in attempt.requests.outstanding.values()
    )


def _answer_signal(attempt: Attempt, *, steps_back: bool) -> Trigger | None:
    """Answer a signal: wait for the write under way, then roll back or end, by policy."""
    if attempt.now >= attempt.interference.interrupted_at + INTERRUPT_SECONDS:
        return Trigger.INTERRUPTED
    if attempt.awaits(Write):
        return None
    if steps_back:
        return Trigger.INTERRUPTED
    if attempt.course.leg is Leg.BACK:
        writing = attempt.course.state in (State.RECORDING, State.WRITING)
        return None if writing else Trigger.INTERRUPTED
    wanted = attempt.course.state is not State.RECORDING and _goes_back_on_signal(attempt)
    if wanted and retreat_writes(attempt, _still_ours(attempt)):
        return Trigger.RETREAT
    return Trigger.INTERRUPTED


def _goes_back_on_signal(attempt: Attempt) -> bool:
    policy = attempt.plan.policy.on_interrupt
    if policy is not OnInterrupt.AUTO:
        return policy is OnInterrupt.ROLLBACK
    rollouts = (attempt.workloads.rollouts[ref] for ref in _still_ours(attempt))
    return health_checks.has_evidence(attempt) or any(
        one.has_evidence(attempt.now) for one in rollouts
    )


def _still_ours(attempt: Attempt) -> frozenset[Ref]:
    return frozenset(
        ref for ref in attempt.workloads.rollouts if ref not in attempt.interference.departures
    )


# -- by state --------------------------------------------------------------------------------------


def _recording(attempt: Attempt, _ruled: Rulings) -> Trigger | None:
    return None if attempt.awaits(SaveRecord) else Trigger.RECORDED


def _writing(attempt: Attempt, _ruled: Rulings) -> Trigger | None:
    if attempt.course.leg is Leg.FORWARD and attempt.writes.rejection is not None:
        return _answer_rejection(attempt)
    if attempt.writes.queue or attempt.asks:
        return None
    if attempt.course.leg is Leg.BACK and attempt.interference.signal_number is not None:
        return Trigger.INTERRUPTED
    return Trigger.WRITTEN


def _answer_rejection(attempt: Attempt) -> Trigger:
    changed = any(written.changed for written in attempt.ledger.written.values())
    back = changed and retreat_writes(attempt, attempt.workloads.rollouts)
    return Trigger.RETREAT if back else Trigger.REJECTED


def _following(attempt: Attempt, ruled: Rulings) -> Trigger | None:
    if attempt.now < attempt.requests.not_before:
        return None
    if fails(attempt, ruled):
        return Trigger.FAILED
    return Trigger.COMPLETE if _complete(attempt, ruled) else None


def _baking(attempt: Attempt, ruled: Rulings) -> Trigger | None:
    if fails(attempt, ruled):
        return Trigger.FAILED
    if not _complete(attempt, ruled):
        return Trigger.UNSETTLED
    if attempt.now < attempt.bake_ends_at or health_checks.awaits(attempt):
        return None
    return Trigger.BAKED


def _confirming(attempt: Attempt, ruled: Rulings) -> Trigger | None:
    """Confirm or refute the verdict by what was read, or turn back: only reads may decide."""
    late = attempt.now >= attempt.course.confirming_since + EVIDENCE_SECONDS
    if _reads(attempt, ruled) or (attempt.awaits(Collect) and not late):
        return None
    if attempt.requests.unread:
        return Trigger.REFUTED
    if attempt.course.purpose is Purpose.SUCCESS:
        return Trigger.CONFIRMED if _complete(attempt, ruled) else Trigger.REFUTED
    if not fails(attempt, ruled):
        return Trigger.REFUTED
    guilty = culprits(ruled)
    goes_back = attempt.course.leg is Leg.FORWARD and (guilty or not attempt.plan.targets)
    if goes_back and retreat_writes(attempt, guilty):
        return Trigger.RETREAT
    return Trigger.CONFIRMED


def _inspecting(attempt: Attempt) -> Trigger | None:
    """Wait for the last look, unless a signal came; the verdict stands either way."""
    interrupted = attempt.interference.signal_number is not None
    over = attempt.now >= attempt.inspection_ends_at or not attempt.awaits(Read)
    return Trigger.INSPECTED if interrupted or over else None


def _complete(attempt: Attempt, ruled: Rulings) -> bool:
    """Tell whether everything followed is complete; on the way out that means every target."""
    if len(_of_kind(ruled, VerdictKind.COMPLETE)) < len(ruled):
        return False
    wanted = {target.ref for target in attempt.plan.targets} - set(attempt.interference.departures)
    return attempt.course.leg is Leg.BACK or wanted <= set(ruled)


def _of_kind(ruled: Rulings, kind: VerdictKind) -> frozenset[Ref]:
    return frozenset(
        ref for ref, verdict in ruled.items() if verdict is not None and verdict.kind is kind
    )


def _is(verdict: Verdict | None, reason: Reason) -> bool:
    return verdict is not None and verdict.reason is reason


_BY_STATE: Mapping[State, Callable[[Attempt, Rulings], Trigger | None]] = {
    State.RECORDING: _recording,
    State.WRITING: _writing,
    State.FOLLOWING: _following,
    State.BAKING: _baking,
    State.CONFIRMING: _confirming,
}
