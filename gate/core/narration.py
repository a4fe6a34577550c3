"""Turns the difference between two attempts into lines of the timeline: what changed, once."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt import Attempt
from gate.core.effects import Announce
from gate.core.machine import State
from gate.core.objects import Ref
from gate.core.rollout import Rollout
from gate.core.snapshot import Snapshot


def narrate(before: Attempt, after: Attempt) -> tuple[Announce, ...]:
    """Return the lines for what `after` has that `before` had not."""
    return tuple(after.say(event, message) for event, message in _changes(before, after))


def _changes(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    if after.signal_number is not None and before.signal_number is None:
        yield "signal", f"signal {after.signal_number} received"
    if after.contact_lost is not None and before.contact_lost is None:
        yield "contact", f"no contact with the API server: {after.contact_lost}"
    if after.contact_lost is None and before.contact_lost is not None:
        yield "contact", "the API server answers again"
    yield from _writes(before, after)
    for ref, rollout in after.rollouts.items():
        yield from _rollout_changes(ref, before.rollouts.get(ref), rollout)


def _writes(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    for ref, written in after.written.items():
        if ref not in before.written:
            action = "created" if written.created else "changed"
            yield "applied", f"{ref} {action if written.changed else 'unchanged'}"
    for ref in after.restored:
        if ref not in before.restored:
            yield "restored", f"{ref} restored"
    for ref in after.deleted[len(before.deleted) :]:
        yield "deleted", f"{ref} deleted"
    if after.retry is not None and before.retry is None and after.state is State.WRITING:
        why = "its answer was lost" if after.retry.uncertain else "it changed since it was read"
        yield "retry", f"{after.queue[0].ref}: {why}; reading again"


def _rollout_changes(ref: Ref, before: Rollout | None, after: Rollout) -> Iterator[tuple[str, str]]:
    if before is None or before.snapshot is after.snapshot:
        return
    live = after.snapshot.live
    if live is None:
        return
    if before.followed_uid != after.followed_uid:
        yield "replicaset", f"{ref}: following {_replica_set_line(after.snapshot)}"
    if _counts(before) != _counts(after):
        yield "progress", f"{ref}: {after.counted(live)}"
    for uid, trouble in after.troubles.items():
        was = before.troubles.get(uid)
        concerns = after.snapshot.pods[uid].pod.owner_uid == after.followed_uid
        if concerns and (was is None or was.cause is not trouble.cause) and trouble.container:
            yield "pod", f"pod/{trouble.pod}: {trouble.cause}: {trouble.message}"
    yield from _denials(ref, before.snapshot, after.snapshot)


def _counts(rollout: Rollout) -> tuple[int, ...]:
    live, current = rollout.snapshot.live, rollout.snapshot.current()
    if live is None:
        return ()
    available = current.available_replicas if current is not None else 0
    return (available, live.replicas, live.updated_replicas, live.status_replicas)


def _replica_set_line(snapshot: Snapshot) -> str:
    current = snapshot.current()
    if current is None:
        return "no ReplicaSet yet"
    images = ", ".join(current.template.images())
    return f"replicaset/{current.name} ({images})"


def _denials(ref: Ref, before: Snapshot, after: Snapshot) -> Iterator[tuple[str, str]]:
    for uid in after.denied_since:
        replica_set = after.replica_sets.get(uid)
        if uid not in before.denied_since and replica_set is not None and replica_set.failure:
            yield "denied", f"{ref}: replicaset/{replica_set.name}: {replica_set.failure.message}"
