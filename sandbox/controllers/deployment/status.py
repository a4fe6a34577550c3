"""The status of a Deployment, from its ReplicaSets: counters, availability, progress.

Rules of `pkg/controller/deployment` (`sync.go`, `progress.go`). A new status is compared with the
one that the controller's cache had, not with the stored one.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.controllers.deployment.facts import (
    count,
    deadline_seconds,
    limits_of,
    size,
    total,
    total_size,
)
from sandbox.controllers.recorder import Conditions, find, with_condition, without
from sandbox.json import JSON
from sandbox.times import Timers

AVAILABLE = "Available"
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


def conditions_of(deployment: JSON) -> Conditions:
    """Return the conditions of an object's status."""
    return (deployment.get("status") or {}).get("conditions") or []


def calculate_status(
    deployment: JSON, new: JSON | None, every: Sequence[JSON], *, now: str
) -> JSON:
    """Return the counters of now and the conditions there were, with that of availability."""
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
    found["conditions"] = with_condition(conditions_of(deployment), _availability(enough, now))
    collisions = (deployment.get("status") or {}).get("collisionCount")
    if collisions is not None:
        found["collisionCount"] = collisions
    return found


def calculate_rollout_status(
    deployment: JSON, new: JSON | None, every: Sequence[JSON], timers: Timers
) -> JSON:
    """Return the status in the midst of a rollout: the counters and what they say of progress."""
    status = calculate_status(deployment, new, every, now=timers.wall())
    conditions: Conditions = status["conditions"]
    seconds = deadline_seconds(deployment)
    if seconds is None:
        conditions = without(conditions, PROGRESSING)
    elif not _is_settled(deployment, status):
        conditions = _judge_progress(deployment, new, status, timers)
    failure = _failure(new, every)
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


def _availability(enough: bool, now: str) -> JSON:  # noqa: FBT001 - the fact itself
    if enough:
        message = "Deployment has minimum availability."
        return condition(AVAILABLE, "True", "MinimumReplicasAvailable", message, now=now)
    message = "Deployment does not have minimum availability."
    return condition(AVAILABLE, "False", "MinimumReplicasUnavailable", message, now=now)


def _is_settled(deployment: JSON, status: JSON) -> bool:
    """Say whether the last rollout is complete and what happens is no new one, as a scaling."""
    current = find(conditions_of(deployment), PROGRESSING)
    same = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    return same and current is not None and current["reason"] == COMPLETE


def _judge_progress(deployment: JSON, new: JSON | None, status: JSON, timers: Timers) -> Conditions:
    """Return the conditions with that of progress: complete, going on, timed out or as it was."""
    conditions: Conditions = status["conditions"]
    now = timers.wall()
    what = _name_subject(deployment, new)
    if is_complete(deployment, status):
        message = f"{what} has successfully progressed."
        return with_condition(
            conditions, condition(PROGRESSING, "True", COMPLETE, message, now=now)
        )
    if _has_progressed(deployment.get("status") or {}, status):
        message = f"{what} is progressing."
        going = condition(PROGRESSING, "True", "ReplicaSetUpdated", message, now=now)
        return _with_renewed_progress(conditions, going)
    if _has_timed_out(deployment, conditions, timers):
        message = f"{what} has timed out progressing."
        late = condition(PROGRESSING, "False", TIMED_OUT, message, now=now)
        return with_condition(conditions, late)
    return conditions


def _name_subject(deployment: JSON, new: JSON | None) -> str:
    if new is None:
        return f'Deployment "{deployment["metadata"]["name"]}"'
    return f'ReplicaSet "{new["metadata"]["name"]}"'


def _with_renewed_progress(conditions: Conditions, going: JSON) -> Conditions:
    """Return the list with a condition at its end also where its reason is the same.

    Each progress moves `lastUpdateTime`, which the deadline counts from.
    """
    current = find(conditions, PROGRESSING)
    if current is not None and current["status"] == "True":
        going = {**going, "lastTransitionTime": current["lastTransitionTime"]}
    return [*without(conditions, PROGRESSING), going]


def _has_progressed(before: JSON, after: JSON) -> bool:
    def rose(field: str) -> bool:
        return bool(after.get(field, 0) > before.get(field, 0))

    fewer_old = _old(after) < _old(before)
    return fewer_old or any(map(rose, ("updatedReplicas", "readyReplicas", "availableReplicas")))


def _old(status: JSON) -> int:
    found: int = status.get("replicas", 0) - status.get("updatedReplicas", 0)
    return found


def _has_timed_out(deployment: JSON, conditions: Conditions, timers: Timers) -> bool:
    current = find(conditions, PROGRESSING)
    if current is None or current["reason"] == COMPLETE:
        # A complete rollout is judged anew once its next ReplicaSet shows in the conditions.
        return False
    if current["reason"] == TIMED_OUT:
        return True
    seconds = deadline_seconds(deployment) or 0
    return timers.seconds_until(current["lastUpdateTime"], seconds) < 0


def _failure(new: JSON | None, every: Sequence[JSON]) -> JSON | None:
    """Return a ReplicaSet's failure as the Deployment's; the new one's goes before."""
    for replica_set in ([new] if new is not None else []) + [*every]:
        failed = find(conditions_of(replica_set), REPLICA_FAILURE)
        if failed is not None:
            since = failed["lastTransitionTime"]
            return {
                **condition(REPLICA_FAILURE, failed["status"], "", "", now=since),
                "reason": failed.get("reason", ""),
                "message": failed.get("message", ""),
            }
    return None
