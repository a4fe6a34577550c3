"""What entering a state asks for, and what a state asks for while it lasts.

The only file that makes effects which are answered; writes are made in WRITING alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from gate.core import fields, ownership
from gate.core.attempt import Attempt, Ending, Purpose, Rejection, Retry, Step
from gate.core.body import Body, FrozenMap
from gate.core.causes import Trouble
from gate.core.effects import (
    FIELD_MANAGER,
    Asking,
    Collect,
    Effect,
    Read,
    Release,
    SaveRecord,
    Write,
)
from gate.core.endings import closed
from gate.core.events import LiveObject
from gate.core.machine import Leg, Place, State, Trigger
from gate.core.objects import CleanText, Ref
from gate.core.outcome import Outcome, Reason
from gate.core.plan import PlannedWrite
from gate.core.remedy import autoscaled_body, content, writes_back
from gate.core.rollout import VerdictKind
from gate.core.triggers import failed, followed

TELLING_CAUSES = (Reason.OUT_OF_MEMORY, Reason.CRASH_LOOP, Reason.READINESS_LOST)


def enter(attempt: Attempt, trigger: Trigger, place: Place) -> Step:
    """Enter `place` because of `trigger`: return the attempt there and what it asks for."""
    if trigger is Trigger.RETREAT:
        attempt = _turned_back(attempt)
    if place[1] is State.CLOSING:
        attempt = closed(attempt, trigger)
    leg, state = place
    attempt = replace(attempt, leg=leg, state=state)
    return _ENTER[state](attempt)


def ask(attempt: Attempt) -> Step:
    """Return what the present state asks for next: the next write, or a read that is due."""
    if attempt.state is State.WRITING:
        return _next_write(attempt)
    if attempt.state in (State.FOLLOWING, State.BAKING) and attempt.now >= attempt.next_read_at:
        return _periodic_reads(attempt)
    return attempt, ()


def _turned_back(attempt: Attempt) -> Attempt:
    """Turn around: remember why, lay out the writes, start with no rollout of the new leg."""
    failures = {
        ref: Ending(Outcome.FAILED, verdict.reason, verdict.message, verdict.causes)
        for ref, verdict in followed(attempt)
        if verdict.kind is VerdictKind.FAILED
    }
    departed = frozenset(attempt.departures)
    concerned = failed(attempt) or frozenset(attempt.rollouts)
    return replace(
        attempt,
        failures=FrozenMap(failures),
        queue=writes_back(attempt.plan, attempt.written, departed, concerned),
        retry=None,
        leg_at=attempt.now,
        followed_before=attempt.rollouts,
        snapshots=FrozenMap((ref, r.snapshot) for ref, r in attempt.rollouts.items()),
        rollouts=FrozenMap(),
        baked_since=math.inf,
        outstanding=FrozenMap(),
    )


def _recording(attempt: Attempt) -> Step:
    record = Body.of({"phase": attempt.leg.value, "command": attempt.plan.command})
    return _asked(attempt, SaveRecord(attempt.next_id, record))


def _writing(attempt: Attempt) -> Step:
    if attempt.leg is Leg.FORWARD:
        attempt = replace(attempt, queue=attempt.plan.writes)
    return _next_write(attempt)


def _following(attempt: Attempt) -> Step:
    interval = attempt.plan.policy.read_interval_seconds
    next_read_at = min(attempt.next_read_at, attempt.now + interval)
    if next_read_at <= attempt.now:
        next_read_at = attempt.now + interval
    return replace(attempt, baked_since=math.inf, next_read_at=next_read_at), ()


def _baking(attempt: Attempt) -> Step:
    effects: tuple[Effect, ...] = ()
    if attempt.leg is Leg.FORWARD and attempt.plan.policy.bake_seconds > 0:
        line = f"complete; watching for another {attempt.plan.policy.bake_seconds:.0f} s"
        effects = (attempt.say("baking", line),)
    return replace(attempt, baked_since=attempt.now), effects


def _confirming(attempt: Attempt) -> Step:
    """Read everything with quorum; beside it collect evidence where the verdict is bad."""
    failures = failed(attempt)
    purpose = Purpose.FAILURE if failures else Purpose.SUCCESS
    attempt = replace(attempt, purpose=purpose, unread=False, baked_since=math.inf)
    effects: list[Effect] = []
    for ref, _ in followed(attempt):
        attempt = _also(attempt, effects, Read(attempt.next_id, ref, whole_rollout=True))
    for ref in sorted(failures):
        trouble = _most_telling(attempt, ref)
        if trouble is not None and not attempt.evidence:
            attempt = _also(attempt, effects, _collect(attempt, ref, trouble))
    return attempt, tuple(effects)


def _collect(attempt: Attempt, ref: Ref, trouble: Trouble) -> Collect:
    previous = trouble.cause in TELLING_CAUSES
    return Collect(attempt.next_id, ref, trouble.pod, trouble.container, previous)


def _most_telling(attempt: Attempt, ref: Ref) -> Trouble | None:
    """Return the trouble whose pod has most to tell: of the first cause, first by name."""
    rollout = attempt.rollouts[ref]
    causes = [cause.reason for cause in rollout.causes(attempt.now)]
    troubles = [trouble for trouble in rollout.troubles.values() if trouble.cause in causes]
    return min(troubles, key=lambda t: (causes.index(t.cause), t.pod), default=None)


def _closing(attempt: Attempt) -> Step:
    outcome = attempt.ending.outcome if attempt.ending is not None else Outcome.INTERNAL_ERROR
    record = Body.of({"phase": "closed", "outcome": outcome.value})
    attempt = replace(attempt, closing_since=attempt.now, outstanding=FrozenMap(), queue=())
    return _asked(attempt, Release(attempt.next_id, record))


def _ended(attempt: Attempt) -> Step:
    return replace(attempt, outstanding=FrozenMap(), verdict_at=attempt.now), ()


_ENTER: dict[State, Callable[[Attempt], Step]] = {
    State.RECORDING: _recording,
    State.WRITING: _writing,
    State.FOLLOWING: _following,
    State.BAKING: _baking,
    State.CONFIRMING: _confirming,
    State.CLOSING: _closing,
    State.ENDED: _ended,
}


def _asked(attempt: Attempt, effect: Asking) -> Step:
    return attempt.with_effect(effect), (effect,)


def _also(attempt: Attempt, effects: list[Effect], effect: Asking) -> Attempt:
    effects.append(effect)
    return attempt.with_effect(effect)


def _periodic_reads(attempt: Attempt) -> Step:
    """Read now and then whatever the watches say: they are a hint, the read is the truth."""
    interval = attempt.plan.policy.read_interval_seconds
    attempt = replace(attempt, next_read_at=attempt.now + interval)
    under_way = {effect.ref for effect in attempt.outstanding.values() if isinstance(effect, Read)}
    effects: list[Effect] = []
    for ref in attempt.rollouts:
        if ref not in under_way and ref not in attempt.departures:
            attempt = _also(attempt, effects, Read(attempt.next_id, ref, whole_rollout=True))
    return attempt, tuple(effects)


def _next_write(attempt: Attempt) -> Step:
    """Send the head of the queue, read before a second try, drop what is no longer ours."""
    while attempt.queue and not attempt.asks and attempt.rejection is None:
        head = attempt.queue[0]
        if attempt.retry is not None:
            return _decide_again(attempt, head, attempt.retry)
        if attempt.leg is Leg.BACK and not _mine(attempt, head.ref):
            attempt = _left_alone(attempt, head.ref)
            continue
        return _send(attempt, head)
    if attempt.leg is Leg.BACK and attempt.queue and not attempt.asks:
        return _next_write_after_rejection(attempt)
    return attempt, ()


def _next_write_after_rejection(attempt: Attempt) -> Step:
    """One refused restoration does not keep the others from being restored."""
    kept = attempt.rejection
    moved, effects = _next_write(replace(attempt, rejection=None))
    return replace(moved, rejection=kept), effects


def _decide_again(attempt: Attempt, head: PlannedWrite, retry: Retry) -> Step:
    """After a conflict or a lost answer: read first, then write again or give it up."""
    if not retry.read:
        if attempt.now < attempt.not_before:
            return attempt, ()
        return _asked(attempt, Read(attempt.next_id, head.ref, whole_rollout=False))
    attempt = replace(attempt, retry=None)
    if attempt.leg is Leg.FORWARD:
        attempt = replace(attempt, rejection=_changed_meanwhile(attempt, head.ref, retry))
    return _next_write(attempt)


def _changed_meanwhile(attempt: Attempt, ref: Ref, retry: Retry) -> Rejection | None:
    """Refuse to write over a change that somebody made since the preflight.

    After a lost answer the change may be our own: the same apply is sent again, which does
    nothing where it was done, and fails where another manager owns a field by now.
    """
    before, live = attempt.plan.before(ref), attempt.live.get(ref)
    if before is None:
        return None
    if live is None or live.uid != before.uid:
        return Rejection(ref, Reason.DELETED, CleanText("it was deleted since it was read"))
    if retry.uncertain or content(live.body) == content(before.body):
        return None
    return Rejection(ref, Reason.CONFLICT, CleanText("somebody changed it since it was read"))


def _send(attempt: Attempt, head: PlannedWrite) -> Step:
    live = attempt.live.get(head.ref)
    body = head.body
    if head.autoscaled and live is not None:
        body = Body.of(autoscaled_body(body.thaw(), live))
    write = Write(
        effect_id=attempt.next_id,
        ref=head.ref,
        verb=head.verb,
        body=body,
        uid=live.uid if live is not None else None,
        resource_version=live.resource_version if live is not None else None,
        field_manager=head.field_manager,
        force=head.force,
    )
    effects: tuple[Effect, ...] = (write,)
    if attempt.leg is Leg.BACK and attempt.rollback_written_at is None:
        attempt = replace(attempt, rollback_written_at=attempt.now)
    return attempt.with_effect(write), effects


def _mine(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether what this attempt wrote to `ref` still stands."""
    live, written = attempt.live.get(ref), attempt.written.get(ref)
    if live is None or written is None or live.uid != written.after.uid:
        return False
    rollout = attempt.followed_before.get(ref)
    if rollout is not None and live.deployment is not None:
        snapshot = attempt.snapshots.get(ref)
        newest = snapshot.live if snapshot is not None and snapshot.live else live.deployment
        return rollout.still_ours(newest) and rollout.still_ours(live.deployment)
    return _fields_stand(written.after, live)


def _fields_stand(after: LiveObject, live: LiveObject) -> bool:
    if live.resource_version == after.resource_version:
        return True
    owned = ownership.owned_fields(after.managed.thaw()["managedFields"], FIELD_MANAGER)
    if owned is None:
        return after.body == live.body
    return fields.still_holds(after.body.thaw(), owned, live.body.thaw())


def _left_alone(attempt: Attempt, ref: Ref) -> Attempt:
    """Step back from an object that somebody else has changed since."""
    attempt = replace(attempt, queue=attempt.queue[1:])
    if ref not in attempt.followed_before:
        return attempt
    message = CleanText("somebody else changed it before the rollback was written")
    reason = Reason.SUPERSEDED if ref in attempt.live else Reason.DELETED
    ending = Ending(Outcome.SUPERSEDED, reason, message)
    return replace(attempt, departures=attempt.departures.put(ref, ending))
