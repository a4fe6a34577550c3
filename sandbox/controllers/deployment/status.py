"""The status of a Deployment, from its ReplicaSets: counters, availability, progress.

Rules of `pkg/controller/deployment` (`sync.go`, `progress.go`). A new status is compared with the
one that the controller's cache had, not with the stored one.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.controllers.deployment.facts import (
    Sets,
    count,
    deadline_seconds,
    limits_of,
    size,
    total,
    total_size,
)
from sandbox.json import JSON, dig
from sandbox.objects.conditions import Conditions, conditions_of, find, with_condition, without
from sandbox.times import Timers

PROGRESSING = "Progressing"
REPLICA_FAILURE = "ReplicaFailure"

COMPLETE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"


def condition(kind: str, status: str, reason: str, message: str, *, now: str) -> JSON:
    """Return a condition of a Deployment that begins now."""
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def set_progress(deployment: JSON, status: str, reason: str, message: str, *, now: str) -> None:
    """Set the condition of progress in a sync's own copy of a Deployment."""
    made = condition(PROGRESSING, status, reason, message, now=now)
    conditions = with_condition(conditions_of(deployment), made)
    deployment["status"] = {**(deployment.get("status") or {}), "conditions": conditions}


def calculate_status(deployment: JSON, sets: Sets, *, now: str) -> JSON:
    """Return the counters of now and the conditions there were, with that of availability."""
    new, every = sets.new, sets.every
    available = total(every, "availableReplicas")
    status = {
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": total(every, "replicas"),
        "updatedReplicas": count(new, "replicas") if new is not None else 0,
        "readyReplicas": total(every, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total_size(every) - available),
    }
    found = {name: value for name, value in status.items() if value}
    terminating = _terminating(every)
    if terminating is not None:
        found["terminatingReplicas"] = terminating
    enough = available >= size(deployment) - limits_of(deployment).unavailable
    made = _condition_of_availability(now, is_available=enough)
    found["conditions"] = with_condition(conditions_of(deployment), made)
    collisions = dig(deployment, "status", "collisionCount")
    if collisions is not None:
        found["collisionCount"] = collisions
    return found


def calculate_rollout_status(deployment: JSON, sets: Sets, timers: Timers) -> JSON:
    """Return the status in the midst of a rollout: the counters and what they say of progress."""
    status = calculate_status(deployment, sets, now=timers.wall())
    conditions: Conditions = status["conditions"]
    seconds = deadline_seconds(deployment)
    if seconds is None:
        conditions = without(conditions, PROGRESSING)
    elif not _is_settled(deployment, status):
        conditions = _judge_progress(deployment, sets.new, status, timers)
    failure = _failure(sets)
    if failure is None:
        conditions = without(conditions, REPLICA_FAILURE)
    else:
        conditions = with_condition(conditions, failure)
    return {**status, "conditions": conditions}


def is_complete(deployment: JSON, status: JSON) -> bool:
    """Say whether all pods are new and available, none is old, and the spec was observed."""
    wanted = size(deployment)
    fields = ("updatedReplicas", "replicas", "availableReplicas")
    observed: int = status.get("observedGeneration", 0)
    generation: int = deployment["metadata"]["generation"]
    return all(status.get(field, 0) == wanted for field in fields) and observed >= generation


def _terminating(every: Sequence[JSON]) -> int | None:
    """Return the pods that are ending, None where a ReplicaSet that was observed tells none."""
    ending = 0
    for status in (each.get("status") or {} for each in every):
        found = status.get("terminatingReplicas")
        if found is None and status.get("observedGeneration", 0):
            return None
        ending += found or 0
    return ending


def _condition_of_availability(now: str, *, is_available: bool) -> JSON:
    reason = "MinimumReplicasAvailable" if is_available else "MinimumReplicasUnavailable"
    message = f"Deployment {'has' if is_available else 'does not have'} minimum availability."
    return condition("Available", str(is_available), reason, message, now=now)


def _is_settled(deployment: JSON, status: JSON) -> bool:
    """Say whether the last rollout is complete and what happens is no new one, as a scaling."""
    current = find(conditions_of(deployment), PROGRESSING)
    same = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    return same and current is not None and current["reason"] == COMPLETE


def _judge_progress(deployment: JSON, new: JSON | None, status: JSON, timers: Timers) -> Conditions:
    """Return the conditions with that of progress: complete, going on, timed out or as it was."""
    conditions: Conditions = status["conditions"]
    now = timers.wall()
    subject = deployment if new is None else new
    what = f'{"Deployment" if new is None else "ReplicaSet"} "{subject["metadata"]["name"]}"'
    if is_complete(deployment, status):
        message = f"{what} has successfully progressed."
        done = condition(PROGRESSING, "True", COMPLETE, message, now=now)
        return with_condition(conditions, done)
    if _has_progressed(deployment.get("status") or {}, status):
        message = f"{what} is progressing."
        going = condition(PROGRESSING, "True", "ReplicaSetUpdated", message, now=now)
        return _with_renewed_progress(conditions, going)
    if _has_timed_out(deployment, conditions, timers):
        message = f"{what} has timed out progressing."
        late = condition(PROGRESSING, "False", TIMED_OUT, message, now=now)
        return with_condition(conditions, late)
    return conditions


def _with_renewed_progress(conditions: Conditions, going: JSON) -> Conditions:
    """Return the list with a condition at its end also where its reason is the same.

    Each progress moves `lastUpdateTime`, which the deadline counts from.
    """
    current = find(conditions, PROGRESSING)
    if current is not None and current["status"] == "True":
        going = {**going, "lastTransitionTime": current["lastTransitionTime"]}
    return [*without(conditions, PROGRESSING), going]


def _has_progressed(before: JSON, after: JSON) -> bool:
    old_before, old_after = (
        each.get("replicas", 0) - each.get("updatedReplicas", 0) for each in (before, after)
    )
    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return bool(old_after < old_before) or any(
        after.get(name, 0) > before.get(name, 0) for name in grown
    )


def _has_timed_out(deployment: JSON, conditions: Conditions, timers: Timers) -> bool:
    current = find(conditions, PROGRESSING)
    if current is None or current["reason"] == COMPLETE:
        # A complete rollout is judged again once its next ReplicaSet shows in the conditions.
        return False
    if current["reason"] == TIMED_OUT:
        return True
    seconds = deadline_seconds(deployment) or 0
    return timers.seconds_until(current["lastUpdateTime"], seconds) < 0


def _failure(sets: Sets) -> JSON | None:
    """Return a ReplicaSet's failure as the Deployment's; the new one's goes before."""
    for replica_set in (sets.new, *sets.old):
        failed = find(conditions_of(replica_set), REPLICA_FAILURE)
        if failed is not None:
            status, since = failed["status"], failed["lastTransitionTime"]
            reason, message = failed.get("reason", ""), failed.get("message", "")
            return condition(REPLICA_FAILURE, status, reason, message, now=since)
    return None
