"""ResourceQuota: what a namespace may use, what it uses, and what is refused.

Usage counts as in `pkg/quota/v1/evaluator/core`: pods, `count/...`, the old names of counts, cpu,
memory and ephemeral storage. At admission (apiserver `resourcequota`) a create that would exceed a
quota is refused, others are counted; what goes is counted by `pkg/controller/resourcequota`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from sandbox.api.api import Api
from sandbox.api.asked import Admission, Operation
from sandbox.controllers.informer import LATENCY_SECONDS, Informer
from sandbox.controllers.ownership import QUOTA_ADMISSION, QUOTAS, key_of
from sandbox.controllers.queue import WorkQueue
from sandbox.failure import ApiError, forbidden, not_served
from sandbox.json import JSON
from sandbox.kinds import RESOURCES, Resource
from sandbox.objects.quantity import Quantity, canonical, parse_quantity
from sandbox.storage.store import Change, Key
from sandbox.times import Timers

Usage = dict[str, Quantity]

ONE = parse_quantity("1")
NOTHING = parse_quantity("0")
MEASURED = ("cpu", "memory", "ephemeral-storage")
REQUIRED = frozenset(
    {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
OLD_NAMES = frozenset({"configmaps", "secrets", "services", "persistentvolumeclaims"}) | {
    "resourcequotas"
}


def names_of(resource: Resource) -> frozenset[str]:
    """Return the quota's names that objects of a resource count for."""
    counted = {f"count/{resource.key}"}
    if resource.key == "pods":
        measured = {f"{prefix}{name}" for name in MEASURED for prefix in ("", *_PREFIXES)}
        return frozenset({"pods", *counted, *measured})
    if resource.key in OLD_NAMES:
        return frozenset({resource.key, *counted})
    return frozenset(counted)


_PREFIXES = ("requests.", "limits.")


def usage_of(resource: Resource, body: JSON, timers: Timers) -> Usage:
    """Return what an object uses; a pod that has ended only counts as an object."""
    found: Usage = {f"count/{resource.key}": ONE}
    if resource.key == "pods":
        return found | (_of_pod(body) if _counts(body, timers) else {})
    if resource.key in OLD_NAMES:
        found[resource.key] = ONE
    return found


def missing_from(pod: JSON, required: Iterable[str]) -> str:
    """Say what the containers of a pod leave out that a quota limits, empty where nothing."""
    wanted = sorted(REQUIRED.intersection(required))
    spec = pod["spec"]
    containers = [*spec.get("containers", ()), *(spec.get("initContainers") or ())]
    lacking = {
        name: sorted(each["name"] for each in containers if name not in _of_container(each))
        for name in wanted
    }
    demands = [f"{name} for: {','.join(names)}" for name, names in lacking.items() if names]
    return f"must specify {'; '.join(demands)}" if demands else ""


def add_usage(one: Usage, other: Usage) -> Usage:
    """Return the sum; each is written as the first is, unless that is nothing."""
    total = dict(other)
    for name, amount in one.items():
        more = other.get(name, NOTHING)
        family = amount.family if amount.nanos else more.family
        total[name] = Quantity(amount.nanos + more.nanos, family)
    return total


def _counts(pod: JSON, timers: Timers) -> bool:
    """Say whether a pod counts: it has not ended, and is not overdue to be gone."""
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return False
    metadata = pod["metadata"]
    stamp, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    if stamp is None or grace is None:
        return True
    return timers.seconds_until(stamp, grace) >= 0


def _of_pod(pod: JSON) -> Usage:
    """Return a pod's usage: its containers together, or an init container that needs more."""
    spec = pod["spec"]
    total: Usage = {}
    for container in spec.get("containers", ()):
        total = add_usage(total, _of_container(container))
    for container in spec.get("initContainers") or ():
        needed = _of_container(container)
        if container.get("restartPolicy") == "Always":
            total = add_usage(total, needed)
        else:
            amounts = {
                name: (total.get(name, NOTHING), needed.get(name, NOTHING))
                for name in {**total, **needed}
            }
            total = {name: max(both, key=lambda each: each.nanos) for name, both in amounts.items()}
    overhead = _of_container({"resources": {"requests": spec.get("overhead")}})
    return {"pods": ONE, **add_usage(total, overhead)}


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


RESOURCE = "resourcequotas"


class QuotaAdmission:
    """An admission hook: `Api.admissions` holds it."""

    def __init__(self, api: Api, timers: Timers) -> None:
        self._api = api
        self._timers = timers

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
        used = usage_of(admission.resource, body, self._timers) if quotas else {}
        counted = [self._count_in_quota(admission, body, quota, used) for quota in quotas]
        if not admission.dry_run:
            self._write(quota for quota in counted if quota is not None)

    def _count_in_quota(
        self, admission: Admission, body: JSON, quota: JSON, used: Usage
    ) -> JSON | None:
        """Return a quota with the object counted, None where it does not concern it."""
        status = quota.get("status") or {}
        hard = _quantities(status.get("hard"))
        limited = names_of(admission.resource).intersection(hard)
        is_pod = admission.resource.key == "pods"
        if not limited:
            return None
        name = quota["metadata"]["name"]
        lacking = missing_from(body, limited) if is_pod else ""
        if lacking:
            raise _make_forbidden_error(admission, f"failed quota: {name}: {lacking}")
        before = _quantities(status.get("used"))
        if not limited <= before.keys():
            names = ",".join(sorted(limited))
            raise _make_forbidden_error(
                admission, f"status unknown for quota: {name}, resources: {names}"
            )
        asked = {each: used[each] for each in limited if each in used}
        after = add_usage(before, asked)
        over = [each for each in asked if after[each].nanos > hard[each].nanos]
        if over:
            demands = (
                f"requested: {_format_amounts(asked, over)}, used: {_format_amounts(before, over)}"
            )
            why = f"exceeded quota: {name}, {demands}, limited: {_format_amounts(hard, over)}"
            raise _make_forbidden_error(admission, why)
        texts = {each: str(amount) for each, amount in after.items()}
        return {**quota, "status": {**status, "used": texts}}

    def _write(self, quotas: Iterable[JSON]) -> None:
        for quota in [*quotas]:
            key = key_of(RESOURCE, quota)
            self._api.update(key, quota, QUOTA_ADMISSION, subresource="status")


def _quantities(amounts: JSON | None) -> dict[str, Quantity]:
    return {name: parse_quantity(str(text)) for name, text in (amounts or {}).items()}


def _format_amounts(amounts: dict[str, Quantity], names: Iterable[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, NOTHING)}" for name in sorted(names))


def _make_forbidden_error(admission: Admission, why: str) -> ApiError:
    resource = admission.resource
    name = (admission.body or {}).get("metadata", {}).get("name") or admission.name
    return forbidden(resource.plural, resource.group, name, why)


RESYNC_SECONDS = 300.0


class QuotaController:
    """Counts anew what a quota limits when it changes and when something counted goes."""

    def __init__(self, api: Api, timers: Timers, quotas: Informer) -> None:
        self._api = api
        self._timers = timers
        self._quotas = quotas
        self._queue: WorkQueue[Key] = WorkQueue(timers, self._sync)

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
        uses = [usage_of(resource, body, self._timers) for body in (change.before, change.after)]
        return uses[0].keys() != uses[1].keys()

    def _queue_quotas(self, resource: Resource, namespace: str) -> None:
        for quota in self._quotas.without_controller(namespace):
            hard = (quota.get("status") or {}).get("hard") or {}
            if names_of(resource).intersection(hard):
                self._queue.add(Key(RESOURCE, namespace, quota["metadata"]["name"]))

    def _sync(self, key: Key) -> None:
        quota = self._quotas.get(key)
        if quota is None:
            return
        hard: JSON = quota["spec"].get("hard") or {}
        used = self._sum_usage(key.namespace, hard)
        status = {
            "hard": {name: canonical(str(amount)) for name, amount in hard.items()},
            "used": {name: str(used.get(name, NOTHING)) for name in hard},
        }
        if status != quota.get("status"):
            self._api.update(key, {**quota, "status": status}, QUOTAS, subresource="status")
        # What admission counted and the server then refused is found by counting now and then.
        self._queue.add_after(key, RESYNC_SECONDS)

    def _sum_usage(self, namespace: str, hard: JSON) -> Usage:
        total: Usage = {}
        for resource in RESOURCES:
            if not names_of(resource).intersection(hard):
                continue
            for body in self._api.store.items(resource.key, namespace):
                total = add_usage(total, usage_of(resource, body, self._timers))
        return total
