"""The effects of entering a state, and those that a state asks for while it lasts.

Every effect that is answered is made here or in `writes.queue`; writes are made in WRITING alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from gate.core.attempt import health_checks
from gate.core.attempt.following import applied_found, start_following
from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.journal import record_now
from gate.core.attempt.state import Attempt, Ending, Purpose, Rejection, Step, Undecided
from gate.core.attempt.transitions import Place, State, Trigger
from gate.core.checks.spec import During
from gate.core.endings.conclusion import with_endings
from gate.core.endings.last_reads import (
    begin_inspection,
    with_recreations,
    with_restorations_checked,
    with_unread,
)
from gate.core.endings.rollback_ending import refusal_cause
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.model.signal_names import signal_name
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import (
    decided_plan,
    irreversible,
    with_unwritten_members,
    writes_back,
)
from gate.core.protocol.effects import Asking, Collect, Effect, Read, Release, SaveRecord, Write
from gate.core.rollout.causes import Trouble
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.verdict import VerdictKind
from gate.core.steps.resumption import failures_found, why_resumed
from gate.core.steps.triggers import Rulings, culprits, fails, find_failed
from gate.core.writes.queue import became_theirs, next_write

TELLING_CAUSES = (Reason.OUT_OF_MEMORY, Reason.CRASH_LOOP, Reason.READINESS_LOST)
"""Causes that are best explained by the log of the container's previous run."""


def enter(attempt: Attempt, trigger: Trigger, place: Place, ruled: Rulings) -> Step:
    """Enter `place` because of `trigger`: return the attempt there and what it asks for."""
    if trigger is Trigger.RETREAT:
        attempt = _turned_back(attempt, ruled)
    leg, state = place
    if trigger is Trigger.INSPECTED:
        attempt = with_restorations_checked(with_recreations(attempt))
    elif state in (State.INSPECTING, State.CLOSING):
        attempt = with_endings(attempt, trigger)
    attempt = replace(attempt, course=replace(attempt.course, leg=leg, state=state))
    if state is State.INSPECTING:
        return begin_inspection(attempt, confirmed=trigger is Trigger.CONFIRMED)
    return _ENTER[state](attempt, ruled)


def ask(attempt: Attempt) -> Step:
    """Return what the present state asks for next: a write, a read or a check that is due.

    The attempt is returned unchanged if there is nothing to ask for.
    """
    if attempt.course.state is State.WRITING:
        return next_write(attempt)
    if attempt.course.state not in (State.FOLLOWING, State.BAKING):
        return attempt, ()
    if attempt.now < attempt.requests.next_read_at:
        return health_checks.ask_due_checks(attempt)
    due = replace(
        attempt,
        requests=replace(
            attempt.requests, next_read_at=attempt.now + attempt.read_interval_seconds
        ),
    )
    return read_all(
        due, [ref for ref in due.workloads.rollouts if ref not in due.interference.departures]
    )


def read_all(attempt: Attempt, refs: list[Ref], *, whole_rollout: bool = True) -> Step:
    """Read `refs`, whatever the watches say, except those that are being read already."""
    under_way = {
        effect.ref for effect in attempt.requests.outstanding.values() if isinstance(effect, Read)
    }
    effects: list[Effect] = []
    for ref in refs:
        if ref not in under_way:
            attempt = _also(attempt, effects, Read(attempt.requests.next_id, ref, whole_rollout))
    return attempt, tuple(effects)


def _turned_back(attempt: Attempt, ruled: Rulings) -> Attempt:
    """Turn back: keep the reasons, queue the writes, and drop the rollouts of the way out."""
    recorded = _recorded_failures(attempt)
    plan = decided_plan(attempt.plan, attempt.ledger.written)
    written = with_unwritten_members(plan, attempt.ledger.written, attempt.ledger.restored)
    attempt = replace(attempt, plan=plan, ledger=replace(attempt.ledger, written=written))
    concerned = frozenset(recorded) or culprits(ruled) or frozenset(attempt.workloads.rollouts)
    departed = frozenset(attempt.interference.departures)
    followed = {
        ref: replace(rollout.snapshot, written=False)
        for ref, rollout in attempt.workloads.rollouts.items()
    }
    queue = writes_back(attempt.plan, attempt.ledger.written, departed, concerned)
    return replace(
        attempt,
        result=replace(
            attempt.result, failures=recorded or _failures(ruled), why_back=_why_back(attempt)
        ),
        writes=replace(
            attempt.writes,
            rejection=None,
            queue=queue,
            refusals=FrozenMap(
                {**_with_irreversible(attempt, departed), **_missing_members(attempt, queue)}
            ),
            retry=None,
            uncertain=False,
            set_aside=FrozenMap(),
        ),
        course=replace(attempt.course, forward_ended_at=attempt.leg_ends_at, leg_at=attempt.now),
        workloads=replace(
            attempt.workloads,
            followed_before=attempt.workloads.rollouts,
            snapshots=FrozenMap({**attempt.workloads.snapshots, **followed}),
            rollouts=FrozenMap(),
        ),
        requests=replace(attempt.requests, outstanding=FrozenMap()),
        health=replace(attempt.health, concluded=health_checks.conclusions(attempt)),
    )


def _recorded_failures(attempt: Attempt) -> FrozenMap[Ref, Ending]:
    """Return the verdicts that led a dead gate back; empty if its record has none."""
    resumed = attempt.plan.resumed
    return failures_found(resumed) if resumed is not None and resumed.back else FrozenMap()


def _failures(ruled: Rulings) -> FrozenMap[Ref, Ending]:
    return FrozenMap(
        (ref, Ending(Outcome.FAILED, verdict.reason, verdict.message, verdict.causes))
        for ref, verdict in ruled.items()
        if verdict is not None and verdict.kind is VerdictKind.FAILED
    )


def _with_irreversible(attempt: Attempt, departed: frozenset[Ref]) -> FrozenMap[Ref, Rejection]:
    """Add what cannot be taken back to the refusals: it is not even sent."""
    stays = irreversible(attempt.plan, attempt.ledger.written, departed)
    return FrozenMap(
        {
            **attempt.writes.refusals,
            **{ref: Rejection(ref, Reason.IRREVERSIBLE, why) for ref, why in stays.items()},
        }
    )


def _missing_members(attempt: Attempt, queue: tuple[PlannedWrite, ...]) -> dict[Ref, Rejection]:
    """Return the members of the set that cannot be restored; none if nothing is applied at all."""
    if not any(write.verb is Verb.APPLY for write in queue):
        return {}
    missing = attempt.plan.target_set.missing
    return {ref: Rejection(ref, Reason.SET_INCOMPLETE, why) for ref, why in missing.items()}


def _why_back(attempt: Attempt) -> Ending | None:
    """Return what led back other than failed verdicts of Deployments, None for nothing else.

    It is a refused write, a signal, a check of a manifest without a Deployment, or the death of
    the gate that began the attempt.
    """
    if attempt.plan.resumed is not None and attempt.plan.resumed.back:
        return why_resumed(attempt.plan.resumed)
    rejection = attempt.writes.rejection
    if rejection is not None:
        cause = refusal_cause(attempt.plan, rejection)
        return Ending(Outcome.FAILED, Reason.APPLY_REJECTED, cause.message, (cause,))
    if attempt.interference.signal_number is None:
        against = health_checks.against_all(attempt)
        if against is None:
            return None
        return Ending(Outcome.FAILED, against.reason, against.message)
    causes = [rollout.causes(attempt.now) for rollout in attempt.workloads.rollouts.values()]
    text = CleanText(f"ended by {signal_name(attempt.interference.signal_number)}")
    return Ending(Outcome.FAILED, Reason.INTERRUPTED, text, sum(causes, ()))


def _recording(attempt: Attempt, _ruled: Rulings) -> Step:
    return _ask_for(attempt, SaveRecord(attempt.requests.next_id, record_now(attempt)))


def _writing(attempt: Attempt, _ruled: Rulings) -> Step:
    if attempt.course.leg is Leg.FORWARD:
        attempt = replace(attempt, writes=replace(attempt.writes, queue=attempt.plan.writes))
    return next_write(attempt)


def _following(attempt: Attempt, _ruled: Rulings) -> Step:
    if attempt.course.leg is Leg.BACK:
        attempt = _with_unchanged(attempt)
    next_read_at = attempt.requests.next_read_at
    if not attempt.now < next_read_at < math.inf:
        next_read_at = attempt.now + attempt.read_interval_seconds
    resting = math.inf
    attempt = replace(
        attempt,
        course=replace(attempt.course, baked_since=resting, confirming_since=resting),
        requests=replace(attempt.requests, next_read_at=next_read_at),
    )
    return health_checks.start_checks(attempt, During.ROLLOUT), ()


def _with_unchanged(attempt: Attempt) -> Attempt:
    """Follow on the way back each Deployment that served before and needs no write to serve again.

    Its configuration may have been restored, so the same predicate has to verify it. A Deployment
    that somebody else changed before our write is theirs and not ours to verify; one that did not
    serve before is not followed either.
    """
    if attempt.plan.policy.on_failure is not OnFailure.ROLLBACK:
        return attempt
    for target in attempt.plan.targets:
        ref, written = target.ref, attempt.ledger.written.get(target.ref)
        snapshot = attempt.workloads.snapshots.get(ref)
        if ref in attempt.interference.departures or not isinstance(target.baseline, Known):
            continue
        if became_theirs(attempt, ref):
            continue
        if snapshot is None or snapshot.live is None or (written is not None and written.changed):
            continue
        set_ = attempt.plan.target_set
        if ref not in attempt.ledger.restored and (ref in set_.bodies or ref in set_.obstacles):
            continue
        applied = applied_found(attempt.now, snapshot.live, changed=False)
        attempt = start_following(attempt, applied, snapshot)
    return attempt


def _baking(attempt: Attempt, _ruled: Rulings) -> Step:
    effects: tuple[Effect, ...] = ()
    if attempt.bake_seconds > 0:
        at_most = "" if attempt.bake_seconds == attempt.plan.policy.bake_seconds else "at most "
        line = f"complete; watching for {at_most}another {attempt.bake_seconds:.0f} s"
        effects = (attempt.say("baking", line),)
    return health_checks.start_checks(
        replace(attempt, course=replace(attempt.course, baked_since=attempt.now)), During.BAKE
    ), effects


def _confirming(attempt: Attempt, ruled: Rulings) -> Step:
    """Read everything with quorum; if the verdict is bad, collect evidence at the same time."""
    failures = find_failed(ruled)
    attempt = replace(
        attempt,
        course=replace(
            attempt.course,
            purpose=Purpose.FAILURE if fails(attempt, ruled) else Purpose.SUCCESS,
            confirming_since=attempt.now,
        ),
        requests=replace(attempt.requests, unread=False),
    )
    effects: list[Effect] = []
    for ref in ruled:
        attempt = _also(attempt, effects, Read(attempt.requests.next_id, ref, whole_rollout=True))
    if attempt.result.evidence or attempt.awaits(Collect):
        return attempt, tuple(effects)
    for ref in sorted(failures):
        trouble = _most_telling(attempt, ref)
        if trouble is not None:
            attempt = _also(attempt, effects, _collect(attempt, ref, trouble))
    return attempt, tuple(effects)


def _collect(attempt: Attempt, ref: Ref, trouble: Trouble) -> Collect:
    previous = trouble.cause in TELLING_CAUSES
    return Collect(attempt.requests.next_id, ref, trouble.pod, trouble.container, previous)


def _most_telling(attempt: Attempt, ref: Ref) -> Trouble | None:
    """Return the trouble whose pod explains most: of the first cause, then the first by name."""
    rollout = attempt.workloads.rollouts[ref]
    rank = {cause.reason: number for number, cause in enumerate(rollout.causes(attempt.now))}
    troubles = (trouble for trouble in rollout.troubles.values() if trouble.cause in rank)
    return min(troubles, key=lambda t: (rank[t.cause], t.pod), default=None)


def _closing(attempt: Attempt, _ruled: Rulings) -> Step:
    closed_now = closed_of(attempt)
    now, decided_at = attempt.now, attempt.result.verdict_at
    unanswered = {
        effect.ref: Undecided(uncertain=True)
        for effect in attempt.requests.outstanding.values()
        if isinstance(effect, Write)
    }
    attempt = with_unread(attempt)
    set_aside = FrozenMap({**attempt.writes.set_aside, **unanswered})
    attempt = replace(
        attempt,
        writes=replace(attempt.writes, set_aside=set_aside, queue=()),
        course=replace(attempt.course, closing_since=now),
        result=replace(attempt.result, verdict_at=now if decided_at is None else decided_at),
        requests=replace(attempt.requests, outstanding=FrozenMap()),
    )
    return _ask_for(attempt, Release(attempt.requests.next_id, closed_now))


def _enter_ended(attempt: Attempt, _ruled: Rulings) -> Step:
    return replace(attempt, requests=replace(attempt.requests, outstanding=FrozenMap())), ()


_ENTER: dict[State, Callable[[Attempt, Rulings], Step]] = {
    State.RECORDING: _recording,
    State.WRITING: _writing,
    State.FOLLOWING: _following,
    State.BAKING: _baking,
    State.CONFIRMING: _confirming,
    State.CLOSING: _closing,
    State.ENDED: _enter_ended,
}


def _ask_for(attempt: Attempt, effect: Asking) -> Step:
    return attempt.with_effect(effect), (effect,)


def _also(attempt: Attempt, effects: list[Effect], effect: Asking) -> Attempt:
    effects.append(effect)
    return attempt.with_effect(effect)
