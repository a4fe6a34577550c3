"""ResourceQuota: what a namespace may use, what it uses, and what is refused.

Usage counts as in `pkg/quota/v1/evaluator/core`: pods, `count/...`, the old names of counts, cpu,
memory and ephemeral storage. At admission (apiserver `resourcequota`) a create that would exceed a
quota is refused, others are counted; what goes is counted by `pkg/controller/resourcequota`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from sandbox.api.api import Api
from sandbox.api.registry import Admission, Operation
from sandbox.controllers.ownership import QUOTA_ADMISSION, QUOTAS, key_of
from sandbox.controllers.pods import ENDED, phase
from sandbox.controllers.queue import LATENCY_SECONDS, Informer, WorkQueue
from sandbox.failure import ApiError, forbidden, not_served
from sandbox.json import JSON
from sandbox.kinds import RESOURCES, Resource
from sandbox.objects.quantity import Quantity, canonical, parse_quantity
from sandbox.storage.store import Change, Key
from sandbox.times import Timers

Usage = dict[str, Quantity]

RESOURCE = "resourcequotas"
RESYNC_SECONDS = 300.0
ONE, NOTHING = parse_quantity("1"), parse_quantity("0")
MEASURED = ("cpu", "memory", "ephemeral-storage")
_OF_PODS = {f"{prefix}{name}" for name in MEASURED for prefix in ("", "requests.", "limits.")}
OLD_NAMES = {"pods", "configmaps", "secrets", "services", "persistentvolumeclaims", RESOURCE}
"""What is counted by its plain name as well."""


def _names_of(resource: Resource) -> set[str]:
    """Return the quota's names that objects of a resource count for."""
    plain = {resource.key} & OLD_NAMES
    return {f"count/{resource.key}"} | plain | (_OF_PODS if resource.key == "pods" else set())


def _usage_of(resource: Resource, body: JSON, timers: Timers) -> Usage:
    """Return what an object uses; a pod that has ended only counts as an object."""
    found: Usage = {f"count/{resource.key}": ONE}
    if resource.key == "pods":
        return found | (_of_pod(body) if _counts(body, timers) else {})
    return found | dict.fromkeys({resource.key} & OLD_NAMES, ONE)


def _find_lacking(pod: JSON, limited: Iterable[str]) -> str:
    """Say what the containers of a pod leave out that a quota limits, empty where nothing."""
    spec, demands = pod["spec"], []
    for name in sorted(_OF_PODS.intersection(limited)):
        if not name.endswith("ephemeral-storage"):
            containers = [*spec.get("containers", ()), *(spec.get("initContainers") or ())]
            lacking = sorted(each["name"] for each in containers if name not in _of_container(each))
            demands += [f"{name} for: {','.join(lacking)}"] if lacking else []
    return f"must specify {'; '.join(demands)}" if demands else ""


def _add_usage(one: Usage, other: Usage) -> Usage:
    """Return the sum; each is written as the first is, unless that is nothing."""
    total = dict(other)
    for name, amount in one.items():
        more = other.get(name, NOTHING)
        family = amount.family if amount.nanos else more.family
        total[name] = Quantity(amount.nanos + more.nanos, family)
    return total


def _counts(pod: JSON, timers: Timers) -> bool:
    """Say whether a pod counts: it has not ended, and is not overdue to be gone."""
    if phase(pod) in ENDED:
        return False
    metadata = pod["metadata"]
    stamp, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    return stamp is None or grace is None or timers.seconds_until(stamp, grace) >= 0


def _of_pod(pod: JSON) -> Usage:
    """Return a pod's usage: its containers together, or an init container that needs more."""
    spec = pod["spec"]
    total: Usage = {}
    for container in spec.get("containers", ()):
        total = _add_usage(total, _of_container(container))
    for container in spec.get("initContainers") or ():
        needed = _of_container(container)
        if container.get("restartPolicy") == "Always":
            total = _add_usage(total, needed)
        else:
            for name, amount in needed.items():
                if amount.nanos > total.get(name, NOTHING).nanos:
                    total[name] = amount
    overhead = _of_container({"resources": {"requests": spec.get("overhead")}})
    return {"pods": ONE, **_add_usage(total, overhead)}


def _of_container(container: JSON) -> Usage:
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    found: Usage = {}
    for name in MEASURED:
        if name in requests:
            found[name] = found[f"requests.{name}"] = parse_quantity(str(requests[name]))
        if name in limits:
            found[f"limits.{name}"] = parse_quantity(str(limits[name]))
    return found


class QuotaAdmission:
    """An admission hook: `Api.admissions` holds it."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def __call__(self, admission: Admission) -> None:
        """Refuse with 403 what exceeds a quota of its namespace; count what does not."""
        body = admission.body
        spec = (body or {}).get("spec") or {}
        if admission.resource.key == RESOURCE and (spec.get("scopes") or "scopeSelector" in spec):
            raise not_served("a quota of some pods alone: give it no scopes")
        if admission.operation is not Operation.CREATE or admission.subresource:
            return
        if body is None or not admission.namespace or admission.resource.key == "events":
            return
        quotas = self._api.store.items(RESOURCE, admission.namespace)
        used = _usage_of(admission.resource, body, self._api.timers) if quotas else {}
        counted = [self._count_in_quota(admission, body, quota, used) for quota in quotas]
        for each in counted if not admission.dry_run else ():
            if each is not None:
                self._api.update(
                    key_of(RESOURCE, each), each, QUOTA_ADMISSION, subresource="status"
                )

    def _count_in_quota(
        self, admission: Admission, body: JSON, quota: JSON, used: Usage
    ) -> JSON | None:
        """Return a quota with the object counted, None where it does not concern it."""
        status = quota.get("status") or {}
        hard = _quantities(status.get("hard"))
        limited = _names_of(admission.resource).intersection(hard)
        if not limited:
            return None
        name = quota["metadata"]["name"]
        lacking = _find_lacking(body, limited) if admission.resource.key == "pods" else ""
        if lacking:
            raise _make_forbidden_error(admission, f"failed quota: {name}: {lacking}")
        before = _quantities(status.get("used"))
        if not limited <= before.keys():
            why = f"status unknown for quota: {name}, resources: {','.join(sorted(limited))}"
            raise _make_forbidden_error(admission, why)
        asked = {each: used[each] for each in limited if each in used}
        after = _add_usage(before, asked)
        over = [each for each in asked if after[each].nanos > hard[each].nanos]
        if over:
            amounts = (("requested", asked), ("used", before), ("limited", hard))
            told = (f"{what}: {_format_amounts(each, over)}" for what, each in amounts)
            why = f"exceeded quota: {name}, {', '.join(told)}"
            raise _make_forbidden_error(admission, why)
        texts = {each: str(amount) for each, amount in after.items()}
        return {**quota, "status": {**status, "used": texts}}


def _quantities(amounts: JSON | None) -> dict[str, Quantity]:
    return {name: parse_quantity(str(text)) for name, text in (amounts or {}).items()}


def _format_amounts(amounts: dict[str, Quantity], names: Iterable[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, NOTHING)}" for name in sorted(names))


def _make_forbidden_error(admission: Admission, why: str) -> ApiError:
    resource = admission.resource
    name = (admission.body or {}).get("metadata", {}).get("name") or admission.name
    return forbidden(resource.plural, resource.group, name, why)


class QuotaController:
    """Counts again what a quota limits when it changes and when something counted goes."""

    def __init__(self, api: Api, quotas: Informer) -> None:
        self._api = api
        self._timers = api.timers
        self._quotas = quotas
        self._queue: WorkQueue[Key] = WorkQueue(api.timers, self._sync)

    def start(self) -> None:
        """Begin to follow changes of quotas and of what they may limit."""
        self._quotas.watch(self._on_quota)
        for resource in RESOURCES:
            if resource.namespaced and resource.key != "events":
                self._api.store.listen(resource.key, partial(self._hear, resource))

    def _on_quota(self, change: Change) -> None:
        before, after = change.before or {}, change.after or {}
        if after and before.get("spec") != after.get("spec"):
            self._queue.add(change.key)

    def _hear(self, resource: Resource, change: Change) -> None:
        limited = self._quotas.without_controller(change.key.namespace)
        if limited and self._frees(resource, change):
            freed = partial(self._queue_quotas, resource, change.key.namespace)
            self._timers.call_later(LATENCY_SECONDS, freed)

    def _frees(self, resource: Resource, change: Change) -> bool:
        """Say whether an object is gone, or a pod that counted does not any more."""
        if change.after is None:
            return True
        if resource.key != "pods" or change.before is None:
            return False
        uses = [_usage_of(resource, body, self._timers) for body in (change.before, change.after)]
        return uses[0].keys() != uses[1].keys()

    def _queue_quotas(self, resource: Resource, namespace: str) -> None:
        for quota in self._quotas.without_controller(namespace):
            hard = (quota.get("status") or {}).get("hard") or {}
            if _names_of(resource).intersection(hard):
                self._queue.add(Key(RESOURCE, namespace, quota["metadata"]["name"]))

    def _sync(self, key: Key) -> None:
        quota = self._quotas.get(key)
        if quota is None:
            return
        hard: JSON = quota["spec"].get("hard") or {}
        used: Usage = {}
        for resource in RESOURCES:
            if _names_of(resource).intersection(hard):
                for body in self._api.store.items(resource.key, key.namespace):
                    used = _add_usage(used, _usage_of(resource, body, self._timers))
        status = {
            "hard": {name: canonical(str(amount)) for name, amount in hard.items()},
            "used": {name: str(used.get(name, NOTHING)) for name in hard},
        }
        if status != quota.get("status"):
            self._api.update(key, {**quota, "status": status}, QUOTAS, subresource="status")
        # What admission counted and the server then refused is found by counting now and then.
        self._queue.add_after(key, RESYNC_SECONDS)
