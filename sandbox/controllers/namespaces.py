"""The namespace controller: a namespace that is being deleted is emptied, then let go.

Rules of `pkg/controller/namespace`: pods first, everything else when they are gone.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from sandbox.api.api import Api, DeleteOptions, Propagation
from sandbox.controllers.conditions import find
from sandbox.controllers.informer import Informer
from sandbox.controllers.moments import Moments
from sandbox.controllers.ownership import key_of
from sandbox.controllers.queue import Later, SyncError, WorkQueue
from sandbox.controllers.writers import NAMESPACES
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.kinds import BY_KEY, RESOURCES, Resource
from sandbox.storage.store import Change, ChangeType, Key
from sandbox.times import Timers

GRACE_SECONDS = 5.0
"""How long the controller waits first, for API servers that do not know of the deletion yet."""

DELETING_SECONDS = 0.2
"""How long it takes to delete what is there; what ends quickly is gone when it is looked for."""

FINALIZERS_SECONDS = 15
"""The estimate where finalizers hold something."""

FINALIZER = "kubernetes"
PODS = BY_KEY["pods"]
NOT_FOUND = 404
BACKGROUND = DeleteOptions(propagation=Propagation.BACKGROUND)

Told = tuple[str, str]
"""Reason and message of a condition."""

_ENDED = frozenset({"Failed", "Succeeded"})
_WELL = {
    "NamespaceDeletionDiscoveryFailure": (
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


class NamespaceController:
    """Empties and releases namespaces."""

    def __init__(self, api: Api, timers: Timers, namespaces: Informer) -> None:
        self._api = api
        self._moments = Moments(timers)
        self._namespaces = namespaces
        self._queue: WorkQueue[Key] = WorkQueue(timers, self._sync)

    def start(self) -> None:
        """Begin to follow changes."""
        self._namespaces.watch(self._on_namespace)

    def _on_namespace(self, change: Change) -> None:
        body = change.after
        if change.type is ChangeType.DELETED or body is None:
            return
        if "deletionTimestamp" in body["metadata"]:
            self._queue.add_after(change.key, GRACE_SECONDS)

    def _sync(self, key: Key) -> Later | None:
        body = self._api.store.get(key)
        if body is None or "deletionTimestamp" not in body["metadata"]:
            return None
        if FINALIZER not in (body["spec"].get("finalizers") or ()):
            return None
        grace = self._grace_seconds(key.name, body["metadata"]["deletionTimestamp"])
        self._delete_all(PODS, key.name)
        return Later(DELETING_SECONDS, partial(self._go_on, key, grace))

    def _go_on(self, key: Key, grace: int) -> None:
        """Delete what is left once the pods are gone; let go, or come back later."""
        left = _Left()
        left.add(PODS, self._api.store.items(PODS.key, key.name))
        if left.objects:
            # As long as there are pods the conditions say nothing of what remains.
            self._tell(key, {})
        else:
            for resource in RESOURCES:
                if resource.namespaced:
                    left.add(resource, self._delete_all(resource, key.name))
            self._tell(key, left.describe_remaining())
        if not left.objects:
            self._finalize(key)
            return
        seconds = grace or (FINALIZERS_SECONDS if left.finalizers else 0)
        if not seconds:
            raise SyncError(f"unexpected items still remain in namespace: {key.name}")
        self._queue.add_after(key, seconds // 2 + 1)

    def _delete_all(self, resource: Resource, namespace: str) -> list[JSON]:
        """Delete every object of a resource; return those that are still there."""
        for body in self._api.store.items(resource.key, namespace):
            try:
                self._api.delete(key_of(resource.key, body), NAMESPACES, BACKGROUND)
            except ApiError as error:
                if error.status != NOT_FOUND:
                    raise
        return self._api.store.items(resource.key, namespace)

    def _grace_seconds(self, namespace: str, deleted_at: str) -> int:
        """Return the longest grace period of a pod that runs, 0 once that has passed."""
        seconds = [
            pod["spec"].get("terminationGracePeriodSeconds", 0)
            for pod in self._api.store.items("pods", namespace)
            if (pod.get("status") or {}).get("phase") not in _ENDED
        ]
        longest = max(seconds, default=0)
        return longest if self._moments.seconds_until(deleted_at, longest) > 0 else 0

    def _tell(self, key: Key, failing: dict[str, Told]) -> None:
        """Write the conditions where they change; those not in `failing` are well."""
        body = self._api.get(key)
        status = body.get("status") or {}
        before = status.get("conditions") or []
        conditions = [self._condition(kind, before, failing.get(kind)) for kind in _WELL]
        if conditions != before:
            written = {**body, "status": {**status, "conditions": conditions}}
            self._api.update(key, written, NAMESPACES, subresource="status")

    def _condition(self, kind: str, before: list[JSON], failing: Told | None) -> JSON:
        reason, message = failing or _WELL[kind]
        made = {
            "type": kind,
            "status": "True" if failing else "False",
            "lastTransitionTime": self._moments.stamp(),
            "reason": reason,
            "message": message,
        }
        current = find(before, kind)
        if current is not None and current["status"] == made["status"]:
            made["lastTransitionTime"] = current["lastTransitionTime"]
        return made

    def _finalize(self, key: Key) -> None:
        body = self._api.get(key)
        kept = [name for name in body["spec"].get("finalizers") or () if name != FINALIZER]
        released = {**body, "spec": {**body["spec"], "finalizers": kept}}
        self._api.update(key, released, NAMESPACES, subresource="finalize")


class _Left:
    """What is still there after a deletion: objects by resource, and what holds them."""

    def __init__(self) -> None:
        self.objects: Counter[str] = Counter()
        self.finalizers: Counter[str] = Counter()

    def add(self, resource: Resource, bodies: list[JSON]) -> None:
        """Count objects that are left of a resource."""
        if bodies:
            self.objects[f"{resource.plural}.{resource.group}"] = len(bodies)
        for body in bodies:
            self.finalizers.update(body["metadata"].get("finalizers") or ())

    def describe_remaining(self) -> dict[str, Told]:
        """Return what the conditions say of it."""
        found: dict[str, Told] = {}
        if self.objects:
            counts = sorted(
                f"{name} has {n} resource instances" for name, n in self.objects.items()
            )
            message = f"Some resources are remaining: {', '.join(counts)}"
            found["NamespaceContentRemaining"] = ("SomeResourcesRemain", message)
        if self.finalizers:
            counts = sorted(
                f"{name} in {n} resource instances" for name, n in self.finalizers.items()
            )
            held = "Some content in the namespace has finalizers remaining"
            message = f"{held}: {', '.join(counts)}"
            found["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", message)
        return found
