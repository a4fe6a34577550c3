"""The quota controller: `status` of a ResourceQuota follows its spec and what is really used.

Rules of `pkg/controller/resourcequota`: creations are counted by admission, what goes by this.
"""

from __future__ import annotations

from functools import partial

from sandbox.api.api import Api
from sandbox.controllers.informer import LATENCY_SECONDS, Informer
from sandbox.controllers.moments import Moments
from sandbox.controllers.queue import WorkQueue
from sandbox.controllers.quota.usage import (
    NOTHING,
    Usage,
    add_usage,
    matches_scopes,
    names_of,
    usage_of,
)
from sandbox.controllers.writers import QUOTAS
from sandbox.json import JSON
from sandbox.kinds import RESOURCES, Resource
from sandbox.objects.quantity import canonical
from sandbox.storage.store import Change, Key
from sandbox.times import Timers

RESOURCE = "resourcequotas"
RESYNC_SECONDS = 300.0


class QuotaController:
    """Counts anew what a quota limits when it changes and when something counted goes."""

    def __init__(self, api: Api, timers: Timers, quotas: Informer) -> None:
        self._api = api
        self._timers = timers
        self._moments = Moments(timers)
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
        uses = [usage_of(resource, body, self._moments) for body in (change.before, change.after)]
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
        used = self._sum_usage(key.namespace, quota, hard)
        status = {
            "hard": {name: canonical(str(amount)) for name, amount in hard.items()},
            "used": {name: str(used.get(name, NOTHING)) for name in hard},
        }
        if status != quota.get("status"):
            self._api.update(key, {**quota, "status": status}, QUOTAS, subresource="status")
        # What admission counted and the server then refused is found by counting now and then.
        self._queue.add_after(key, RESYNC_SECONDS)

    def _sum_usage(self, namespace: str, quota: JSON, hard: JSON) -> Usage:
        total: Usage = {}
        for resource in RESOURCES:
            if not names_of(resource).intersection(hard):
                continue
            for body in self._api.store.items(resource.key, namespace):
                if resource.key != "pods" or matches_scopes(quota, body):
                    total = add_usage(total, usage_of(resource, body, self._moments))
        return total
