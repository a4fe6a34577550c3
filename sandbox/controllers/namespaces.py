"""The namespace controller: a namespace that is being deleted is emptied, then let go.

Rules of `pkg/controller/namespace`: pods first, everything else when they are gone. The conditions
that say what is left are not written.
"""

from __future__ import annotations

from functools import partial

from sandbox.api.api import Api, DeleteOptions, Propagation
from sandbox.controllers.ownership import NAMESPACES, key_of
from sandbox.controllers.pods import ENDED, is_deleting, phase
from sandbox.controllers.queue import Informer, Later, SyncError, WorkQueue
from sandbox.failure import forgiving_absence
from sandbox.json import JSON
from sandbox.kinds import BY_KEY, RESOURCES, Resource
from sandbox.storage.store import Change, Key

GRACE_SECONDS = 5.0
"""How long the controller waits first, for API servers that do not know of the deletion yet."""

DELETING_SECONDS = 0.2
"""How long it takes to delete what is there; what ends quickly is gone when it is looked for."""

FINALIZERS_SECONDS = 15
"""The estimate where finalizers hold something."""

FINALIZER = "kubernetes"
PODS = BY_KEY["pods"]
BACKGROUND = DeleteOptions(propagation=Propagation.BACKGROUND)


class NamespaceController:
    """Empties and releases namespaces."""

    def __init__(self, api: Api, namespaces: Informer) -> None:
        self._api = api
        self._timers = api.timers
        self._namespaces = namespaces
        self._queue: WorkQueue[Key] = WorkQueue(api.timers, self._sync)

    def start(self) -> None:
        """Begin to follow changes."""
        self._namespaces.watch(self._on_namespace)

    def _on_namespace(self, change: Change) -> None:
        body = change.after
        if body is not None and is_deleting(body):
            self._queue.add_after(change.key, GRACE_SECONDS)

    def _sync(self, key: Key) -> Later | None:
        body = self._api.store.get(key)
        if body is None or not is_deleting(body):
            return None
        if FINALIZER not in (body["spec"].get("finalizers") or ()):
            return None
        grace = self._grace_seconds(key.name, body["metadata"]["deletionTimestamp"])
        self._delete_all(PODS, key.name)
        return Later(DELETING_SECONDS, partial(self._go_on, key, grace))

    def _go_on(self, key: Key, grace: int) -> None:
        """Delete what is left once the pods are gone; let go, or come back later."""
        left = self._api.store.items(PODS.key, key.name)
        if not left:
            for resource in RESOURCES:
                if resource.namespaced:
                    left += self._delete_all(resource, key.name)
        if not left:
            self._finalize(key)
            return
        held = any(body["metadata"].get("finalizers") for body in left)
        seconds = grace or (FINALIZERS_SECONDS if held else 0)
        if not seconds:
            raise SyncError(f"unexpected items still remain in namespace: {key.name}")
        self._queue.add_after(key, seconds // 2 + 1)

    def _delete_all(self, resource: Resource, namespace: str) -> list[JSON]:
        """Delete every object of a resource; return those that are still there."""
        for body in self._api.store.items(resource.key, namespace):
            with forgiving_absence():
                self._api.delete(key_of(resource.key, body), NAMESPACES, BACKGROUND)
        return self._api.store.items(resource.key, namespace)

    def _grace_seconds(self, namespace: str, deleted_at: str) -> int:
        """Return the longest grace period of a pod that runs, 0 once that has passed."""
        seconds = [
            pod["spec"].get("terminationGracePeriodSeconds", 0)
            for pod in self._api.store.items("pods", namespace)
            if phase(pod) not in ENDED
        ]
        longest = max(seconds, default=0)
        return longest if self._timers.seconds_until(deleted_at, longest) > 0 else 0

    def _finalize(self, key: Key) -> None:
        body = self._api.get(key)
        kept = [name for name in body["spec"].get("finalizers") or () if name != FINALIZER]
        released = {**body, "spec": {**body["spec"], "finalizers": kept}}
        self._api.update(key, released, NAMESPACES, subresource="finalize")
