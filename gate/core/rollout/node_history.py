"""The nodes of a cluster as they are known, and what was seen on each of them since we watch.

Only a kind that runs a pod on each node looks at them (`WorkloadKind.looks_at_nodes`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Node, Pod


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes by name, none of them if they could not be read.

    `unready_at_start` are those that were not ready at our write, None before it or until they were
    listed. `readiness` says of each node and each revision (by the key of its pods) whether the
    last pod there was ready, before it was deleted: what a kubelet then stops is no longer ready.
    """

    present: FrozenMap[str, Node] = field(default_factory=FrozenMap)
    unready_at_start: frozenset[str] | None = None
    readiness: FrozenMap[str, FrozenMap[str, bool]] = field(default_factory=FrozenMap)

    @property
    def are_known(self) -> bool:
        """Whether nodes could be read; a cluster that runs pods has some."""
        return bool(self.present)

    def is_ready(self, name: str) -> bool:
        """Tell whether a node is there and ready."""
        node = self.present.get(name)
        return node is not None and node.ready

    def was_ready_at_start(self, name: str) -> bool:
        """Tell whether a node was ready at our write, or has joined since."""
        return name not in (self.unready_at_start or ())

    def has_run_others(self, name: str, key: str) -> bool:
        """Tell whether a pod of another revision than `key` was ready there right before."""
        return any(ready for one, ready in self.readiness.get(name, {}).items() if one != key)

    def list_resource_versions(self) -> dict[str, str]:
        """Return the resourceVersions of the nodes by uid."""
        return {node.uid: node.resource_version for node in self.present.values()}

    def begin(self) -> Nodes:
        """Return them at the moment of our write."""
        return replace(self, unready_at_start=self._unready() if self.are_known else None)

    def with_node(self, node: Node) -> Nodes:
        """Return them after a node was seen; most of what a node reports changes nothing here."""
        known = self.present.get(node.name)
        if known is not None and (known.uid, known.ready) == (node.uid, node.ready):
            return self
        return replace(self, present=self.present.put(node.name, node))

    def without(self, uid: str) -> Nodes:
        """Return them without the node of that uid."""
        name = next((node.name for node in self.present.values() if node.uid == uid), None)
        return self if name is None else replace(self, present=self.present.drop(name))

    def with_list(self, nodes: Iterable[Node], *, written: bool) -> Nodes:
        """Return them as a list has them; after our write, the first list shows the start."""
        listed = FrozenMap((node.name, node) for node in nodes)
        if {name: (one.uid, one.ready) for name, one in listed.items()} == {
            name: (one.uid, one.ready) for name, one in self.present.items()
        }:
            return self
        found = replace(self, present=listed)
        is_first = written and self.unready_at_start is None
        return found.begin() if is_first else found

    def with_pod(self, key: str, pod: Pod) -> Nodes:
        """Return them after a pod of the revision `key` was seen."""
        known = self.readiness.get(pod.node, FrozenMap[str, bool]())
        is_settled = pod.deleting and key in known
        if not pod.node or is_settled or known.get(key) is pod.ready:
            return self
        there = self.readiness.put(pod.node, known.put(key, pod.ready))
        return replace(self, readiness=there)

    def _unready(self) -> frozenset[str]:
        return frozenset(name for name, node in self.present.items() if not node.ready)
