"""When a Deployment's rollout is done: for a policy, and with every pod replaced."""

from __future__ import annotations

from gate.core.kinds.deployment.objects import Deployment, ReplicaSet
from gate.core.model.int_or_percent import Share
from gate.core.model.outcome import Reason
from gate.core.rollout.policy import Policy, amount
from gate.core.rollout.workload_kind import CURRENT, View, call_others


def completion(view: View[ReplicaSet], live: Deployment, policy: Policy) -> Reason | None:
    """Return why nothing is left to wait for, None if something is."""
    if not _has_completed(view, live, policy):
        return None
    return Reason.VACUOUS if live.replicas == 0 else Reason.COMPLETE


def _has_completed(view: View[ReplicaSet], live: Deployment, policy: Policy) -> bool:
    """Tell whether all that was asked for is there.

    The caller has checked that the controller observed our generation. The Deployment's counters
    can belong to the previous template for a moment, so the ReplicaSet of the live template has to
    be available by its own count too. `availableReplicas` respects minReadySeconds once the
    ReplicaSet has the Deployment's value and its controller has observed it.
    """
    if policy.requirement.wait_for_termination and _terminating(view, live):
        return False
    if live.replicas == 0:
        return live.status_replicas == 0
    current = view.current()
    if current is None or not _up_to_date(current, live):
        return False
    needed = _count_needed_pods(live, policy)
    if needed < live.replicas:
        is_counted = min(live.updated_replicas, current.available_replicas) >= needed
    else:
        is_counted = (
            _has_counted_all(live)
            and current.available_replicas == current.status_replicas == live.replicas
        )
    return is_counted and live.replicas - _count_unready(view, current) >= needed


def _count_unready(view: View[ReplicaSet], current: ReplicaSet) -> int:
    """Return how many pods say that they are not ready, whatever a stopped controller counted."""
    own = (track for track in view.pods.values() if track.pod.owner_uid == current.uid)
    return sum(track.counts and not track.pod.ready for track in own)


def is_rolled_out(view: View[ReplicaSet], live: Deployment) -> bool:
    """Tell whether no pod is left to replace or to add, however few of them a policy needs."""
    return view.current() is not None and _has_counted_all(live)


def _count_needed_pods(live: Deployment, policy: Policy) -> int:
    """Return how many new pods have to be available: all, unless less was asked for."""
    if policy.requirement.require_min_available:
        unavailable = Share.parse(live.max_unavailable).of(live.replicas, round_up=False)
        return max(1, live.replicas - unavailable)
    return min(
        live.replicas, max(1, amount(policy.requirement.require, live.replicas, live.replicas))
    )


def _up_to_date(current: ReplicaSet, live: Deployment) -> bool:
    """Tell whether the ReplicaSet counts by the Deployment's `minReadySeconds`.

    The deployment controller may report a generation as observed before the ReplicaSet has the new
    value. Fields that nobody read are not held against it.
    """
    if current.min_ready_seconds not in (None, live.min_ready_seconds):
        return False
    return current.generation is None or current.observed_generation >= current.generation


def _terminating(view: View[ReplicaSet], live: Deployment) -> bool:
    """Tell whether pods that were not being deleted before the attempt are, and are still there.

    Servers before 1.33 do not count pods that terminate, and the others count none whose containers
    have ended, as where a finalizer keeps it.
    """
    owned = {replica_set.uid for replica_set in view.list_owned()}
    going = [one for one in view.pods.values() if one.pod.deleting and one.pod.owner_uid in owned]
    before = [one for one in going if not view.starts_to_go(one.pod)]
    counted_before = sum(not one.is_over for one in before)
    return len(going) > len(before) or (live.terminating_replicas or 0) > counted_before


def describe_counts(view: View[ReplicaSet], live: Deployment, which: str = CURRENT) -> str:
    """Describe the progress in one line whose numbers agree with each other.

    All of them come from the ReplicaSets' own status. The Deployment's counters lag behind it, so
    they are not shown beside them. `which` is as in `call_others`.
    """
    current = view.current()
    available = current.available_replicas if current is not None else 0
    there = current.status_replicas if current is not None else 0
    others = sum(one.status_replicas for one in view.list_owned()) - there
    pods = f"{which} pods".strip()
    other = call_others(which)
    parts = [f"{min(available, live.replicas)} of {live.replicas} {pods} available"]
    if there > live.replicas:
        parts.append(f"{there - live.replicas} more than wanted")
    if others:
        remain = "pod remains" if others == 1 else "pods remain"
        parts.append(f"{others} {other} {remain}")
    return ", ".join(parts)


def describe_lag(view: View[ReplicaSet], live: Deployment) -> str:
    """Say that only the Deployment's own counters are not there yet, "" otherwise."""
    current = view.current()
    available = current.available_replicas if current is not None else 0
    there = sum(one.status_replicas for one in view.list_owned())
    if available == there == live.replicas and not _has_counted_all(live):
        return ", not yet in the Deployment's status"
    return ""


def _has_counted_all(live: Deployment) -> bool:
    updated, available = live.updated_replicas, live.available_replicas
    return updated == available == live.status_replicas == live.replicas
