"""The real clusters of a run: one for each configuration, started when a test first asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.bed.history import WatchedHistory
from tests.bed.lacking import GIVEN, lacks
from tests.cluster.cluster import Cluster, given_cluster, own_cluster
from tests.cluster.configuration import PLAIN, Configuration


@dataclass(frozen=True, slots=True)
class Ground:
    """A real cluster, and every version that its workloads went through."""

    cluster: Cluster
    history: WatchedHistory


class Grounds:
    """Starts clusters as they are asked for, and keeps them until `close`.

    `ROLLOUT_GATE_E2E_KUBECONFIG` names a cluster that runs, which is the plain one.
    """

    def __init__(self, folder: Callable[[str], Path]) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._open: dict[str, Ground] = {}

    def of(self, configuration: Configuration) -> Ground:
        """Return the cluster of a configuration; the test is skipped where it cannot be had."""
        found = self._open.get(configuration.name)
        if found is None:
            found = self._open[configuration.name] = self._started(configuration)
        return found

    def close(self) -> None:
        """Stop what was started."""
        self._stack.close()

    def _started(self, configuration: Configuration) -> Ground:
        folder = self._folder(configuration.name)
        given = os.environ.get(GIVEN)
        if given and configuration is not PLAIN:
            lacks(f"the servers of this cluster cannot be run as {configuration.name}")
        context = (
            given_cluster(Path(given), folder) if given else own_cluster(folder, configuration)
        )
        cluster = self._stack.enter_context(context)
        history = WatchedHistory(cluster.api)
        history.start()
        self._stack.callback(history.stop)
        return Ground(cluster, history)
