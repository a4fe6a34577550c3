"""One step of an attempt: fold the event, then move on until nothing pulls any more."""

from __future__ import annotations

from dataclasses import replace

from gate.core import triggers
from gate.core.attempt import Attempt, Ending, Step
from gate.core.baseline import Baseline
from gate.core.body import FrozenMap
from gate.core.effects import Announce, Effect
from gate.core.entering import ask, enter
from gate.core.events import AttemptEvent
from gate.core.fact import Known
from gate.core.folding import applied_found, fold, start_following
from gate.core.machine import Leg, State, Trigger, after
from gate.core.narration import narrate
from gate.core.objects import Ref
from gate.core.outcome import Outcome
from gate.core.plan import Plan
from gate.core.rollout import VerdictKind


def begin(plan: Plan, at: float) -> Step:
    """Start an attempt at `at` (monotonic seconds): it asks for its journal first."""
    attempt = Attempt(
        plan=plan,
        now=at,
        started_at=at,
        leg_at=at,
        snapshots=FrozenMap((target.ref, target.snapshot) for target in plan.targets),
        live=FrozenMap(
            (planned.ref, planned.before.value)
            for planned in plan.objects
            if isinstance(planned.before, Known)
        ),
    )
    for target in plan.targets:
        live = target.snapshot.live
        if live is not None and not any(write.ref == target.ref for write in plan.writes):
            attempt = start_following(attempt, applied_found(at, live), target.snapshot)
    return _settled(*enter(attempt, Trigger.RECORDED, (Leg.FORWARD, State.RECORDING)))


def step(attempt: Attempt, event: AttemptEvent) -> Step:
    """Return the attempt after `event`, and what it asks for.

    Raise UnexpectedAnswer for an answer to nothing that was asked; the attempt is untouched.
    """
    folded = fold(attempt, event)
    if folded.ended:
        return folded, ()
    return _settled(folded, narrate(attempt, folded))


def wake_at(attempt: Attempt) -> float:
    """Return when the attempt wants to hear `Woke` (monotonic seconds), infinite for never."""
    return triggers.wake_at(attempt)


def _settled(attempt: Attempt, effects: tuple[Effect, ...]) -> Step:
    """Move on until no trigger is left, then ask for what the state still needs."""
    collected = list(effects)
    while True:
        attempt = _with_departures(attempt, collected)
        trigger = triggers.derive(attempt)
        if trigger is None:
            moved, asked = ask(attempt)
            collected.extend(asked)
            if moved is attempt or moved == attempt:
                return moved, tuple(collected)
            attempt = moved
            continue
        collected.extend(_announced(attempt, trigger))
        place = after(attempt.leg, attempt.state, trigger)
        attempt, asked = enter(attempt, trigger, place)
        collected.extend(asked)


def _with_departures(attempt: Attempt, effects: list[Effect]) -> Attempt:
    """Note the Deployments that somebody else has taken over: they leave the attempt."""
    if attempt.state in (State.CLOSING, State.ENDED):
        return attempt
    for ref, verdict in triggers.followed(attempt):
        if verdict.kind is VerdictKind.SUPERSEDED:
            ending = Ending(Outcome.SUPERSEDED, verdict.reason, verdict.message)
            attempt = replace(attempt, departures=attempt.departures.put(ref, ending))
            effects.append(attempt.say("superseded", f"{ref}: {verdict.message}"))
    return attempt


def _announced(attempt: Attempt, trigger: Trigger) -> tuple[Announce, ...]:
    """Tell what a reader wants to know of a transition."""
    if trigger is Trigger.RETREAT:
        return (attempt.say("rollback", _retreat_line(attempt)),)
    if trigger is Trigger.REFUTED:
        return (attempt.say("refuted", "a second read did not bear the verdict out; going on"),)
    if trigger is Trigger.FAILED:
        return tuple(
            attempt.say("failed", f"{ref}: {verdict.reason}: {verdict.message}")
            for ref, verdict in triggers.followed(attempt)
            if verdict.kind is VerdictKind.FAILED
        )
    return ()


def _retreat_line(attempt: Attempt) -> str:
    back = [
        _return_to(target.ref, target.baseline.value)
        for target in attempt.plan.targets
        if isinstance(target.baseline, Known) and target.ref not in attempt.departures
    ]
    return "; ".join(back) or "restoring what was there before"


def _return_to(ref: Ref, baseline: Baseline) -> str:
    images = ", ".join(baseline.template.images())
    return f"returning {ref} to revision {baseline.revision} ({images})"
