"""Takes in one event: observations into rollouts, answers into what is known and written.

Nothing here moves the attempt on: it only makes true what the event said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from gate.core import fields, ownership
from gate.core.attempt import RETRY_SECONDS, Attempt, Ending, Rejection, Retry
from gate.core.body import Body, FrozenMap
from gate.core.effects import FIELD_MANAGER, Asking, Read, Verb, Write
from gate.core.events import (
    Answer,
    AttemptEvent,
    Collected,
    ContactLost,
    ContactRestored,
    Interrupted,
    Kind,
    LeaseLost,
    Listed,
    LiveObject,
    Observed,
    ReadBack,
    Vanished,
    Woke,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
    Written,
)
from gate.core.fact import Absent, Known
from gate.core.machine import Leg
from gate.core.objects import CleanText, Deployment, Ref
from gate.core.outcome import Outcome, Reason
from gate.core.remedy import WrittenObject, spec_changed
from gate.core.rollout import Applied, Rollout
from gate.core.snapshot import Snapshot


class UnexpectedAnswer(Exception):
    """An answer to an effect that is not outstanding; the attempt is untouched."""


def fold(attempt: Attempt, event: AttemptEvent) -> Attempt:
    """Return the attempt after `event`; raise UnexpectedAnswer for an answer nobody awaits."""
    attempt = replace(attempt, now=max(attempt.now, event.at))
    match event:
        case Observed() | Vanished() | Listed():
            return _observed(attempt, event)
        case Interrupted(_, signal_number):
            return replace(attempt, signal_number=attempt.signal_number or signal_number)
        case ContactLost(_, why, final):
            return replace(attempt, contact_lost=why, contact_gone=attempt.contact_gone or final)
        case ContactRestored():
            return replace(attempt, contact_lost=None)
        case LeaseLost():
            return _lease_lost(attempt, event)
        case Woke():
            return attempt
        case _:
            return _answered(attempt, event)


def _observed(attempt: Attempt, event: Observed | Vanished | Listed) -> Attempt:
    rollouts = {ref: rollout.observe(event) for ref, rollout in attempt.rollouts.items()}
    snapshots = {ref: snapshot.fold(event) for ref, snapshot in attempt.snapshots.items()}
    return replace(
        attempt,
        rollouts=_kept(attempt.rollouts, rollouts),
        snapshots=_kept(attempt.snapshots, snapshots),
    )


Folded = TypeVar("Folded", Rollout, Snapshot)


def _kept(before: FrozenMap[Ref, Folded], after: dict[Ref, Folded]) -> FrozenMap[Ref, Folded]:
    changed = any(after[ref] is not before[ref] for ref in after)
    return FrozenMap(after) if changed else before


def _lease_lost(attempt: Attempt, event: LeaseLost) -> Attempt:
    message = CleanText(f"the lock was taken by {event.holder}")
    ending = Ending(Outcome.SUPERSEDED, Reason.LOCKED, message)
    departures = attempt.departures
    for target in attempt.plan.targets:
        departures = departures.put(target.ref, ending)
    return replace(attempt, departures=departures)


def _answered(attempt: Attempt, answer: Answer) -> Attempt:
    effect = attempt.outstanding.get(answer.effect_id)
    if effect is None:
        raise UnexpectedAnswer(f"nobody awaits {type(answer).__name__} {answer.effect_id}")
    attempt = replace(attempt, outstanding=attempt.outstanding.drop(answer.effect_id))
    match answer:
        case Written():
            return _written(attempt, effect, answer)
        case WriteConflicted() | WriteUncertain():
            return _again(attempt, effect, uncertain=isinstance(answer, WriteUncertain))
        case WriteRejected():
            return _rejected(attempt, effect, answer)
        case ReadBack():
            return _read_back(attempt, effect, answer)
        case Collected():
            return replace(attempt, evidence=attempt.evidence + answer.evidence)
        case _:
            return attempt


def _written(attempt: Attempt, effect: Asking, answer: Written) -> Attempt:
    if not isinstance(effect, Write):
        raise UnexpectedAnswer(f"a write was answered that was none: {effect}")
    head, rest = attempt.queue[0], attempt.queue[1:]
    first = attempt.now if attempt.first_write_at is None else attempt.first_write_at
    attempt = replace(attempt, queue=rest, retry=None, first_write_at=first)
    if answer.live is None:
        return replace(attempt, deleted=(*attempt.deleted, effect.ref))
    earlier = attempt.written.get(effect.ref)
    before = attempt.live.get(effect.ref) if earlier is None else earlier.before
    attempt = replace(attempt, live=attempt.live.put(effect.ref, answer.live))
    if effect.verb is Verb.TAKE_OVER:
        return attempt
    if attempt.leg is Leg.BACK:
        attempt = replace(attempt, restored=attempt.restored.put(effect.ref, answer.live))
    else:
        written = WrittenObject(
            before, answer.live, head.force, head.autoscaled, head.field_manager
        )
        attempt = replace(attempt, written=attempt.written.put(effect.ref, written))
    return _followed(attempt, effect, before, answer.live)


def _followed(
    attempt: Attempt, effect: Write, before: LiveObject | None, live: LiveObject
) -> Attempt:
    """Begin to follow a Deployment from the answer to its apply on."""
    snapshot = _snapshot(attempt, effect.ref)
    restoring = attempt.leg is Leg.FORWARD or effect.verb is Verb.APPLY
    if snapshot is None or live.deployment is None or not restoring:
        return attempt
    applied = applied_of(attempt.now, before, live, effect.field_manager)
    known = snapshot.fold(Observed(attempt.now, live.deployment))
    return start_following(attempt, applied, known)


def _snapshot(attempt: Attempt, ref: Ref) -> Snapshot | None:
    if ref in attempt.snapshots:
        return attempt.snapshots[ref]
    return attempt.rollouts[ref].snapshot if ref in attempt.rollouts else None


def applied_of(
    at: float, before: LiveObject | None, live: LiveObject, field_manager: str
) -> Applied:
    """Return what our apply returned, with the fields of the template that it owns."""
    deployment = _deployment(live)
    was = before.deployment if before is not None else None
    owned = None
    if field_manager == FIELD_MANAGER:
        owned_fields = ownership.owned_fields(live.managed.thaw()["managedFields"], FIELD_MANAGER)
        below = fields.descend(owned_fields, "spec", "template")
        owned = Body.of(below) if below else None
    return Applied(
        uid=live.uid,
        generation=deployment.generation,
        template=deployment.template,
        owned=owned,
        at=at,
        new_template=was is None or was.template.body != deployment.template.body,
        spec_changed=spec_changed(before, live),
    )


def _deployment(live: LiveObject) -> Deployment:
    if live.deployment is None:
        raise UnexpectedAnswer(f"{live.ref} is no Deployment")
    return live.deployment


def applied_found(at: float, live: Deployment) -> Applied:
    """Return what `verify` follows: what it found, its whole template being "ours"."""
    return Applied(
        live.uid,
        live.generation,
        live.template,
        owned=None,
        at=at,
        new_template=True,
        spec_changed=True,
    )


def start_following(attempt: Attempt, applied: Applied, snapshot: Snapshot) -> Attempt:
    """Put a fresh rollout in the place of the snapshot, with the budget of the leg."""
    policy = attempt.plan.policy
    forward = attempt.leg is Leg.FORWARD
    total = policy.timeout_seconds
    if not forward and policy.rollback_timeout_seconds is not None:
        total = policy.rollback_timeout_seconds
    rollout = Rollout.start(
        applied, snapshot, policy, total_seconds=total, deadline_decides=forward
    )
    return replace(
        attempt,
        rollouts=attempt.rollouts.put(snapshot.ref, rollout),
        snapshots=attempt.snapshots.drop(snapshot.ref),
    )


def _again(attempt: Attempt, effect: Asking, *, uncertain: bool) -> Attempt:
    """Leave the write at the head of the queue, to be decided again after a read."""
    if not isinstance(effect, Write):
        return attempt
    earlier = attempt.retry is not None and attempt.retry.uncertain
    first = attempt.first_write_at
    if uncertain and first is None:
        first = attempt.now
    retry = Retry(uncertain or earlier)
    return replace(attempt, retry=retry, first_write_at=first)


def _rejected(attempt: Attempt, effect: Asking, answer: WriteRejected) -> Attempt:
    if not isinstance(effect, Write):
        return attempt
    rejection = Rejection(effect.ref, answer.reason, answer.message, answer.paths)
    if attempt.leg is Leg.FORWARD:
        return replace(attempt, rejection=rejection, retry=None)
    return _rejected_back(attempt, rejection)


def _rejected_back(attempt: Attempt, rejection: Rejection) -> Attempt:
    """Drop and report fields that others own by now: a rollback never forces."""
    head, rest = attempt.queue[0], attempt.queue[1:]
    droppable = bool(rejection.paths) and not any(
        path.lstrip(".").startswith("spec.template") for path in rejection.paths
    )
    if droppable and head.verb is Verb.APPLY:
        body = head.body.thaw()
        for path in rejection.paths:
            body = fields.removed(body, path)
        if Body.of(body) != head.body:
            dropped = attempt.dropped_paths + rejection.paths
            smaller = replace(head, body=Body.of(body))
            return replace(attempt, queue=(smaller, *rest), retry=None, dropped_paths=dropped)
    return replace(attempt, rejection=rejection, queue=rest, retry=None)


def _read_back(attempt: Attempt, effect: Asking, answer: ReadBack) -> Attempt:
    if not isinstance(effect, Read):
        return attempt
    if attempt.retry is not None and attempt.queue[0].ref == effect.ref:
        attempt = replace(attempt, retry=replace(attempt.retry, read=True))
    match answer.fact:
        case Known(live):
            return _known(attempt, answer, live)
        case Absent():
            gone = attempt.live.get(effect.ref)
            uid = gone.uid if gone is not None else ""
            attempt = replace(attempt, live=attempt.live.drop(effect.ref))
            return _observed(attempt, Vanished(attempt.now, Kind.DEPLOYMENT, uid))
        case _:
            later = attempt.now + RETRY_SECONDS
            retry = replace(attempt.retry, read=False) if attempt.retry is not None else None
            return replace(attempt, unread=True, not_before=later, retry=retry)


def _known(attempt: Attempt, answer: ReadBack, live: LiveObject) -> Attempt:
    attempt = replace(attempt, live=attempt.live.put(live.ref, live))
    if live.deployment is not None:
        attempt = _observed(attempt, Observed(attempt.now, live.deployment))
    if answer.replica_sets is not None:
        listed = Listed(attempt.now, Kind.REPLICA_SET, live.ref, answer.replica_sets)
        attempt = _observed(attempt, listed)
    if answer.pods is not None:
        attempt = _observed(attempt, Listed(attempt.now, Kind.POD, live.ref, answer.pods))
    return attempt
