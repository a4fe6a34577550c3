"""The sandbox as a bed, in virtual time: waiting takes as long as its computation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from gate.app.rehearsal.http_bridge import request_of
from gate.app.rehearsal.virtual_world import Played
from sandbox.face import Cluster, ClusterOptions, Pace, Stream, Timers
from tests.cluster.kubelet.api import JSON
from tests.conformance.bed import Hear
from tests.played.client import PlayedClient

BEGUN_SECONDS = 1.0
"""How long the cluster has run when it is used."""


class SandboxBed:
    """A `Bed` of a cluster in this process; its time begins at `started` on the wall."""

    def __init__(self, started: datetime) -> None:
        self.cluster = Cluster(Timers(started), options=ClusterOptions(pace=Pace.SHORT))
        played = Played.of(self.cluster)
        self._clock = played.clock
        self._client = PlayedClient(played, "tests/admin")
        self._streams: list[Stream] = []
        self.wait(lambda: False, BEGUN_SECONDS)

    def json(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> JSON:
        """Send one request."""
        return self._client.json(method, path, body, content_type)

    def watch(self, path: str, hear: Hear) -> None:
        """Hear each line at the time at which it is sent."""
        headers = {"authorization": f"Bearer {self.cluster.admin_token}"}
        stream = self.cluster.handle(request_of("GET", path, headers, b"")).body
        assert not isinstance(stream, bytes), stream

        def take() -> None:
            for line in stream.take():
                hear(self._clock.now(), line)

        stream.on_data(take)
        take()
        self._streams.append(stream)

    def now(self) -> float:
        """Return the seconds of virtual time."""
        return self._clock.now()

    def wait(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Let time pass until it holds."""
        return self._clock.wait_until(holds, seconds)

    def leave(self) -> None:
        """Close the watches."""
        for stream in self._streams:
            stream.close()
        self._streams.clear()
