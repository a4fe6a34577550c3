"""One step of an attempt: fold the event, then move on until no transition is enabled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gate.core.attempt.state import Attempt, Course, Ending, Ledger, Step, Workloads
from gate.core.attempt.transitions import State, Trigger, after
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Effect
from gate.core.protocol.events import AttemptEvent
from gate.core.rollout.owners import Owners
from gate.core.rollout.verdict import VerdictKind
from gate.core.steps import triggers
from gate.core.steps.entry import ask, enter, read_all
from gate.core.steps.fold import applied_found, fold, start_following
from gate.core.steps.resumption import taken_up
from gate.core.steps.timeline import narrate, narrate_move
from gate.core.steps.triggers import Rulings

_READS_ON = (State.FOLLOWING, State.BAKING, State.CONFIRMING)
"""States in which a read delays nothing but the verdict."""


def begin(plan: Plan, at: float) -> Step:
    """Start an attempt at `at` (monotonic seconds): it asks for its record to be saved first."""
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
        return _settle(*enter(attempt, trigger, (leg, State.RECORDING), {}))
    for target in plan.targets:
        live = target.snapshot.live
        if live is not None and not any(write.ref == target.ref for write in plan.writes):
            attempt = start_following(attempt, applied_found(at, live), target.snapshot)
    return _settle(*enter(attempt, Trigger.RECORDED, (Leg.FORWARD, State.RECORDING), {}))


def step(attempt: Attempt, event: AttemptEvent) -> Step:
    """Return the attempt after `event`, and what it asks for.

    Raise UnexpectedAnswer, with the attempt unchanged, for an answer to no outstanding effect.
    """
    folded = fold(attempt, event)
    if folded.ended:
        return folded, ()
    return _settle(folded, narrate(attempt, folded))


def wake_at(attempt: Attempt) -> float:
    """Return when the attempt wants a `Woke` event (monotonic seconds), infinity for never."""
    return triggers.wake_at(attempt)


def _settle(attempt: Attempt, effects: tuple[Effect, ...]) -> Step:
    """Fire triggers until none is left, then ask for what the state still needs."""
    collected = list(effects)
    while True:
        attempt, ruled = triggers.with_rulings(attempt)
        attempt, ruled = _with_departures(attempt, ruled, collected)
        trigger = triggers.derive(attempt, ruled)
        if trigger is None:
            moved, asked = ask(attempt)
            collected.extend(narrate(attempt, moved))
            collected.extend(asked)
            if moved is attempt:
                return attempt, tuple(collected)
            attempt = moved
            continue
        place = after(attempt.course.leg, attempt.course.state, trigger)
        moved, asked = enter(attempt, trigger, place, ruled)
        collected.extend(narrate_move(attempt, trigger, moved, ruled))
        collected.extend(asked)
        attempt = moved


def _with_departures(
    attempt: Attempt, ruled: Rulings, effects: list[Effect]
) -> tuple[Attempt, Rulings]:
    """Record the Deployments that somebody else has taken over: they leave the attempt."""
    if attempt.course.state in (State.INSPECTING, State.CLOSING, State.ENDED):
        return attempt, ruled
    gone = {
        ref: Ending(Outcome.SUPERSEDED, verdict.reason, verdict.message)
        for ref, verdict in ruled.items()
        if verdict is not None and verdict.kind is VerdictKind.SUPERSEDED
    }
    if not gone:
        return attempt, ruled
    departed = replace(
        attempt,
        interference=replace(
            attempt.interference,
            departures=FrozenMap({**attempt.interference.departures, **gone}),
            departed_at=attempt.now,
        ),
    )
    effects.extend(narrate(attempt, departed))
    departed, asked = _asking_who(departed, gone)
    effects.extend(asked)
    return departed, {ref: verdict for ref, verdict in ruled.items() if ref not in gone}


def _asking_who(attempt: Attempt, gone: Mapping[Ref, Ending]) -> Step:
    """Read who made the change, unless that was read just now: watches do not say.

    Nor do they report at once that a deleted object was created again. While writes are left to
    be sent nothing is read, because that would delay them. A change that a watch reported before
    the answer to the last write is handled once that answer is here.
    """
    unknown = []
    for ref, ending in gone.items():
        read, live = attempt.ledger.live.get(ref), attempt.workloads.rollouts[ref].snapshot.live
        fresh = read is not None and live is not None and read.workload == live
        is_gone = ending.reason is Reason.DELETED and live is None
        if is_gone or (ending.reason is Reason.SUPERSEDED and not fresh):
            unknown.append(ref)
    has_written = attempt.course.state is State.WRITING and not attempt.writes.queue
    if attempt.course.state not in _READS_ON and not has_written:
        return attempt, ()
    return read_all(attempt, unknown, whole_rollout=False)
