"""The garbage collector: background, foreground and orphaning deletion.

Rules of `pkg/controller/garbagecollector/garbagecollector.go`. Events are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType, Propagation
from sandbox.controllers.garbage.graph import (
    FOREGROUND,
    ORPHAN,
    Graph,
    Node,
    node_of,
    owner_of,
)
from sandbox.controllers.informer import LATENCY_SECONDS
from sandbox.controllers.queue import Later, WorkQueue
from sandbox.controllers.writers import GARBAGE
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.kinds import RESOURCES
from sandbox.storage.store import Change, ChangeType, Key
from sandbox.times import Timers

NOT_FOUND = 404

ORPHANING_SECONDS = 0.02
"""How long it takes to release the dependents; the owner's controller sees them go meanwhile."""


class GarbageCollector:
    """Deletes what no living owner holds; lets owners go once their dependents have."""

    def __init__(self, api: Api, timers: Timers) -> None:
        self._api = api
        self._timers = timers
        self._graph = Graph()
        self._to_delete: WorkQueue[str] = WorkQueue(timers, self._delete_if_unowned)
        self._to_orphan: WorkQueue[str] = WorkQueue(timers, self._leave_orphans)

    def start(self) -> None:
        """Take in what is stored, and follow."""
        for resource in RESOURCES:
            if resource.key == "events":
                continue
            for body in self._api.store.items(resource.key):
                metadata = body["metadata"]
                key = Key(resource.key, metadata.get("namespace", ""), metadata["name"])
                version = int(metadata["resourceVersion"])
                self._hear(Change(ChangeType.ADDED, key, None, body, version))
            self._api.store.listen(resource.key, self._hear)

    def _hear(self, change: Change) -> None:
        if _concerns(change):
            self._timers.call_later(LATENCY_SECONDS, partial(self._follow, change))

    def _follow(self, change: Change) -> None:
        body = change.after or change.before or {}
        before = self._graph.get(body["metadata"]["uid"])
        node = self._graph.follow(change)
        if node is None:
            return
        if change.type is ChangeType.DELETED:
            self._on_gone(node)
            return
        if node.leaves_orphans:
            self._to_orphan.add(node.uid)
        if node.awaits_dependents:
            self._to_delete.add(node.uid)
            self._queue(self._graph.dependents(node.uid))
        if not node.deleting and self._lacks_owner(node):
            self._to_delete.add(node.uid)
        if before is not None and before.owners != node.owners:
            self._queue_waiting(before.owners)

    def _lacks_owner(self, node: Node) -> bool:
        """Say whether an owner is not there, or waits for its dependents: both are looked into."""
        owners = [self._graph.get(reference["uid"]) for reference in node.owners]
        return any(owner is None or owner.awaits_dependents for owner in owners)

    def _on_gone(self, node: Node) -> None:
        self._queue(self._graph.dependents(node.uid))
        self._queue_waiting(node.owners)

    def _queue_waiting(self, references: Iterable[JSON]) -> None:
        """Look into owners that wait: one of those that they waited for no longer holds them."""
        for reference in references:
            owner = self._graph.get(reference["uid"])
            if owner is not None and owner.awaits_dependents:
                self._to_delete.add(owner.uid)

    def _queue(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._to_delete.add(node.uid)

    def _delete_if_unowned(self, uid: str) -> None:
        known = self._graph.get(uid)
        if known is None or (known.deleting and not known.awaits_dependents):
            return
        body = self._api.store.get(known.key)
        if body is None or body["metadata"]["uid"] != uid:
            return
        if known.awaits_dependents:
            self._release(known)
            return
        node = node_of(known.key, body)
        if not node.owners:
            return
        solid, lost, waiting = self._classify_owners(node)
        if solid:
            self._forget_owners(node, [*lost, *waiting])
        elif waiting and self._graph.dependents(uid):
            self._unblock_cycle(node)
            self._delete(node, body, Propagation.FOREGROUND)
        elif lost or waiting:
            self._delete(node, body, _policy(node))

    def _classify_owners(self, node: Node) -> tuple[list[JSON], list[JSON], list[JSON]]:
        """Return the references to owners that live, that are gone, and that wait."""
        solid: list[JSON] = []
        lost: list[JSON] = []
        waiting: list[JSON] = []
        for reference in node.owners:
            served, owner = owner_of(self._api, node, reference)
            if served and owner is None:
                lost.append(reference)
            elif owner is not None and owner.awaits_dependents:
                waiting.append(reference)
            else:
                # An owner of a kind that is not served may exist: what it owns is left alone.
                solid.append(reference)
        return solid, lost, waiting

    def _release(self, node: Node) -> None:
        """Let an owner go that waits for nothing any more; else see to its dependents."""
        blocking = self._graph.blocking(node.uid)
        if blocking:
            self._queue(each for each in blocking if not each.awaits_dependents)
        else:
            self._drop_finalizer(node, FOREGROUND)

    def _unblock_cycle(self, node: Node) -> None:
        """Where a dependent waits as well, two could wait for each other: do not block."""
        if not any(each.awaits_dependents for each in self._graph.dependents(node.uid)):
            return
        owners = [{**each, "blockOwnerDeletion": False} for each in node.owners]
        self._patch_owners(node, owners)

    def _leave_orphans(self, uid: str) -> Later | None:
        node = self._graph.get(uid)
        if node is None:
            return None
        for each in self._graph.dependents(uid):
            self._forget_owners(each, [owner for owner in each.owners if owner["uid"] == uid])
        return Later(ORPHANING_SECONDS, partial(self._drop_finalizer, node, ORPHAN))

    def _forget_owners(self, node: Node, references: list[JSON]) -> None:
        if references:
            gone = [{"$patch": "delete", "uid": each["uid"]} for each in references]
            self._patch_owners(node, gone)

    def _patch_owners(self, node: Node, owners: list[JSON]) -> None:
        changes = {"metadata": {"uid": node.uid, "ownerReferences": owners}}
        self._forgiving(
            lambda: self._api.patch(node.key, Patch(PatchType.STRATEGIC, changes), GARBAGE)
        )

    def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        body = self._api.store.get(node.key)
        if body is None or body["metadata"]["uid"] != node.uid:
            return
        metadata = body["metadata"]
        found = metadata.get("finalizers") or []
        if finalizer not in found:
            return
        changes = {
            "metadata": {
                "resourceVersion": metadata["resourceVersion"],
                "finalizers": [each for each in found if each != finalizer],
            }
        }
        patch = Patch(PatchType.MERGE, changes)
        self._forgiving(lambda: self._api.patch(node.key, patch, GARBAGE))

    def _delete(self, node: Node, body: JSON, policy: Propagation) -> None:
        options = DeleteOptions(
            propagation=policy,
            uid=node.uid,
            resource_version=body["metadata"]["resourceVersion"],
        )
        self._forgiving(lambda: self._api.delete(node.key, GARBAGE, options))

    def _forgiving(self, write: Callable[[], JSON]) -> None:
        """Do a write; what is gone already needs none."""
        try:
            write()
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise


def _policy(node: Node) -> Propagation:
    if ORPHAN in node.finalizers:
        return Propagation.ORPHAN
    return Propagation.FOREGROUND if FOREGROUND in node.finalizers else Propagation.BACKGROUND


def _concerns(change: Change) -> bool:
    """Say whether a change is one of ownership or deletion: most are not."""
    if change.before is None or change.after is None:
        return True
    before, after = change.before["metadata"], change.after["metadata"]
    names = ("ownerReferences", "deletionTimestamp", "finalizers", "uid")
    return any(before.get(name) != after.get(name) for name in names)
