"""Nodes that join for one test, and take the pods of its DaemonSets alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress

from sandbox.kubelet.nodes import ANNOTATION, NodeState, node
from tests.cluster.kubelet.api import JSON, ApiError
from tests.cluster.objects import Client, Objects, condition
from tests.cluster.workloads import POOL

__all__ = ["NodeState", "Nodes"]

NOTICED_SECONDS = 90.0
"""A node controller calls a node unknown that was silent for 50 s, unless told otherwise."""


class Nodes:
    """The nodes of a pool that is called as the test's namespace; `close` takes them away."""

    def __init__(self, client: Client, objects: Objects) -> None:
        self.pool = objects.namespace
        self._api = client
        self._objects = objects
        self._names: list[str] = []
        self._numbers = itertools.count(1)

    def join(self, count: int = 1, state: NodeState = NodeState.READY) -> list[str]:
        """Let nodes join, and return their names once they are as asked; a dead one never is."""
        return [self._join(state) for _ in range(count)]

    def turn(self, name: str, state: NodeState) -> None:
        """Make a node ready, not ready or dead; returns before anybody has noticed."""
        asked = {"metadata": {"annotations": {ANNOTATION: state.value}}}
        self._objects.patch("nodes", name, asked)

    def wait(self, name: str, is_ready: str) -> JSON:
        """Return a node as soon as its condition Ready is `True`, `False` or `Unknown`."""
        return self._objects.wait_for("nodes", name, _is(is_ready), NOTICED_SECONDS)

    def leave(self, name: str) -> None:
        """Delete a node, and its pods as their garbage collector does 40 to 60 s later.

        Before that a DaemonSet's controller hears nothing of it: `desiredNumberScheduled` stays.
        """
        self._names.remove(name)
        self._objects.delete("nodes", name)
        self._collect({name})

    def move(self, pool: str) -> None:
        """Label the nodes as those of another pool: no pod of this one's is to run on them."""
        for name in self._names:
            self._objects.patch("nodes", name, {"metadata": {"labels": {POOL: pool}}})

    def close(self) -> None:
        """Delete all nodes that have joined, and the pods that would wait for them for ever."""
        joined, self._names = {*self._names}, []
        for name in joined:
            self._objects.delete("nodes", name)
        self._collect(joined)

    def _collect(self, names: set[str]) -> None:
        for pod in self._objects.list_all("pods"):
            if pod["spec"].get("nodeName") in names:
                path = self._objects.path("pods", pod["metadata"]["name"])
                with suppress(ApiError):  # Its controller may have been faster.
                    self._api.json("DELETE", path, {"gracePeriodSeconds": 0})

    def _join(self, state: NodeState) -> str:
        name = f"{self.pool}-{next(self._numbers)}"
        taint = {"key": POOL, "value": self.pool, "effect": "NoSchedule"}
        body = node(name, [taint], asked=state.value, labels={POOL: self.pool})
        self._objects.create("nodes", body)
        self._names.append(name)
        if state is not NodeState.DEAD:
            self.wait(name, "True" if state is NodeState.READY else "False")
        return name


def _is(is_ready: str) -> Callable[[JSON], bool]:
    return lambda item: condition(item, "Ready").get("status") == is_ready
