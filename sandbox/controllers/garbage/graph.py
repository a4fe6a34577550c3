"""Who depends on whom: the owner references of all objects, a moment after the store.

Rules of the graph builder in `pkg/controller/garbagecollector`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.api.api import Api
from sandbox.json import JSON
from sandbox.kinds import BY_KIND
from sandbox.storage.store import Change, ChangeType, Key

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class Node:
    """An object with what the collector has to know of it."""

    key: Key
    uid: str
    owners: tuple[JSON, ...]
    deleting: bool
    finalizers: frozenset[str]

    @property
    def awaits_dependents(self) -> bool:
        """It is being deleted in the foreground: its dependents go first."""
        return self.deleting and FOREGROUND in self.finalizers

    @property
    def leaves_orphans(self) -> bool:
        """It is being deleted, and its dependents stay."""
        return self.deleting and ORPHAN in self.finalizers


def node_of(key: Key, body: JSON) -> Node:
    """Return an object's node."""
    metadata = body["metadata"]
    return Node(
        key,
        metadata["uid"],
        tuple(metadata.get("ownerReferences") or ()),
        "deletionTimestamp" in metadata,
        frozenset(metadata.get("finalizers") or ()),
    )


class Graph:
    """All nodes by uid, and the dependents of each uid, known or not."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._dependents: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def get(self, uid: str) -> Node | None:
        """Return a node that has been seen."""
        return self._nodes.get(uid)

    def dependents(self, uid: str) -> list[Node]:
        """Return those that name an owner."""
        return [self._nodes[each] for each in self._dependents.get(uid, {})]

    def blocking(self, uid: str) -> list[Node]:
        """Return the dependents that their owner's end has to wait for."""
        return [node for node in self.dependents(uid) if _blocks(node.owners, uid)]

    def follow(self, change: Change) -> Node | None:
        """Take a change in; return the node as it is, or was where it is gone."""
        body = change.after or change.before
        if body is None:
            return None
        node = node_of(change.key, body)
        before = self._nodes.pop(node.uid, None)
        self._link(before.owners if before else (), node.uid, linked=False)
        if change.type is not ChangeType.DELETED:
            self._nodes[node.uid] = node
            self._link(node.owners, node.uid, linked=True)
        return node

    def _link(self, owners: Iterable[JSON], uid: str, *, linked: bool) -> None:
        for owner in owners:
            found = self._dependents[owner["uid"]]
            if linked:
                found[uid] = None
            else:
                found.pop(uid, None)
            if not found:
                del self._dependents[owner["uid"]]


def owner_of(api: Api, node: Node, reference: JSON) -> tuple[bool, Node | None]:
    """Ask the server for an owner; say whether its kind is served, and return it if it is there."""
    resource = BY_KIND.get((reference["apiVersion"], reference["kind"]))
    if resource is None or (resource.namespaced and not node.key.namespace):
        return False, None
    namespace = node.key.namespace if resource.namespaced else ""
    key = Key(resource.key, namespace, reference["name"])
    found = api.store.get(key)
    if found is None or found["metadata"]["uid"] != reference["uid"]:
        return True, None
    return True, node_of(key, found)


def _blocks(owners: Iterable[JSON], uid: str) -> bool:
    return any(each["uid"] == uid and each.get("blockOwnerDeletion") for each in owners)
