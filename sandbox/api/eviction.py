"""Eviction (`pods/eviction`): a pod is deleted as its disruption budget allows.

Rules of `pkg/registry/core/pod/storage/eviction.go`.
"""

from __future__ import annotations

from dataclasses import replace

from sandbox.api.asked import DeleteOptions, Writer
from sandbox.api.deletion import ENDED_PHASES, check_preconditions, delete
from sandbox.api.registry import internal
from sandbox.api.storing import update
from sandbox.api.writes import Write
from sandbox.failure import ApiError
from sandbox.json import JSON, dig
from sandbox.kinds import BY_KEY
from sandbox.objects.selectors import matches
from sandbox.storage.store import Key

BUDGETS = "poddisruptionbudgets.policy"
ALLOWED = "DisruptionAllowed"
SERVER = Writer("system:apiserver", "kube-apiserver")
SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
RETRY_SECONDS = 10
"""When an eviction is worth another try whose budget has not been computed yet."""


def evict(write: Write, key: Key, options: DeleteOptions) -> JSON:
    """Delete a pod unless its disruption budget forbids it; 404, 409, 429, 500 for two budgets."""
    live = write.registry.live(key)
    if not _goes_freely(live):
        _ask_budget(write, key, live)
    if not write.dry_run:
        check_preconditions(write.resource, key, live, options)
        options = replace(options, resource_version=None)
        write.registry.keep(key, _mark(live, write.registry.timers.wall()))
    delete(write, key, options)
    return dict(SUCCESS)


def _goes_freely(pod: JSON) -> bool:
    """Say whether no budget counts a pod: it has ended, not begun, or is being deleted."""
    ended = dig(pod, "status", "phase") in (*ENDED_PHASES, "Pending")
    return ended or bool(pod["metadata"].get("deletionTimestamp"))


def _condition(pod: JSON, kind: str) -> JSON:
    conditions = dig(pod, "status", "conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})


def _ask_budget(write: Write, key: Key, pod: JSON) -> None:
    labels = pod["metadata"].get("labels")
    items = write.registry.store.items(BUDGETS, key.namespace)
    budgets = [each for each in items if matches(each["spec"].get("selector"), labels)]
    if len(budgets) > 1:
        raise internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does"
            " not support."
        )
    for budget in budgets:
        if _condition(pod, "Ready").get("status") == "True" or not _spares_ill_pods(budget):
            _spend(write, budget, key.name)


def _spares_ill_pods(budget: JSON) -> bool:
    """Say whether pods that are not ready may go whatever the budget has left."""
    status = budget["status"]
    is_kept = bool(0 < status.get("desiredHealthy", 0) <= status.get("currentHealthy", 0))
    return is_kept or budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow"


def _spend(write: Write, budget: JSON, pod: str) -> None:
    """Take one disruption from what a budget allows; 429 where none is left."""
    metadata, status = budget["metadata"], budget["status"]
    name, allowed = metadata["name"], status.get("disruptionsAllowed", 0)
    if status.get("observedGeneration", 0) < metadata["generation"]:
        why = f"The disruption budget {name} is still being processed by the server."
        raise _make_blocked_error(why, RETRY_SECONDS)
    if allowed < 1:
        raise _make_blocked_error(_explain(budget), 0)
    now = write.registry.timers.wall()
    granted = {**status.get("disruptedPods", {}), pod: now}
    spent = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": granted}
    body = {**budget, "status": with_allowance(spent, now) if allowed == 1 else spent}
    as_server = replace(write, resource=BY_KEY[BUDGETS], by=SERVER, subresource="status", name=name)
    update(as_server, Key(BUDGETS, metadata["namespace"], name), body)


def _explain(budget: JSON) -> str:
    name, status = budget["metadata"]["name"], budget["status"]
    denied: JSON = next(
        (each for each in status.get("conditions") or () if each["type"] == ALLOWED), {}
    )
    says, denies = denied.get("message"), f"The disruption budget {name} does not allow evicting"
    if says and denied["reason"] == "SyncFailed":
        return f"{denies} pods currently because it failed sync: {says}"
    wanted, found = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if found <= wanted:
        return f"The disruption budget {name} needs {wanted} healthy pods and has {found} currently"
    return f"{denies} pods currently"


def _make_blocked_error(why: str, retry_seconds: int) -> ApiError:
    details: JSON = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    headers = {}
    if retry_seconds:
        details["retryAfterSeconds"] = retry_seconds
        headers["Retry-After"] = str(retry_seconds)
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return ApiError(429, "TooManyRequests", message, details=details, headers=headers)


def with_allowance(status: JSON, now: str, failure: str = "") -> JSON:
    """Return a budget's status with the condition that says whether a pod may go."""
    found: list[JSON] = status.get("conditions") or []
    before = next((each for each in found if each["type"] == ALLOWED), {})
    allows = status["disruptionsAllowed"] > 0
    reason = "SufficientPods" if allows else "InsufficientPods"
    made = {
        "type": ALLOWED,
        "status": str(allows),
        "observedGeneration": status.get("observedGeneration", 0),
        "reason": "SyncFailed" if failure else reason,
        "message": failure,
    }
    is_same = before.get("status") == made["status"]
    made["lastTransitionTime"] = before["lastTransitionTime"] if is_same else now
    return {**status, "conditions": [*(each for each in found if each is not before), made]}


def _mark(pod: JSON, now: str) -> JSON:
    """Return a pod with the condition that tells why it goes."""
    status = pod.get("status") or {}
    others = [each for each in status.get("conditions") or () if each["type"] != "DisruptionTarget"]
    made = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    return {**pod, "status": {**status, "conditions": [*others, made]}}
