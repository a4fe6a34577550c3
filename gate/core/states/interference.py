"""What ends an attempt from any state but the last three: signals, lost locks, others, the budget.

If several apply at once, the one nearer to the end wins, as `attempt.transitions` states.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt import check_conclusions
from gate.core.attempt.limits import EVIDENCE_SECONDS, INTERRUPT_SECONDS
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import TRANSITIONS, Trigger
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.protocol.effects import Write
from gate.core.rollout.early_evidence import has_evidence
from gate.core.rollout.policy import OnInterrupt
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.rollback_start import has_writes_back
from gate.core.states.verdicts import Verdicts
from gate.core.writes.lost_needs import find_dropped


def next_trigger(attempt: Attempt, state: StateBehaviour, verdicts: Verdicts) -> Trigger | None:
    """Return what ends the attempt or turns it back, else what its `state` goes on with."""
    if state.is_final:
        return state.next_trigger(attempt, verdicts)
    steps_back = _steps_back(attempt, verdicts)
    ending = _find_ending(attempt, state, steps_back=steps_back)
    if ending is not None or steps_back:
        return ending
    return state.next_trigger(attempt, verdicts)


def wake_times(attempt: Attempt, state: StateBehaviour) -> Iterator[float]:
    """Yield when the attempt may go on without an event (monotonic seconds), some in the past."""
    yield from state.wake_times(attempt)
    if state.is_final:
        return
    yield attempt.requests.not_before
    leg_ends_at = attempt.leg_ends_at
    yield leg_ends_at
    yield leg_ends_at + attempt.overtime_seconds
    yield attempt.interference.interrupted_at + INTERRUPT_SECONDS
    yield attempt.interference.departed_at + EVIDENCE_SECONDS


# -- lost locks, and objects that others took over -------------------------------------------------


def _steps_back(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether the gate has nothing left to do: a lock is lost, or others took over all."""
    if attempt.interference.lock_lost is not None:
        return True
    if not attempt.interference.departures:
        return False
    left_out = {*attempt.interference.departures, *find_dropped(attempt)}
    if all(target.ref in left_out for target in attempt.plan.targets):
        return not _breaks_off(attempt)
    return (
        attempt.course.leg is Leg.BACK
        and bool(attempt.workloads.rollouts)
        and not verdicts
        and not attempt.writes.queue
    )


def _breaks_off(attempt: Attempt) -> bool:
    """Tell whether what others took away came before writes that now have to be given up."""
    phases = map(attempt.plan.phase_of, attempt.interference.departures)
    is_first = any(phase is Phase.BEFORE for phase in phases)
    return is_first and (attempt.course.leg is Leg.BACK or bool(attempt.writes.queue))


def _awaits_who(attempt: Attempt) -> bool:
    """Tell whether the other writer's name is awaited: a courtesy, `EVIDENCE_SECONDS` at most.

    So is the controller's view of their version where a pod of a failed one may be in its way.
    """
    if attempt.now >= attempt.interference.departed_at + EVIDENCE_SECONDS:
        return False
    departed = attempt.interference.departures
    return attempt.awaits_read(departed) or any(
        ref in attempt.result.failures and _is_unobserved(attempt, ref) for ref in departed
    )


def _is_unobserved(attempt: Attempt, ref: Ref) -> bool:
    rollout = attempt.workloads.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    return live is not None and live.observed_generation < live.generation


# -- endings ---------------------------------------------------------------------------------------


def _find_ending(attempt: Attempt, state: StateBehaviour, *, steps_back: bool) -> Trigger | None:
    """Return a trigger that ends the attempt from any state; a write under way is awaited first.

    That wait ends with `gives_up_at`, or with `INTERRUPT_SECONDS` after a signal.
    """
    if attempt.interference.signal_number is not None:
        return _answer_signal(attempt, state, steps_back=steps_back)
    if attempt.now >= attempt.gives_up_at:
        return Trigger.LOST if attempt.interference.lock_lost is None else Trigger.DEPARTED
    if attempt.awaits(Write):
        return None
    if attempt.interference.contact.refusal is not None:
        return Trigger.LOST
    if not steps_back or _awaits_who(attempt):
        return None
    return Trigger.DEPARTED


def _answer_signal(attempt: Attempt, state: StateBehaviour, *, steps_back: bool) -> Trigger | None:
    """Answer a signal: wait for the write under way, then roll back or end, by policy."""
    if attempt.now >= attempt.interference.interrupted_at + INTERRUPT_SECONDS:
        return Trigger.INTERRUPTED
    if attempt.awaits(Write):
        return None
    if steps_back:
        return Trigger.INTERRUPTED
    if attempt.course.leg is Leg.BACK:
        return None if state.has_writes_ahead else Trigger.INTERRUPTED
    may_retreat = Trigger.RETREAT in TRANSITIONS[attempt.course.leg][attempt.course.state]
    wanted = may_retreat and _goes_back_on_signal(attempt)
    if wanted and has_writes_back(attempt, _still_ours(attempt)):
        return Trigger.RETREAT
    return Trigger.INTERRUPTED


def _goes_back_on_signal(attempt: Attempt) -> bool:
    policy = attempt.plan.policy.response.on_interrupt
    if policy is not OnInterrupt.AUTO:
        return policy is OnInterrupt.ROLLBACK
    rollouts = (attempt.workloads.rollouts[ref] for ref in _still_ours(attempt))
    return check_conclusions.has_evidence(attempt) or any(
        has_evidence(one, attempt.now) for one in rollouts
    )


def _still_ours(attempt: Attempt) -> frozenset[Ref]:
    return frozenset(
        ref for ref in attempt.workloads.rollouts if ref not in attempt.interference.departures
    )
