"""Turns what changed between two values of an attempt into timeline lines, each change once."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gate.core.attempt.awaited_objects import find_awaited, readiness_of
from gate.core.attempt.dropped_fields import DroppedFields
from gate.core.attempt.parts import Retry, Undecided
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.fact import Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.naming import Naming
from gate.core.model.objects import Ref, Revision, Workload
from gate.core.model.readiness import ReadinessKind
from gate.core.model.signal_names import signal_name
from gate.core.plan.leg import Leg
from gate.core.plan.plan import describe_use
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.protocol.effects import Announce
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.snapshot import Snapshot
from gate.core.states.late_writes import has_version_of_open_write
from gate.core.states.lines import Line, describe_refusals
from gate.core.states.unblocking import describe_replacements, describe_waits
from gate.core.writes.lost_needs import find_dropped, find_lost_need
from gate.core.writes.results import has_restored
from gate.core.writes.returned_by_others import describe_returned

_MOST_EVENT_CHARACTERS = 10
"""The width of the column of events."""


def narrate(before: Attempt, after: Attempt) -> tuple[Announce, ...]:
    """Return the lines for what is new in `after`."""
    if after is before:
        return ()
    lines = (after.say(event, message) for event, message in _changes(before, after))
    return (*lines, *describe_waits(before, after))


def describe_situation(name: str, snapshot: Snapshot, count: str = "") -> Iterator[Line]:
    """Yield timeline events and lines for the situation before anything has changed.

    `count` is the progress in words; a rollout may know it better than `snapshot`.
    """
    live, current = snapshot.live, snapshot.current()
    if live is None:
        return
    revision = f", revision {current.revision}" if current and current.revision else ""
    yield _event(snapshot), f"{name}: following {_revision_line(snapshot)}{revision}"
    yield "progress", f"{name}: {count or snapshot.kind.describe_counts(snapshot, live)}"


def _changes(before: Attempt, after: Attempt) -> Iterator[Line]:
    if after.interference.signal_number is not None and before.interference.signal_number is None:
        yield "signal", f"{signal_name(after.interference.signal_number)} received"
    yield from _contact(before, after)
    for ref, departure in after.interference.departures.items():
        if ref not in before.interference.departures:
            event = "late" if _may_be_late(after, ref) else "superseded"
            yield event, f"{after.plan.name_of(ref)}: {departure.message}"
    if after.interference.departures is not before.interference.departures:
        yield from _narrate_dropped(before, after)
    yield from _writes(before, after)
    yield from describe_replacements(before, after)
    yield from _narrate_objects(before, after)
    yield from _narrate_measurements(before, after)
    was, now = before.workloads.rollouts, after.workloads.rollouts
    if was is not now:
        for ref, rollout in now.changed_since(was):
            yield from _rollout_changes(ref, after.plan.name_of, was.get(ref), rollout)


def _may_be_late(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a write of our own, under way until now, may have changed a workload."""
    rollout = attempt.workloads.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    return live is not None and has_version_of_open_write(attempt, ref, live)


def _narrate_dropped(before: Attempt, after: Attempt) -> Iterator[Line]:
    """Yield what will never be written, now that somebody else took what it comes after."""
    new = find_dropped(after) - find_dropped(before)
    for ref in (target.ref for target in after.plan.targets if target.ref in new):
        needed = find_lost_need(after, ref)
        if needed is not None and after.course.leg is Leg.FORWARD:
            name = after.plan.name_of
            yield "dropped", f"{name(ref)} will not be written: it comes after {name(needed)}"


def _contact(before: Attempt, after: Attempt) -> Iterator[Line]:
    slept = after.interference.suspended_seconds - before.interference.suspended_seconds
    if slept > 0:
        text = "the gate itself stood still, for up to"
        yield "suspended", f"{text} {slept:.0f} s, which no budget and no bake window counts"
    was, now = before.interference.contact, after.interference.contact
    if now.refusal is not None and was.refusal is None:
        yield "contact", now.refusal.describe()
    for what, refusal in now.refusals.items():
        if what not in was.refusals:
            yield "contact", f"refused, retrying: {refusal.why}"
    if now.lost is not None and was.lost is None:
        yield "contact", f"{now.lost.describe(after.now)}{_describe_silence(after)}"
    if now.lost is None and was.lost is not None:
        yield "contact", "the API server serves requests again"
    if after.requests.unreadable and not before.requests.unreadable:
        yield "unread", "the live state could not be read; retrying"


def _describe_silence(attempt: Attempt) -> str:
    """Say since when nothing was seen, and that this does not end the attempt."""
    if attempt.course.state in (State.CLOSING, State.ENDED):
        return ""
    seconds = attempt.now - attempt.interference.contact.facts_at
    is_silent = math.isfinite(seconds) and seconds >= 1
    seen = f"; nothing was seen for {seconds:.0f} s" if is_silent else ""
    return f"{seen}; the gate goes on, and asks again"


def _narrate_objects(before: Attempt, after: Attempt) -> Iterator[Line]:
    """Yield what a read shows of an object that is waited for, if it shows something new."""
    if before.ledger.live is after.ledger.live:
        return
    for ref in find_awaited(before):
        was, now = readiness_of(before, ref), readiness_of(after, ref)
        if was == now:
            continue
        match now.kind:
            case ReadinessKind.READY:
                yield "ready", f"{after.plan.name_of(ref)} is ready"
            case ReadinessKind.NOT_YET | ReadinessKind.FAILED:
                yield "object", f"{after.plan.name_of(ref)}: {now.why}"


def _narrate_measurements(before: Attempt, after: Attempt) -> Iterator[Line]:
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


def _writes(before: Attempt, after: Attempt) -> Iterator[Line]:
    if after.ledger.written is not before.ledger.written:
        for ref, written in after.ledger.written.items():
            if ref not in (*before.ledger.written, *before.ledger.left_to_others):
                yield "applied", f"{after.plan.name_of(ref)} {_what_was_done(written)}"
    for ref in after.ledger.restored:
        if ref not in before.ledger.restored:
            done = "restored" if has_restored(after, ref) else "kept"
            yield done, describe_returned(after, ref) or f"{after.plan.name_of(ref)} {done}"
    for ref in after.ledger.patched[len(before.ledger.patched) :]:
        paused = after.plan.policy.response.on_failure is OnFailure.PAUSE
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


def _how_it_stays(before: Attempt, after: Attempt, ref: Ref) -> str:
    """Say what is not done to an object that others use, "" where it is done all the same."""
    ahead = [write for write in before.writes.queue if write.ref == ref]
    is_open = isinstance(after.plan.held[ref], Unknown) and not ahead
    if is_open or any(write.ref == ref for write in after.writes.queue):
        return ""
    return "is not deleted" if any(one.verb is Verb.DELETE for one in ahead) else "does not go back"


def _troubled_writes(before: Attempt, after: Attempt) -> Iterator[Line]:
    for ref in after.ledger.left_to_others[len(before.ledger.left_to_others) :]:
        did = "changed" if ref in after.ledger.live else "deleted"
        yield "left", f"{after.plan.name_of(ref)}: somebody else {did} it since; left alone"
    yield from _uses_of_others(before, after)
    yield from describe_refusals(before, after)
    for ref, dropped in after.ledger.dropped.items():
        if ref in after.ledger.restored and ref not in before.ledger.restored:
            yield from _describe_dropped(after.plan.name_of(ref), dropped)
    for ref, paths in after.ledger.kept_paths.items():
        if ref not in before.ledger.kept_paths:
            added = f"another run of the gate has added {', '.join(paths)}"
            yield "kept", f"{after.plan.name_of(ref)}: {added}; kept"
    retry, queue = after.writes.retry, after.writes.queue
    if retry is not None and queue and _is_news(before, after, queue[0].ref):
        name = after.plan.name_of(queue[0].ref)
        yield "retry", f"{name}: {_why_again(after, retry)}; reading again"


def _uses_of_others(before: Attempt, after: Attempt) -> Iterator[Line]:
    """Yield what the answer of the Leases changes about the way back."""
    for ref, held in after.plan.held.items():
        if ref not in before.plan.held and (stays := _how_it_stays(before, after, ref)):
            yield "kept", f"{after.plan.name_of(ref)} {stays}: {describe_use(held)}"
    for ref, state in after.plan.target_set.other_run_returns.items():
        if ref not in before.plan.target_set.other_run_returns:
            yield "rollback", f"{after.plan.name_of(ref)} goes back to {state}"


def _describe_dropped(name: str, dropped: DroppedFields) -> Iterator[Line]:
    """Say what the way back of an object left, once it is written."""
    if dropped.theirs:
        yield "dropped", f"{name}: left as others have it: {', '.join(dropped.theirs)}"
    if dropped.unfit:
        unfit = ", ".join(dropped.unfit)
        yield "dropped", f"{name}: not returned, since it does not fit beside that: {unfit}"


def _why_again(attempt: Attempt, retry: Retry) -> str:
    if retry.refused is not None:
        return "the server refused it"
    if not retry.uncertain:
        return "the server answered 409 Conflict"
    return _describe_doubt(attempt, attempt.writes.queue[0].ref)


def _describe_doubt(attempt: Attempt, ref: Ref) -> str:
    doubt = attempt.requests.doubts.get(ref)
    return doubt.describe() if doubt is not None else ""


def _is_news(before: Attempt, after: Attempt, ref: Ref) -> bool:
    """Tell whether the retry of the next write to an object is new since `before`.

    What came in place of a clear answer is said once, until it changes.
    """
    retry = after.writes.retry
    if retry is not None and retry.uncertain and retry.refused is None:
        return _describe_doubt(before, ref) != _describe_doubt(after, ref)
    if before.writes.queue and before.writes.queue[0].ref == ref:
        return before.writes.retry is None
    return before.writes.set_aside.get(ref, Undecided()).retry is None


def _rollout_changes(
    ref: Ref, name: Naming, before: Rollout | None, after: Rollout
) -> Iterator[Line]:
    if before is None:
        # The watches may have shown the new ReplicaSet before the answer to our write came.
        if after.followed_uid:
            yield from describe_situation(name(ref), after.snapshot, _count(after))
        return
    live = after.snapshot.live
    if live is None or before.snapshot is after.snapshot:
        return
    is_other = before.followed_uid != after.followed_uid
    if is_other:
        followed = _revision_line(after.snapshot)
        yield _event(after.snapshot), f"{name(ref)}: following {followed}"
    else:
        yield from _narrate_revisions(ref, name, before.snapshot, after.snapshot)
    if is_other or (_is_recounted(before, after) and _count(before) != _count(after)):
        yield "progress", f"{name(ref)}: {_count(after)}"
    was = before.snapshot.live
    if was is not None and was.paused != live.paused:
        yield _describe_pause(name(ref), live, after.snapshot.kind.pause_word)
    if before.troubles is not after.troubles:
        yield from _troubles(before, after)
    if before.snapshot.denied_since is not after.snapshot.denied_since:
        yield from _denials(ref, name, before.snapshot, after.snapshot)


def _describe_pause(name: str, live: Workload, paused: str) -> Line:
    """Return the line of a pause that begins or ends: all that waits for it stands still."""
    if live.paused:
        return "paused", f"{name} is {paused}: it does not progress until it is resumed"
    return "resumed", f"{name} continues: it was resumed"


def _troubles(before: Rollout, after: Rollout) -> Iterator[Line]:
    known = before.troubles
    for uid, trouble in after.troubles.items():
        was = known.get(uid)
        if was is trouble or not trouble.container:
            continue
        if was is None or was.cause is not trouble.cause:
            yield "pod", f"pod/{trouble.pod}: {trouble.cause}: {trouble.message}"


def _narrate_revisions(ref: Ref, name: Naming, before: Snapshot, after: Snapshot) -> Iterator[Line]:
    """Report that the controller gave the next number to a revision that it uses again."""
    was, now = before.current(), after.current()
    if was is None or now is None or not was.revision or not now.revision:
        return
    if was.revision != now.revision:
        said = f"is revision {now.revision} now, was revision {was.revision}"
        yield _event(after), f"{name(ref)}: {_revision_name(after, now)} {said}"


def _is_recounted(before: Rollout, after: Rollout) -> bool:
    """Tell whether the count may differ: most observations are of pods, which few kinds count."""
    was, now = before.snapshot, after.snapshot
    if now.kind.pods_show_progress and was.pods is not now.pods:
        return True
    return was.workload is not now.workload or was.revisions is not now.revisions


def _count(rollout: Rollout) -> str:
    live = rollout.snapshot.live
    return rollout.count(live) if live is not None else ""


def _event(snapshot: Snapshot) -> str:
    """Return the event of lines about revisions: their kind, as in `replicaset`, if it is short."""
    name = snapshot.kind.revision_kind.lower()
    return name if len(name) <= _MOST_EVENT_CHARACTERS else "revision"


def _revision_name(snapshot: Snapshot, revision: Revision) -> str:
    return f"{snapshot.kind.revision_kind.lower()}/{revision.name}"


def _revision_line(snapshot: Snapshot) -> str:
    current = snapshot.current()
    if current is None:
        return f"no {snapshot.kind.revision_kind} yet"
    images = ", ".join(current.template.images())
    return f"{_revision_name(snapshot, current)} ({images})"


def _denials(ref: Ref, name: Naming, before: Snapshot, after: Snapshot) -> Iterator[Line]:
    """Yield what newly denies pods of this workload, for each revision that it owns.

    A snapshot has all revisions of the namespace.
    """
    new = after.denied_since.keys() - before.denied_since.keys()
    for one in after.list_owned():
        if one.failure and one.uid in new:
            yield "denied", f"{name(ref)}: {_revision_name(after, one)}: {one.failure.message}"
