"""What the controllers of workloads share: whom a change wakes.

A controller syncs the owners of one kind, when they change and when what they own does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from sandbox.api.api import Api, Writer
from sandbox.controllers.ownership import controller_of, key_of
from sandbox.controllers.pods import is_deleting
from sandbox.controllers.queue import Informer, Later, WorkQueue
from sandbox.controllers.recorder import Recorder
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.objects.selectors import selects
from sandbox.storage.store import Change, ChangeType, Key


class OwnerController(ABC):
    """Syncs each owner of one kind that changed, or whose dependents did."""

    work_seconds: float
    """How long a sync holds its owner."""

    most_retries: int | None = None
    """How often a sync that failed is tried again."""

    def __init__(
        self, api: Api, by: Writer, component: str, owners: Informer, dependents: Informer
    ) -> None:
        self._api = api
        self._by = by
        self._timers = api.timers
        self._owners = owners
        self._dependents = dependents
        self._kind = BY_KEY[owners.resource].kind
        self._recorder = Recorder(api, by, component)
        self._queue: WorkQueue[Key] = WorkQueue(
            api.timers, self._sync, most_retries=self.most_retries, work_seconds=self.work_seconds
        )

    def start(self) -> None:
        """Begin to follow changes."""
        self._owners.watch(self._on_owner)
        self._dependents.watch(self._on_dependent)

    @abstractmethod
    def _sync(self, key: Key) -> Later | None:
        """Bring the owner at a key nearer to what it asks for."""

    def _on_owner(self, change: Change) -> None:
        if change.type is ChangeType.DELETED and change.before is not None:
            self._recorder.forget(change.before["metadata"]["uid"])
        self._queue.add(change.key)

    def _wake(self, owner: Key) -> None:
        """Have an owner synced for what became of a dependent."""
        self._queue.add(owner)

    def _on_dependent(self, change: Change) -> None:
        """Wake whoever has it, had it or may take it."""
        after, before, namespace = change.after, change.before, change.key.namespace
        if before is not None and after is not None and not is_deleting(after):
            self._on_update(namespace, before, after)
            return
        reference = controller_of(after or before)
        owner = self._owner(namespace, reference)
        if owner is not None:
            self._wake(owner)
        elif before is None and after is not None and reference is None:
            self._wake_selecting(namespace, after)

    def _on_update(self, namespace: str, before: JSON, after: JSON) -> None:
        left, reference = controller_of(before), controller_of(after)
        for owner in (left if left != reference else None, reference):
            found = self._owner(namespace, owner)
            if found is not None:
                self._wake(found)
        relabelled = before["metadata"].get("labels") != after["metadata"].get("labels")
        if reference is None and (left is not None or relabelled):
            self._wake_selecting(namespace, after)

    def _wake_selecting(self, namespace: str, dependent: JSON) -> None:
        labels = dependent["metadata"].get("labels")
        for each in self._owners.all():
            key = key_of(self._owners.resource, each)
            if key.namespace == namespace and selects(each["spec"].get("selector"), labels):
                self._wake(key)

    def _owner(self, namespace: str, reference: JSON | None) -> Key | None:
        """Return where the owner is that a reference names, None where it is another kind's."""
        if reference is None or reference["kind"] != self._kind:
            return None
        key = Key(self._owners.resource, namespace, reference["name"])
        found = self._owners.get(key)
        return key if found and found["metadata"]["uid"] == reference["uid"] else None
