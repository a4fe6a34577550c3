"""One step of an attempt: fold the event, then move on until no transition is enabled."""

from __future__ import annotations

import math
from dataclasses import replace

from gate.core.attempt.new_rollout import applied_found, start_following
from gate.core.attempt.parts import Course, Ledger, Workloads
from gate.core.attempt.record import record_now
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Place, State, Trigger, after
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce, Effect, SaveRecord
from gate.core.protocol.events import AttemptEvent, UsersFound
from gate.core.recovery.resumption import taken_up
from gate.core.rollout.owners import Owners
from gate.core.states import interference
from gate.core.states.departures import leave_emptied, with_departures
from gate.core.states.rollback_start import describe_rollback, start_rollback
from gate.core.states.table import STATES
from gate.core.states.verdicts import Verdicts, judge, keep_ours
from gate.core.steps.fold import fold
from gate.core.steps.timeline import narrate


def begin(plan: Plan, at: float) -> Step:
    """Start an attempt at `at` (monotonic seconds): it asks for its record to be saved first.

    One that finishes another knows by that one's record what pods ran before; one that writes
    nothing judges what somebody has begun.
    """
    if plan.resumed is None and plan.writes:
        targets = (replace(one, snapshot=one.snapshot.remember_pods()) for one in plan.targets)
        plan = replace(plan, targets=tuple(targets))
    attempt = Attempt(
        plan=plan,
        now=at,
        course=Course(started_at=at, leg_at=at),
        workloads=Workloads(
            snapshots=FrozenMap((target.ref, target.snapshot) for target in plan.targets),
            owners=Owners.of([target.snapshot for target in plan.targets]),
        ),
        ledger=Ledger(
            live=FrozenMap(
                (planned.ref, planned.before.value)
                for planned in plan.objects
                if isinstance(planned.before, Known)
            )
        ),
    )
    if plan.resumed is not None:
        attempt = taken_up(attempt, plan.resumed)
        goes_back = plan.resumed.back
        trigger = Trigger.RETREAT if goes_back else Trigger.RECORDED
        leg = Leg.BACK if goes_back else Leg.FORWARD
        return _settle(*_enter(attempt, trigger, (leg, State.RECORDING), {}))
    for target in plan.targets:
        live = target.snapshot.live
        if live is not None and not any(write.ref == target.ref for write in plan.writes):
            attempt = start_following(attempt, applied_found(at, live), target.snapshot)
    return _settle(*_enter(attempt, Trigger.RECORDED, (Leg.FORWARD, State.RECORDING), {}))


def step(attempt: Attempt, event: AttemptEvent) -> Step:
    """Return the attempt after `event`, and what it asks for.

    Raise UnexpectedAnswer, with the attempt unchanged, for an answer to no outstanding effect.
    """
    folded = fold(attempt, event)
    if folded.ended:
        return folded, ()
    lines = narrate(attempt, folded)
    if isinstance(event, UsersFound):
        return _settle(*_after_users(folded, event, lines))
    return _settle(folded, lines)


def _after_users(attempt: Attempt, found: UsersFound, lines: tuple[Announce, ...]) -> Step:
    """Say what stays; have the record say what objects go back to instead, for a recovery.

    What stays is said after the way back, which is not announced before it is recorded.
    """
    if attempt.result.unsaid:
        unsaid = (*attempt.result.unsaid, *lines)
        attempt, lines = replace(attempt, result=replace(attempt.result, unsaid=unsaid)), ()
    if not found.brought_states:
        return attempt, lines
    effect = SaveRecord(attempt.requests.next_id, record_now(attempt))
    return attempt.with_effect(effect), (*lines, effect)


def wake_at(attempt: Attempt) -> float:
    """Return when the attempt wants a `Woke` event (monotonic seconds), infinity for never."""
    times = interference.wake_times(attempt, STATES[attempt.course.state])
    return min((at for at in times if at > attempt.now), default=math.inf)


def _settle(attempt: Attempt, effects: tuple[Effect, ...]) -> Step:
    """Fire triggers until none is left, then ask for what the state still needs."""
    collected = list(effects)
    while True:
        attempt, verdicts = judge(attempt)
        state = STATES[attempt.course.state]
        departed, asked = with_departures(attempt, state, verdicts)
        if departed is not attempt:
            collected.extend((*narrate(attempt, departed), *asked))
            attempt, verdicts = departed, keep_ours(departed, verdicts)
        trigger = interference.next_trigger(attempt, state, verdicts)
        if trigger is not None:
            left = _leave_at_end(attempt, trigger, verdicts)
            collected.extend(narrate(attempt, left))
            attempt, asked = _move(left, trigger, keep_ours(left, verdicts))
            collected.extend(asked)
            continue
        moved, asked = state.ask(attempt)
        collected.extend((*narrate(attempt, moved), *asked))
        if moved is attempt:
            return attempt, tuple(collected)
        attempt = moved


def _leave_at_end(attempt: Attempt, trigger: Trigger, verdicts: Verdicts) -> Attempt:
    """Leave what wants no pod any more as it is where a trigger decides the endings."""
    course = attempt.course
    _, state = after(course.leg, course.state, trigger)
    is_end = STATES[state].is_final and not STATES[course.state].is_final
    return leave_emptied(attempt, verdicts) if is_end else attempt


def _move(attempt: Attempt, trigger: Trigger, verdicts: Verdicts) -> Step:
    """Announce a transition, and enter the state that the table names for it.

    A way back is announced once it is recorded: if the gate dies after that, its recovery goes on
    with what was said.
    """
    course = attempt.course
    lines = list(STATES[course.state].describe_exit(attempt, trigger, verdicts))
    moved, asked = _enter(attempt, trigger, after(course.leg, course.state, trigger), verdicts)
    if trigger is Trigger.RETREAT:
        lines.extend(describe_rollback(attempt, moved, verdicts))
    said = tuple(moved.say(event, message) for event, message in lines)
    unsaid = said if trigger is Trigger.RETREAT else ()
    moved = replace(moved, result=replace(moved.result, unsaid=unsaid))
    return moved, (*attempt.result.unsaid, *(() if unsaid else said), *asked)


def _enter(attempt: Attempt, trigger: Trigger, place: Place, verdicts: Verdicts) -> Step:
    """Enter `place` because of `trigger`: return the attempt there and what it asks for."""
    if trigger is Trigger.RETREAT:
        attempt = start_rollback(attempt, verdicts)
    leg, state = place
    attempt = replace(attempt, course=replace(attempt.course, leg=leg, state=state))
    return STATES[state].enter(attempt, trigger, verdicts)
