"""Every version that the workloads of a cluster went through."""

from __future__ import annotations

import functools
import threading
from collections import defaultdict
from typing import Protocol

from tests.cluster.kubelet.api import JSON, Api
from tests.cluster.kubelet.watch import Change, Watch

SEEN_SECONDS = 10.0


KEPT = ("deployments", "statefulsets", "daemonsets")
"""The resources of the group apps whose versions are kept."""


class History(Protocol):
    """The versions of workloads; a deletion is one more."""

    def versions(
        self, namespace: str, name: str, until: int, resource: str = "deployments"
    ) -> list[JSON]:
        """Return the versions so far, resource version `until` and all before it among them."""


class WatchedHistory:
    """What one watch for the whole run has brought."""

    def __init__(self, api: Api) -> None:
        self._versions: dict[tuple[str, str, str], list[JSON]] = defaultdict(list)
        self._grown = threading.Condition()
        self._watches = [
            Watch(api, f"/apis/apps/v1/{each}", functools.partial(self._take, each))
            for each in KEPT
        ]

    def start(self) -> None:
        """Watch from now on, in threads that end with the process."""
        for watch in self._watches:
            threading.Thread(target=watch.run, name="history", daemon=True).start()

    def stop(self) -> None:
        """Say nothing of the server's end."""
        for watch in self._watches:
            watch.stop()

    def versions(
        self, namespace: str, name: str, until: int, resource: str = "deployments"
    ) -> list[JSON]:
        """Return the versions so far, resource version `until` and all before it among them.

        Raises `TimeoutError` where the watch does not bring that one.
        """

        def is_there() -> bool:
            return bool(found) and version_of(found[-1]) >= until

        with self._grown:
            found = self._versions[resource, namespace, name]
            if not self._grown.wait_for(is_there, SEEN_SECONDS):
                raise TimeoutError(f"{namespace}/{name} was never seen at version {until}")
            return list(found)

    def _take(self, resource: str, change: Change) -> None:
        metadata = change.object["metadata"]
        key = (resource, metadata["namespace"], metadata["name"])
        with self._grown:
            self._versions[key].append(change.object)
            self._grown.notify_all()


def version_of(item: JSON) -> int:
    """Return an object's resource version: the cluster's count of writes."""
    return int(item["metadata"]["resourceVersion"])
