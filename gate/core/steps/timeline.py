"""Turns what changed between two values of an attempt into timeline lines, each change once."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt import health_checks
from gate.core.attempt.state import Attempt, Retry, Undecided
from gate.core.attempt.transitions import State, Trigger
from gate.core.checks.run import ConclusionKind
from gate.core.endings.differences import differences
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.naming import Naming
from gate.core.model.objects import Ref, Revision
from gate.core.model.signal_names import signal_name
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.protocol.effects import Announce
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.verdict import VerdictKind
from gate.core.steps.triggers import Rulings


def narrate(before: Attempt, after: Attempt) -> tuple[Announce, ...]:
    """Return the lines for what is new in `after`."""
    if after is before:
        return ()
    return tuple(after.say(event, message) for event, message in _changes(before, after))


def standing(name: str, snapshot: Snapshot, count: str = "") -> Iterator[tuple[str, str]]:
    """Yield timeline events and lines for the situation before anything has changed.

    `count` is the progress in words; a rollout may know it better than `snapshot`.
    """
    live, current = snapshot.live, snapshot.current()
    if live is None:
        return
    revision = f", revision {current.revision}" if current and current.revision else ""
    yield "replicaset", f"{name}: following {_replica_set_line(snapshot)}{revision}"
    yield "progress", f"{name}: {count or snapshot.kind.describe_counts(snapshot, live)}"


def narrate_move(
    before: Attempt, trigger: Trigger, after: Attempt, ruled: Rulings
) -> tuple[Announce, ...]:
    """Return the lines for a transition."""
    return tuple(after.say(event, line) for event, line in _move(before, trigger, after, ruled))


def _move(
    before: Attempt, trigger: Trigger, after: Attempt, ruled: Rulings
) -> Iterator[tuple[str, str]]:
    if trigger is Trigger.REFUTED and not before.requests.unread:
        yield "refuted", "a second read did not bear the verdict out; going on"
    if trigger is Trigger.BAKED and before.course.leg is Leg.FORWARD:
        yield from _not_passed(before)
    if trigger in (Trigger.RETREAT, Trigger.CONFIRMED):
        yield from _failures(before, ruled)
    if trigger is Trigger.REJECTED or (trigger is Trigger.RETREAT and before.writes.rejection):
        rejection = before.writes.rejection
        if rejection is not None:
            yield "rejected", f"{after.plan.name_of(rejection.ref)}: {rejection.message}"
    if trigger is Trigger.RETREAT:
        said = (_way_back(after, w) for w in after.writes.queue if w.verb is not Verb.TAKE_OVER)
        yield "rollback", "; ".join(said)
        yield from _refusals(before, after)
    if after.course.state is State.CLOSING:
        for line in differences(after):
            yield "differs", line


def _not_passed(attempt: Attempt) -> Iterator[tuple[str, str]]:
    for said in health_checks.conclusions(attempt):
        if said.kind is not ConclusionKind.PASS:
            yield "check", f"{said.check}: {said.kind}: {said.message}"


def _failures(attempt: Attempt, ruled: Rulings) -> Iterator[tuple[str, str]]:
    against = health_checks.against_all(attempt)
    if against is not None:
        yield "failed", f"{against.reason}: {against.message}"
    for ref, verdict in ruled.items():
        if verdict is not None and verdict.kind is VerdictKind.FAILED:
            yield "failed", f"{attempt.plan.name_of(ref)}: {verdict.reason}: {verdict.message}"


def _way_back(attempt: Attempt, write: PlannedWrite) -> str:
    """Say what one write of the way back does."""
    match write.verb:
        case Verb.DELETE:
            return f"deleting {attempt.plan.name_of(write.ref)}"
        case Verb.MERGE if "paused" in write.body.thaw()["spec"]:
            return f"pausing {attempt.plan.name_of(write.ref)}"
        case Verb.MERGE:
            return f"scaling {attempt.plan.name_of(write.ref)} to zero"
        case _:
            return _return_to(attempt, write.ref)


def _return_to(attempt: Attempt, ref: Ref) -> str:
    for target in attempt.plan.targets:
        if target.ref == ref and isinstance(target.baseline, Known):
            baseline = target.baseline.value
            images = ", ".join(baseline.template.images())
            return (
                f"returning {attempt.plan.name_of(ref)} to revision {baseline.revision} ({images})"
            )
    return f"restoring {attempt.plan.name_of(ref)}"


def _changes(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    if after.interference.signal_number is not None and before.interference.signal_number is None:
        yield "signal", f"{signal_name(after.interference.signal_number)} received"
    yield from _contact(before, after)
    for ref, departure in after.interference.departures.items():
        if ref not in before.interference.departures:
            yield "superseded", f"{after.plan.name_of(ref)}: {departure.message}"
    yield from _writes(before, after)
    yield from _narrate_measurements(before, after)
    was, now = before.workloads.rollouts, after.workloads.rollouts
    if was is not now:
        for ref, rollout in now.changed_since(was):
            yield from _rollout_changes(ref, after.plan.name_of, was.get(ref), rollout)


def _contact(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    was, now = before.interference.contact, after.interference.contact
    if now.refusal is not None and was.refusal is None:
        yield "contact", f"the API server refuses us: {now.refusal.why}"
    for what, refusal in now.refusals.items():
        if what not in was.refusals:
            yield "contact", f"refused, asking again: {refusal.why}"
    if now.lost is not None and was.lost is None:
        yield "contact", f"no contact with the API server: {now.lost}"
    if now.lost is None and was.lost is not None:
        yield "contact", "the API server answers again"
    if after.requests.unreadable and not before.requests.unreadable:
        yield "unread", "what runs could not be read; asking again"


def _narrate_measurements(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    """Yield a check's first measurement, and each one that differs in kind from the one before.

    A tick at which nothing could be asked is no measurement: early in a rollout that is usual.
    """
    if after.health.checks is before.health.checks:
        return
    for name, run in after.health.checks.items():
        earlier = before.health.checks.get(name)
        if run.last is None or (earlier is not None and earlier.tally == run.tally):
            continue
        was = earlier.last_kind if earlier is not None else None
        if run.last_kind is not was:
            yield "check", f"{name}: {run.last.kind}: {run.last.message}"


def _writes(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    if after.ledger.written is not before.ledger.written:
        for ref, written in after.ledger.written.items():
            if ref not in before.ledger.written:
                yield "applied", f"{after.plan.name_of(ref)} {_what_was_done(written)}"
    for ref in after.ledger.restored:
        if ref not in before.ledger.restored:
            yield "restored", f"{after.plan.name_of(ref)} restored"
    for ref in after.ledger.patched[len(before.ledger.patched) :]:
        paused = after.plan.policy.on_failure is OnFailure.PAUSE
        yield "patched", f"{after.plan.name_of(ref)} {'paused' if paused else 'scaled to zero'}"
    for ref in after.ledger.deleted[len(before.ledger.deleted) :]:
        yield "deleted", f"{after.plan.name_of(ref)} deleted"
    yield from _troubled_writes(before, after)


def _what_was_done(written: WrittenObject) -> str:
    if written.creator_unknown:
        return "is there; the answer to its creation was lost"
    if not written.changed:
        return "unchanged"
    return "created" if written.created else "changed"


def _troubled_writes(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    for ref in after.ledger.left_alone[len(before.ledger.left_alone) :]:
        did = "changed" if ref in after.ledger.live else "deleted"
        yield "left", f"{after.plan.name_of(ref)}: somebody else {did} it since; left alone"
    for ref, why in after.plan.held.items():
        if ref not in before.plan.held:
            yield "kept", f"{after.plan.name_of(ref)} is not deleted: {why}"
    yield from _refusals(before, after)
    for ref, paths in after.ledger.dropped_paths.items():
        known = before.ledger.dropped_paths.get(ref, ())
        if paths != known:
            dropped = ", ".join(paths[len(known) :])
            yield "dropped", f"{after.plan.name_of(ref)}: left as others have changed it: {dropped}"
    for ref, paths in after.ledger.kept_paths.items():
        if ref not in before.ledger.kept_paths:
            added = f"another run of the gate has added {', '.join(paths)}"
            yield "kept", f"{after.plan.name_of(ref)}: {added}; kept"
    retry = after.writes.retry
    if (
        retry is not None
        and after.course.state is State.WRITING
        and _is_news(before, after.writes.queue[0].ref)
    ):
        yield (
            "retry",
            f"{after.plan.name_of(after.writes.queue[0].ref)}: {_why_again(retry)}; reading again",
        )


def _why_again(retry: Retry) -> str:
    if retry.refused is not None:
        return "the server refused it"
    return "its answer was lost" if retry.uncertain else "it changed since it was read"


def _is_news(before: Attempt, ref: Ref) -> bool:
    """Tell whether the retry of the next write to an object is new since `before`."""
    if before.writes.queue and before.writes.queue[0].ref == ref:
        return before.writes.retry is None
    return before.writes.set_aside.get(ref, Undecided()).retry is None


def _refusals(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    for ref, refusal in after.writes.refusals.items():
        if ref not in before.writes.refusals:
            yield "refused", f"{after.plan.name_of(ref)}: {refusal.message}"


def _rollout_changes(
    ref: Ref, name: Naming, before: Rollout | None, after: Rollout
) -> Iterator[tuple[str, str]]:
    if before is None:
        # The watches may have shown the new ReplicaSet before the answer to our write came.
        if after.followed_uid:
            yield from standing(name(ref), after.snapshot, _count(after))
        return
    live = after.snapshot.live
    if live is None or before.snapshot is after.snapshot:
        return
    is_other = before.followed_uid != after.followed_uid
    if is_other:
        yield "replicaset", f"{name(ref)}: following {_replica_set_line(after.snapshot)}"
    else:
        yield from _narrate_revisions(
            ref, name, before.snapshot.current(), after.snapshot.current()
        )
    if is_other or (_is_recounted(before, after) and _count(before) != _count(after)):
        yield "progress", f"{name(ref)}: {_count(after)}"
    if before.troubles is not after.troubles:
        yield from _troubles(before, after)
    if before.snapshot.denied_since is not after.snapshot.denied_since:
        yield from _denials(ref, name, before.snapshot, after.snapshot)


def _troubles(before: Rollout, after: Rollout) -> Iterator[tuple[str, str]]:
    known = before.troubles
    for uid, trouble in after.troubles.items():
        was = known.get(uid)
        if was is trouble or not trouble.container:
            continue
        if was is None or was.cause is not trouble.cause:
            yield "pod", f"pod/{trouble.pod}: {trouble.cause}: {trouble.message}"


def _narrate_revisions(
    ref: Ref, name: Naming, before: Revision | None, after: Revision | None
) -> Iterator[tuple[str, str]]:
    """Report that the controller gave the next revision to a ReplicaSet that it uses again."""
    if before is None or after is None or not before.revision or not after.revision:
        return
    if before.revision != after.revision:
        now, was = f"is revision {after.revision} now", f"was revision {before.revision}"
        yield "replicaset", f"{name(ref)}: replicaset/{after.name} {now}, {was}"


def _is_recounted(before: Rollout, after: Rollout) -> bool:
    """Tell whether the count may differ: most observations are of pods, which it does not count."""
    was, now = before.snapshot, after.snapshot
    return was.workload is not now.workload or was.revisions is not now.revisions


def _count(rollout: Rollout) -> str:
    live = rollout.snapshot.live
    return rollout.count(live) if live is not None else ""


def _replica_set_line(snapshot: Snapshot) -> str:
    current = snapshot.current()
    if current is None:
        return "no ReplicaSet yet"
    images = ", ".join(current.template.images())
    return f"replicaset/{current.name} ({images})"


def _denials(
    ref: Ref, name: Naming, before: Snapshot, after: Snapshot
) -> Iterator[tuple[str, str]]:
    """Yield what newly denies pods of this Deployment, for each ReplicaSet that it owns.

    A snapshot has all ReplicaSets of the namespace.
    """
    told = before.denied_since
    for replica_set in after.list_owned():
        if replica_set.failure and replica_set.uid in after.denied_since.keys() - told.keys():
            yield (
                "denied",
                f"{name(ref)}: replicaset/{replica_set.name}: {replica_set.failure.message}",
            )
