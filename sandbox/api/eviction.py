"""Eviction: a pod is deleted as its disruption budget allows.

Nothing in the sandbox computes the status of a budget: whoever wants an eviction refused or allowed
writes that status, as the disruption controller would.
"""

from __future__ import annotations

from dataclasses import replace

from sandbox.api.binding import SUCCESS
from sandbox.api.delete_options import read_options
from sandbox.api.deletion import ENDED_PHASES, delete
from sandbox.api.ownership import with_managed_fields
from sandbox.api.registry import internal
from sandbox.api.scale import selector_text
from sandbox.api.writes import Write
from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON, copy_json, dig
from sandbox.kinds import BY_KEY
from sandbox.objects import defaulted_type
from sandbox.storage.label_selectors import parse_labels
from sandbox.storage.store import Key

BUDGETS = "poddisruptionbudgets.policy"
BLOCKED = "Cannot evict pod as it would violate the pod's disruption budget."
MORE_THAN_ONE = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
    " support."
)
RETRY_SECONDS = 10
"""When an eviction is worth another try where its budget has not been computed."""


def evict(write: Write, key: Key, eviction: JSON) -> JSON:
    """Delete a pod unless its disruption budget forbids it; 404, 429."""
    body = defaulted_type("policy/v1.Eviction", "Eviction", "v1", eviction)
    if body["metadata"].get("name") != key.name:
        raise bad_request("name in URL does not match name in Eviction object")
    options, is_dry_run = read_options(body.get("deleteOptions") or {})
    write = replace(write, dry_run=write.dry_run or is_dry_run)
    live = write.registry.live(key)
    if not _goes_freely(live):
        _spend_budget(write, key, live)
    delete(write, key, options)
    return dict(SUCCESS)


def _goes_freely(pod: JSON) -> bool:
    """Tell whether no budget counts a pod: it has ended, not begun, or is being deleted."""
    ended = dig(pod, "status", "phase") in (*ENDED_PHASES, "Pending")
    return ended or bool(pod["metadata"].get("deletionTimestamp"))


def _budgets(write: Write, key: Key, pod: JSON) -> list[JSON]:
    labels = pod["metadata"].get("labels") or {}
    found = []
    for budget in write.registry.store.items(BUDGETS, key.namespace):
        selector = dig(budget, "spec", "selector")
        if selector is not None:
            terms = parse_labels(selector_text(selector))
            if all(term.matches(labels) for term in terms):
                found.append(budget)
    return found


def _spend_budget(write: Write, key: Key, pod: JSON) -> None:
    budgets = _budgets(write, key, pod)
    if len(budgets) > 1:
        raise internal(MORE_THAN_ONE)
    for budget in budgets:
        metadata, status = budget["metadata"], budget.get("status") or {}
        if status.get("observedGeneration", 0) < metadata["generation"]:
            why = (
                f"The disruption budget {metadata['name']} is still being processed by the server."
            )
            raise _make_blocked_error(why, RETRY_SECONDS)
        if status.get("disruptionsAllowed", 0) < 1:
            raise _make_blocked_error(_needs(metadata["name"], status), 0)
        _spend(write, budget, key.name)


def _needs(name: str, status: JSON) -> str:
    wanted, found = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    return f"The disruption budget {name} needs {wanted} healthy pods and has {found} currently"


def _spend(write: Write, budget: JSON, pod: str) -> None:
    if write.dry_run:
        return
    body: JSON = copy_json(budget)
    status, now = body["status"], write.registry.timers.wall()
    status["disruptionsAllowed"] -= 1
    status["disruptedPods"] = {**status.get("disruptedPods", {}), pod: now}
    if not status["disruptionsAllowed"]:
        status["conditions"] = _with_none_allowed(body, now)
    metadata = budget["metadata"]
    key = Key(BUDGETS, metadata["namespace"], metadata["name"])
    spent = replace(write, resource=BY_KEY[BUDGETS], subresource="status")
    write.registry.keep(key, with_managed_fields(spent, budget, body))


def _with_none_allowed(budget: JSON, now: str) -> list[JSON]:
    conditions: list[JSON] = budget["status"].get("conditions") or []
    others = [one for one in conditions if one["type"] != "DisruptionAllowed"]
    spent = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": budget["metadata"]["generation"],
        "lastTransitionTime": now,
        "reason": "InsufficientPods",
        "message": "",
    }
    return [*others, spent]


def _make_blocked_error(why: str, retry_seconds: int) -> ApiError:
    details: JSON = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    headers = {}
    if retry_seconds:
        details["retryAfterSeconds"] = retry_seconds
        headers["Retry-After"] = str(retry_seconds)
    return ApiError(429, "TooManyRequests", BLOCKED, details=details, headers=headers)
