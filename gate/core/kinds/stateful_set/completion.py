"""When a StatefulSet's rollout is done, for its strategy and a policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.stateful_set import left_behind
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.kinds.stateful_set.reasons import StatefulSetReason
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import Pod, Revision
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.policy import OnDelete, Policy, amount
from gate.core.rollout.workload_kind import CURRENT, View, call_others


def completion(
    view: View[ControllerRevision], live: StatefulSet, policy: Policy
) -> AnyReason | None:
    """Return why nothing is left to wait for, None if something is.

    The caller has checked that the controller observed our generation: it writes all of its status
    at once. `availableReplicas` respects minReadySeconds.
    """
    if policy.requirement.wait_for_termination and _is_terminating(view, live):
        return None
    if live.replicas == 0:
        return Reason.VACUOUS if live.status_replicas == 0 else None
    if not left_behind.are_replaced(view, live):
        return None
    to_update = live.to_update
    if live.on_delete and policy.requirement.on_delete is OnDelete.WAIT:
        to_update = live.replicas
    # All pods may run the new revision before the status says so.
    if max(live.updated_replicas, len(_find_new(view, live))) >= live.replicas:
        to_update = live.replicas
    if not to_update:
        return Reason.NO_ROLLOUT if _is_whole(view, live) else None
    needed = min(to_update, _count_needed_pods(live, policy))
    if needed < to_update:
        is_enough = _count_available_of_highest(view, live, to_update) >= needed
        is_stopped = left_behind.is_stopped_at_any(view, live)
        return _reason_of_completion(live, to_update) if is_enough and not is_stopped else None
    if not (_are_highest_updated(view, live, to_update) and _is_whole(view, live)):
        return None
    if to_update == live.replicas and not (live.on_delete or _is_settled(live)):
        return None
    return _reason_of_completion(live, to_update)


def is_rolled_out(view: View[ControllerRevision], live: StatefulSet) -> bool:
    """Tell whether no pod is left to replace or to add, however few of them a policy needs."""
    return _are_highest_updated(view, live, live.to_update) and _is_whole(view, live)


def count_wanted(view: View[ControllerRevision], live: StatefulSet) -> int:
    """Return how many pods are to run the new revision: those that do below a partition as well.

    More than `to_update` do where the partition was raised since, or the revision came back.
    """
    own = live.own_pods(view.pods.values())
    if not own:
        return min(max(live.to_update, live.updated_replicas), live.replicas)
    reached = set(range(live.replicas - live.to_update, live.replicas))
    return len(
        reached | live.find_places(own, lambda pod: pod.revision_label == live.update_revision)
    )


def count_new_available(view: View[ControllerRevision], live: StatefulSet) -> int:
    """Return how many pods of the new revision are available.

    The status counts available pods of all revisions together; which of the others are among them
    only the pods tell. Where it is late, no more are available than are ready.
    """
    own = live.own_pods(view.pods.values())
    others = live.status_replicas - live.updated_replicas
    most = live.updated_replicas
    if own:
        is_other = (track.pod.revision_label != live.update_revision for track in own)
        others = sum(track.pod.ready and other for track, other in zip(own, is_other, strict=True))
        most = min(most, len(_find_new(view, live)))
    return max(0, min(most, live.available_replicas - others))


def describe_counts(view: View[ControllerRevision], live: StatefulSet, which: str = CURRENT) -> str:
    """Describe the progress in one line.

    `which` is as in `call_others`.
    """
    if not live.is_observed:
        return "the controller has not seen the change yet"
    terminating = [track.pod for track in live.own_pods(view.pods.values()) if track.pod.deleting]
    # The status counts a pod that terminates, but not among those that are updated.
    of_target = sum(pod.revision_label == live.update_revision for pod in terminating)
    others = max(0, live.status_replicas - live.updated_replicas - of_target)
    if live.replicas and not live.to_update and others:
        why = "OnDelete" if live.on_delete else f"partition {live.partition} of {live.replicas}"
        runs = f"{live.updated_replicas} of {live.replicas} pods run the live template"
        lack = f"; {live.available_replicas} of {live.replicas} pods are available"
        whole = _is_whole(view, live)
        return f"{runs}, and the controller replaces none ({why}){'' if whole else lack}"
    pods = f"{which} pods".strip()
    wanted = live.replicas
    if others and live.to_update:
        wanted = count_wanted(view, live)
    parts = [f"{min(count_new_available(view, live), wanted)} of {wanted} {pods} available"]
    if wanted < live.replicas:
        stay = live.replicas - wanted
        parts += _describe_staying(view, live, stay)
        others -= stay
    if others > 0:
        other = call_others(which)
        parts.append(f"{others} {other} {'pod remains' if others == 1 else 'pods remain'}")
    return ", ".join(parts)


def _describe_staying(
    view: View[ControllerRevision], live: StatefulSet, count: int
) -> Iterator[str]:
    """Say at which revisions the pods below the partition stay: several, if it moved before."""
    own = (track.pod for track in live.own_pods(view.pods.values()))
    held = (pod for pod in own if (index := live.index_of(pod)) is not None and live.holds(index))
    seen = Counter(pod.revision_label for pod in held if pod.revision_label)
    del seen[live.update_revision]
    if seen.total() != count:
        seen = Counter({live.current_revision or "the revision before": count})
    for revision, number in seen.most_common():
        yield f"{number} {'pod stays' if number == 1 else 'pods stay'} at {revision}"


def describe_lag(view: View[ControllerRevision], live: StatefulSet) -> str:
    """Name a pod that terminates, for which the controller waits, "" for none."""
    terminating = (one.pod for one in live.own_pods(view.pods.values()) if one.pod.deleting)
    return next((f", pod/{pod.name} is terminating" for pod in terminating), "")


def find_serving(view: View[ControllerRevision], live: StatefulSet) -> Fact[Revision]:
    """Return the current revision if it serves, and no other does where it should.

    A pod serves if it is ready. Below the partition pods stay at an older revision, and are as
    they should be. A scaling in its midst, which the controller may not have seen yet, or a missing
    pod do not disqualify it.
    """
    current = view.current()
    if current is None or not live.available_replicas:
        return Absent()
    own = live.own_pods(view.pods.values())
    ready = [track.pod for track in own if track.pod.ready and track.counts]
    held = set() if live.on_delete else set(range(live.partition))
    in_reach = [pod for pod in ready if live.index_of(pod) not in held]
    if not ready or any(pod.revision_label != current.name for pod in in_reach or ready):
        return Absent()
    return Known(current)


def _count_needed_pods(live: StatefulSet, policy: Policy) -> int:
    """Return how many new pods have to be available: all, unless less was asked for."""
    requirement = policy.requirement
    if requirement.require_min_available:
        unavailable = Share.parse(live.max_unavailable).of(live.replicas, round_up=True)
        return max(1, live.replicas - unavailable)
    return min(live.replicas, max(1, amount(requirement.require, live.replicas, live.replicas)))


def _count_available_of_highest(
    view: View[ControllerRevision], live: StatefulSet, count: int
) -> int:
    """Return how many of the highest `count` pods are available, of the new revision."""
    available = count_new_available(view, live)
    if not live.own_pods(view.pods.values()):
        return available
    highest = set(range(live.replicas - count, live.replicas))
    return min(available, len(highest & _find_new(view, live)))


def _are_highest_updated(view: View[ControllerRevision], live: StatefulSet, count: int) -> bool:
    """Tell whether the highest `count` pods are of the new revision, ready and there to stay.

    `updatedReplicas` counts pods below the partition too where the new revision is the one that
    they run already: which pods they are only the pods tell, where any were seen.
    """
    if live.updated_replicas < count:
        return False
    highest = set(range(live.replicas - count, live.replicas))
    return not live.own_pods(view.pods.values()) or highest <= _find_new(view, live)


def _find_new(view: View[ControllerRevision], live: StatefulSet) -> set[int]:
    """Return the places of the pods of the new revision that are ready and stay."""
    own = live.own_pods(view.pods.values())
    new = live.update_revision
    return live.find_places(own, lambda pod: pod.ready and pod.revision_label == new)


def _is_whole(view: View[ControllerRevision], live: StatefulSet) -> bool:
    """Tell whether as many pods as wanted exist, and all are available.

    The status may still count a pod that has stopped being ready, one that terminates, or one
    beyond the range that is to go, in the place of one that is wanted: the pods know better, where
    any were seen. One that the controller leaves at its version, and that only its finalizers keep,
    is not waited for: while it is ready the status counts it, as after a forced deletion.
    """
    own, held = live.own_pods(view.pods.values()), find_held(view, live)
    if any(live.index_of(track.pod) is None for track in own):
        return False
    if own and len(live.find_places(own, lambda pod: pod.ready)) + len(held) < live.replicas:
        return False
    uncounted = sum(not pod.ready for pod in held)
    return live.available_replicas + uncounted >= live.replicas == live.status_replicas


def find_held(view: View[ControllerRevision], live: StatefulSet) -> list[Pod]:
    """Return the pods which only finalizers keep, where the controller leaves each as it is."""
    own = (track.pod for track in live.own_pods(view.pods.values()) if track.is_held)
    held = (pod for pod in own if (index := live.index_of(pod)) is not None and live.holds(index))
    return sorted(held, key=lambda pod: pod.name)


def _is_settled(live: StatefulSet) -> bool:
    """Tell whether the controller has ended the update (`completeRollingUpdate`)."""
    return bool(live.update_revision) and live.current_revision == live.update_revision


def _reason_of_completion(live: StatefulSet, to_update: int) -> AnyReason:
    return Reason.COMPLETE if to_update == live.replicas else StatefulSetReason.PARTITIONED


def _is_terminating(view: View[ControllerRevision], live: StatefulSet) -> bool:
    return any(view.starts_to_go(track.pod) for track in live.own_pods(view.pods.values()))
