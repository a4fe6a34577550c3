"""Delete: at once, when finalizers let go, or when a node has ended the pod."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sandbox.api.registry import DeleteOptions, Operation, Propagation, Writer, internal
from sandbox.api.storing import update
from sandbox.api.strategies import strategy_of
from sandbox.api.writes import Write, check_deletable
from sandbox.failure import ApiError, conflict
from sandbox.json import JSON, copy_json, dig
from sandbox.kinds import BY_KEY, Resource
from sandbox.objects.conditions import conditions_of, find, is_true, without
from sandbox.objects.selectors import matches
from sandbox.storage.store import Key

ORPHAN = "orphan"
ENDED_PHASES = ("Succeeded", "Failed")
DEFAULT_GRACE_SECONDS = 30
LONGEST_GRACE_SECONDS = 100 * 365 * 86_400
"""What a timestamp tells of a longer one: a date has four digits for its year."""


def delete(write: Write, key: Key, options: DeleteOptions) -> JSON:
    """Delete, or begin to; return the object while it is there, else what the kind answers."""
    live = write.registry.live(key)
    check_preconditions(write.resource, key, live, options)
    check_deletable(write.resource, key.name)
    write.registry.validate(write.admission(Operation.DELETE, live, None))
    if write.resource.key == "namespaces":
        return _namespace_deleted(write, key, live)
    finalizers = _finalizers(write.resource, live, options)
    if strategy_of(write.resource).graceful:
        return _gracefully(write, key, live, finalizers, options.grace_seconds)
    return _at_once(write, key, live, finalizers)


def check_preconditions(resource: Resource, key: Key, live: JSON, options: DeleteOptions) -> None:
    """409 where a deletion is about another object of that name, or another version of it."""
    found = live["metadata"]
    if options.uid is not None and options.uid != found["uid"]:
        raise _precondition(
            resource,
            key,
            f"the UID in the precondition ({options.uid}) does not match the UID in record"
            f" ({found['uid']}). The object might have been deleted and then recreated",
        )
    version = options.resource_version
    if version is not None and version != found["resourceVersion"]:
        raise _precondition(
            resource,
            key,
            f"the ResourceVersion in the precondition ({version}) does not match the"
            f" ResourceVersion in record ({found['resourceVersion']})."
            " The object might have been modified",
        )


def _precondition(resource: Resource, key: Key, why: str) -> ApiError:
    return conflict(resource.kind, resource.group, key.name, why)


def _finalizers(resource: Resource, live: JSON, options: DeleteOptions) -> list[str]:
    """What holds the object: its own finalizers and the garbage collector's of this deletion."""
    found: list[str] = live["metadata"].get("finalizers") or []
    propagation = options.propagation
    if propagation is None:
        if ORPHAN in found:
            return found
        by_default = strategy_of(resource).orphans_by_default
        propagation = Propagation.ORPHAN if by_default else Propagation.BACKGROUND
    kept = [name for name in found if name != ORPHAN]
    return [*kept, ORPHAN] if propagation is Propagation.ORPHAN else kept


def _gracefully(
    write: Write, key: Key, live: JSON, finalizers: list[str], asked: int | None
) -> JSON:
    """Mark a pod that its node has to end; a second deletion can only shorten the time.

    A grace period of nothing is written too, before the pod goes: watches see both.
    """
    metadata = live["metadata"]
    grace = 1 if asked is not None and asked < 0 else asked
    begun, running = "deletionTimestamp" in metadata, metadata.get("deletionGracePeriodSeconds")
    if begun and not running:
        return _at_once(write, key, live, finalizers)
    if begun and (grace is None or grace >= running):
        return live
    if begun and grace is not None:
        marks: JSON = {"deletionTimestamp": _later(metadata["deletionTimestamp"], grace - running)}
    else:
        grace = _grace_seconds(live, grace)
        now = write.registry.timers.wall()
        marks = {"deletionTimestamp": _later(now, grace), **_next_generation(metadata)}
    marks["deletionGracePeriodSeconds"] = grace
    if finalizers:
        marks["finalizers"] = finalizers
    marked = _store_metadata(write, key, live, {**metadata, **marks})
    return marked if grace or finalizers else _remove_object(write, key, marked)


def _grace_seconds(pod: JSON, asked: int | None) -> int:
    """Return how long a pod gets: none where it has ended, or where no node runs it."""
    spec = pod.get("spec", {})
    if pod.get("status", {}).get("phase") in ENDED_PHASES or not spec.get("nodeName"):
        return 0
    if asked is not None:
        return asked
    default: int = spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS)
    return 1 if default < 0 else default


def _at_once(write: Write, key: Key, live: JSON, finalizers: list[str]) -> JSON:
    return (
        _await_finalizers(write, key, live, finalizers)
        if finalizers
        else _remove_object(write, key, live)
    )


def _await_finalizers(write: Write, key: Key, live: JSON, finalizers: list[str]) -> JSON:
    """Mark an object that goes when its finalizers are gone."""
    metadata = live["metadata"]
    marks: JSON = {"deletionGracePeriodSeconds": 0, "finalizers": finalizers}
    if not metadata.get("deletionTimestamp"):
        marks |= {"deletionTimestamp": write.registry.timers.wall(), **_next_generation(metadata)}
    return _store_metadata(write, key, live, {**metadata, **marks})


def _remove_object(write: Write, key: Key, live: JSON) -> JSON:
    resource = write.resource
    removed = live if write.dry_run else write.registry.drop(key)
    if strategy_of(resource).returns_deleted:
        return removed
    details = {"name": key.name, "group": resource.group, "kind": resource.plural}
    details["uid"] = live["metadata"]["uid"]
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: item for name, item in details.items() if item},
    }


def _namespace_deleted(write: Write, key: Key, live: JSON) -> JSON:
    """Begin to terminate a namespace; the namespace controller empties and releases it."""
    made: JSON = copy_json(live)
    metadata = made["metadata"]
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = write.registry.timers.wall()
        made["status"] = {**made.get("status", {}), "phase": "Terminating"}
    if metadata.get("finalizers") or made.get("spec", {}).get("finalizers"):
        return _store_object(write, key, live, made)
    return _remove_object(write, key, live)


def _store_metadata(write: Write, key: Key, live: JSON, metadata: JSON) -> JSON:
    return _store_object(write, key, live, {**live, "metadata": metadata})


def _store_object(write: Write, key: Key, live: JSON, made: JSON) -> JSON:
    if made == live or write.dry_run:
        return made
    return write.registry.keep(key, made)


def _next_generation(metadata: JSON) -> JSON:
    return {"generation": metadata["generation"] + 1} if metadata.get("generation") else {}


def _later(moment: str, seconds: int) -> str:
    found = datetime.fromisoformat(moment) + timedelta(seconds=min(seconds, LONGEST_GRACE_SECONDS))
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")


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
        if is_true(pod, "Ready") or not _spares_ill_pods(budget):
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
    denied = find(conditions_of(budget), ALLOWED) or {}
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
    before = find(found, ALLOWED) or {}
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
    others = without(conditions_of(pod), "DisruptionTarget")
    made = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    return {**pod, "status": {**status, "conditions": [*others, made]}}
