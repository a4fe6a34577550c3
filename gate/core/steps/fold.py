"""Folds one event: observations into rollouts and snapshots, answers by way of `answers`.

Nothing here changes the attempt's state: it only takes in what the event says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from gate.core.attempt.contact import Loss
from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.attempt.suspension import give_time_back
from gate.core.model.body import FrozenMap
from gate.core.model.lock import Lock
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import ON_THEIR_WAY, Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Asking, Read
from gate.core.protocol.events import (
    AccessGranted,
    AccessRefused,
    AttemptEvent,
    ContactEvent,
    ContactFailed,
    ContactLost,
    ContactRestored,
    ControllersActed,
    ControllersSilent,
    Interrupted,
    LeaseLost,
    Suspended,
    Woke,
)
from gate.core.rollout.early_evidence import early_causes
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Listed, Observed, Vanished
from gate.core.rollout.owners import Observation, Owners
from gate.core.rollout.snapshot import Snapshot
from gate.core.states.reads import hasten_full_read
from gate.core.steps.answers import fold_answer

Folded = TypeVar("Folded", Rollout, Snapshot)


def fold(attempt: Attempt, event: AttemptEvent) -> Attempt:
    """Return the attempt after `event`; raise UnexpectedAnswer if no effect awaits this answer."""
    if isinstance(event, Observed | Vanished | Listed):
        return fold_observation(attempt, event)
    if event.at > attempt.now:
        attempt = replace(attempt, now=event.at)
    match event:
        case Woke():
            return attempt
        case Interrupted(_, signal_number):
            return _fold_interruption(attempt, signal_number)
        case Suspended(_, seconds):
            return hasten_full_read(give_time_back(attempt, seconds))
        case (
            ContactFailed() | ContactLost() | ContactRestored() | AccessRefused() | AccessGranted()
        ):
            return _contact(attempt, event)
        case LeaseLost(_, holder, locks):
            return _lease_lost(attempt, holder, locks)
        case ControllersSilent() | ControllersActed():
            since = event.since if isinstance(event, ControllersSilent) else math.inf
            rollouts = {
                ref: rollout.controllers_silent(event.at, since)
                for ref, rollout in attempt.workloads.rollouts.items()
            }
            return replace(
                attempt, workloads=replace(attempt.workloads, rollouts=FrozenMap(rollouts))
            )
        case _:
            after, facts = fold_answer(attempt, event)
            for fact in facts:
                after = fold_observation(after, fact)
            return (
                _read_well(after, attempt.requests.outstanding[event.effect_id]) if facts else after
            )


def _read_well(attempt: Attempt, effect: Asking) -> Attempt:
    """End the blindness of a workload whose whole rollout was read."""
    if not isinstance(effect, Read) or not effect.whole_rollout:
        return attempt
    rollout = attempt.workloads.rollouts.get(effect.ref)
    if rollout is None:
        return attempt
    seen = rollout.read_well(attempt.now)
    return replace(
        attempt,
        workloads=replace(
            attempt.workloads, rollouts=attempt.workloads.rollouts.put(effect.ref, seen)
        ),
    )


def _contact(attempt: Attempt, event: ContactEvent) -> Attempt:
    contact = attempt.interference.contact
    match event:
        case ContactFailed():
            return _without_facts(attempt)
        case ContactLost():
            lost = replace(contact, lost=Loss.of(event))
            return _without_facts(
                replace(attempt, interference=replace(attempt.interference, contact=lost))
            )
        case ContactRestored():
            return replace(
                attempt,
                interference=replace(attempt.interference, contact=replace(contact, lost=None)),
            )
        case AccessRefused(at, what, why, reason):
            refused = contact.after_refusal(at, what, why, reason)
            return _without_facts(
                replace(attempt, interference=replace(attempt.interference, contact=refused))
            )
        case AccessGranted(_, what):
            return replace(
                attempt,
                interference=replace(attempt.interference, contact=contact.after_grant(what)),
            )


def _without_facts(attempt: Attempt) -> Attempt:
    """Count the time since the last fact as blind, and schedule the full read that ends it."""
    since = attempt.interference.contact.facts_at
    rollouts = {
        ref: rollout.without_facts(since) for ref, rollout in attempt.workloads.rollouts.items()
    }
    return hasten_full_read(
        replace(attempt, workloads=replace(attempt.workloads, rollouts=FrozenMap(rollouts)))
    )


def fold_observation(attempt: Attempt, event: Observed | Vanished | Listed) -> Attempt:
    """Fold an observation into the workloads that it is about."""
    known = attempt.workloads
    owners = known.owners.after(event)
    refs = known.owners.find_concerned(event)
    workloads = replace(
        known,
        owners=owners,
        rollouts=_fold_each(known.rollouts, refs, event, owners, Rollout.observe),
        snapshots=_fold_each(known.snapshots, refs, event, owners, Snapshot.fold),
    )
    interference = replace(
        attempt.interference, contact=attempt.interference.contact.after_fact(event.at)
    )
    after = replace(
        attempt, now=max(attempt.now, event.at), interference=interference, workloads=workloads
    )
    return _with_last_causes(attempt, after)


def _with_last_causes(before: Attempt, after: Attempt) -> Attempt:
    """Keep what was wrong with a version whose last pod goes, or that is to have none any more.

    The watches have no common order: the pods may be seen to go before somebody's 0 is.
    """
    known, rollouts = before.workloads.rollouts, after.workloads.rollouts
    if before.course.leg is Leg.BACK or rollouts is known:
        return after
    found = {}
    for ref, now in rollouts.changed_since(known):
        was = known[ref]
        if not _lost_pods(was, now):
            continue
        causes = early_causes(was, after.now)
        has_fault = any(one.reason not in ON_THEIR_WAY for one in causes)
        if has_fault or was.new.count:
            found[ref] = causes if has_fault else ()
    if not found:
        return after
    kept = after.interference.last_causes.put_all(found)
    return replace(after, interference=replace(after.interference, last_causes=kept))


def _lost_pods(was: Rollout, now: Rollout) -> bool:
    """Tell whether a version that was to have pods has none left now, or is to have none."""
    before, live = was.snapshot.live, now.snapshot.live
    if before is None or live is None or not before.replicas:
        return False
    return not live.replicas or bool(was.new.count and not now.new.count)


def _fold_each(
    before: FrozenMap[Ref, Folded],
    refs: frozenset[Ref] | None,
    event: Observation,
    owners: Owners,
    fold_in: Callable[[Folded, Observation], Folded],
) -> FrozenMap[Ref, Folded]:
    """Return what is known after `event`, `before` itself if nothing changed.

    `refs` are the workloads concerned, None for all.
    """
    changed = {}
    for ref in before if refs is None else refs:
        one = before.get(ref)
        after = None if one is None else fold_in(one, owners.narrow(event, ref))
        if after is not None and after is not one:
            changed[ref] = after
    return before.put_all(changed)


def _fold_interruption(attempt: Attempt, signal_number: int) -> Attempt:
    """Note the first signal; it ends all waiting before a request."""
    if attempt.interference.signal_number is not None:
        return attempt
    not_before = min(attempt.requests.not_before, attempt.now)
    return replace(
        attempt,
        requests=replace(attempt.requests, not_before=not_before),
        interference=replace(
            attempt.interference, signal_number=signal_number, interrupted_at=attempt.now
        ),
    )


def _lease_lost(attempt: Attempt, holder: str, locks: tuple[Lock, ...]) -> Attempt:
    """Step back from everything: what the lock protected belongs to somebody else now."""
    message = CleanText(f"the lock was taken by {holder}")
    return replace(
        attempt,
        interference=replace(
            attempt.interference,
            lock_lost=Ending(Outcome.SUPERSEDED, Reason.LOCKED, message),
            locks_lost=locks,
            lock_taker=holder,
        ),
    )
