"""A way back on which nothing moves until a person acts: to wait for its budget would be no use."""

from __future__ import annotations

from collections.abc import Iterable

from gate.core.model.objects import Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause, Trouble, order_causes, trouble_of
from gate.core.rollout.controller_faults import cause_of_pod_left
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import BlockedPods, OnDelete, Policy
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.verdict import Verdict, VerdictKind

DEAD_END_SECONDS = 10.0
"""How long nothing has moved before a way back that only a person can go on with is given up."""


def find_dead_end(
    snapshot: Snapshot,
    live: Workload,
    policy: Policy,
    causes: Iterable[Cause],
    last_clock: float,
    clock: float,
) -> Verdict | None:
    """Return that a way back ends at a pod, which is among its `causes`; None if it may go on.

    All others are as they should be, the controller leaves this one, and neither may the gate
    replace it. It is of the version that is taken back, or it cannot recover, or its update
    strategy leaves it to people. `last_clock` is when something last moved, `clock` the time now,
    both by the clock of `Blindness`.
    """
    if clock < last_clock + DEAD_END_SECONDS:
        return None
    why = _find_pod_in_the_way(snapshot, live, policy, clock)
    why = why or _find_pod_left_to_people(snapshot, live, policy, clock)
    if why is None:
        return None
    others = (one for one in causes if (one.reason, one.subject) != (why.reason, why.subject))
    every = order_causes(dict.fromkeys((why, *others)))
    return Verdict(VerdictKind.FAILED, why.reason, why.message, every)


def _find_pod_in_the_way(
    snapshot: Snapshot, live: Workload, policy: Policy, clock: float
) -> Cause | None:
    kind = snapshot.kind
    limits = kind.fail_fast(policy.fail_fast)
    blocking = kind.find_blocking_pod(snapshot, live, limits)
    if blocking is None or not blocking.is_last:
        return None
    trouble = blocking.trouble
    if not blocking.is_taken_back and (trouble is None or clock < trouble.ripe_at):
        return None
    if not blocking.obstacle and policy.response.blocked_pods is not BlockedPods.NEVER:
        return None
    faults = kind.faults(snapshot, live, limits)
    return next((one.cause() for one in faults if one.reason is Reason.BLOCKED_BY_POD), None)


def _find_pod_left_to_people(
    snapshot: Snapshot, live: Workload, policy: Policy, clock: float
) -> Cause | None:
    """Return a pod of another version that by OnDelete only a person replaces.

    Without `--on-delete wait` one that works may stay; one that cannot recover is in the way.
    """
    if not live.leaves_old_pods or not snapshot.current_key:
        return None
    nodes, key_of = snapshot.nodes, snapshot.kind.key_of_pod
    own = [track for track in snapshot.pods.values() if track.pod.owner_uid == live.uid]
    alive = [one for one in own if not nodes.are_known or nodes.is_ready(one.pod.node)]
    others = [one for one in alive if key_of(one.pod) != snapshot.current_key]
    is_moving = any(one.pod.deleting or (one not in others and not one.pod.ready) for one in alive)
    is_ours = any(snapshot.has_moved(one.pod, snapshot.taken_back) for one in others)
    if is_moving or is_ours:
        return None
    is_each_awaited = policy.requirement.on_delete is OnDelete.WAIT
    for one in sorted(others, key=lambda one: (one.pod.ready, one.pod.name)):
        trouble = _trouble_of(snapshot, one, policy)
        if is_each_awaited or (trouble is not None and clock >= trouble.ripe_at):
            alike = (track.pod for track in others) if is_each_awaited else ()
            return cause_of_pod_left(one.pod, alike, trouble)
    return None


def _trouble_of(snapshot: Snapshot, track: PodTrack, policy: Policy) -> Trouble | None:
    """Return what is wrong with a pod of another version, by the template that it has."""
    kind = snapshot.kind
    key = kind.key_of_pod(track.pod)
    of_version = (one for one in snapshot.list_owned() if kind.key_of_revision(one) == key)
    revision = next(of_version, None)
    if revision is None:
        return None
    limits = kind.fail_fast(policy.fail_fast)
    return trouble_of(track.with_all_restarts(), revision.template, limits)
