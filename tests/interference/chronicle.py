"""Every version that the objects of a cluster go through, as one watch a resource brings them."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.bed.history import version_of
from tests.bed.invariants import Key
from tests.cluster.kubelet.api import JSON, Api
from tests.cluster.kubelet.watch import Change, ChangeKind, Watch
from tests.cluster.objects import Objects

CAUGHT_UP_SECONDS = 15.0
COLLECTIONS = {
    "configmaps": "/api/v1",
    "secrets": "/api/v1",
    "services": "/api/v1",
    "pods": "/api/v1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "statefulsets": "/apis/apps/v1",
    "horizontalpodautoscalers": "/apis/autoscaling/v2",
    "poddisruptionbudgets": "/apis/policy/v1",
    "leases": "/apis/coordination.k8s.io/v1",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A version of an object, or that it has gone: the count of the write, and when it was heard.

    `body` of what has gone is None.
    """

    key: Key
    number: int
    at: datetime
    body: JSON | None


class Chronicle:
    """The versions of all namespaces, until they are forgotten."""

    def __init__(self, api: Api) -> None:
        self._seen: dict[str, list[Seen]] = defaultdict(list)
        self._grown = threading.Condition()
        self._watches = [
            Watch(api, f"{prefix}/{resource}", self._taker(resource))
            for resource, prefix in COLLECTIONS.items()
        ]

    def start(self) -> None:
        """Watch from now on, in threads that end with the process."""
        for watch in self._watches:
            threading.Thread(target=watch.run, name="chronicle", daemon=True).start()

    def stop(self) -> None:
        """Say nothing of the server's end."""
        for watch in self._watches:
            watch.stop()

    def forget(self, namespace: str) -> None:
        """Drop the versions of a namespace whose trial is over."""
        with self._grown:
            self._seen.pop(namespace, None)

    def seen(self, namespace: str) -> list[Seen]:
        """Return the versions of a namespace so far, in the order of their writes."""
        with self._grown:
            return sorted(self._seen[namespace], key=lambda each: each.number)

    def wait(
        self, namespace: str, holds: Callable[[Seen], bool], ended: threading.Event
    ) -> Seen | None:
        """Return the first version for which `holds` is true; None where `ended` comes first."""
        looked_at = 0
        with self._grown:
            while not ended.is_set():
                found = self._seen[namespace]
                for each in found[looked_at:]:
                    if holds(each):
                        return each
                looked_at = len(found)
                self._grown.wait(0.5)
        return None

    def wake(self) -> None:
        """Let those who wait look whether what they wait with has ended."""
        with self._grown:
            self._grown.notify_all()

    def catch_up(self, objects: Objects) -> None:
        """Return when everything that the server has of a namespace has been heard of.

        Raises `TimeoutError` where it does not come.
        """
        listed = {resource: objects.list_all(resource) for resource in COLLECTIONS}
        wanted = {
            (resource, item["metadata"]["name"]): version_of(item)
            for resource, items in listed.items()
            for item in items
        }

        def is_there() -> bool:
            latest = {(each.key.resource, each.key.name): each for each in found}
            heard = all(key in latest and latest[key].number >= n for key, n in wanted.items())
            gone = all(each.body is None for key, each in latest.items() if key not in wanted)
            return heard and gone

        with self._grown:
            found = self._seen[objects.namespace]
            if not self._grown.wait_for(is_there, CAUGHT_UP_SECONDS):
                raise TimeoutError(f"the watches of {objects.namespace} are behind")

    def _taker(self, resource: str) -> Callable[[Change], None]:
        def take(change: Change) -> None:
            metadata = change.object["metadata"]
            key = Key(resource, metadata["namespace"], metadata["name"])
            body = change.object if change.kind is ChangeKind.SEEN else None
            seen = Seen(key, version_of(change.object), datetime.now(UTC), body)
            with self._grown:
                self._seen[key.namespace].append(seen)
                self._grown.notify_all()

        return take
