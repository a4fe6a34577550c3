"""The real control plane as a bed: a thread for each watch, one that listens to all of them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException

from tests.cluster.kubelet.api import JSON, Api
from tests.conformance.bed import Hear

WATCH_SECONDS = 60
"""How long a watch lives, so that none is left behind; longer than any scenario takes."""


class RealBed:
    """A `Bed` of a cluster that runs."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._heard: queue.SimpleQueue[tuple[float, bytes, Hear]] = queue.SimpleQueue()

    def json(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> JSON:
        """Send one request."""
        return self._api.json(method, path, body, content_type)

    def watch(self, path: str, hear: Hear) -> None:
        """Have a thread read the watch; each line has the time of its arrival."""
        opened = threading.Event()
        heard = self._heard

        def read() -> None:
            # A watch that is cut is missed by whoever waits for its lines.
            with suppress(OSError, HTTPException), self._api.lines(limited) as lines:
                opened.set()
                for line in lines:
                    heard.put((time.monotonic(), line, hear))

        limited = f"{path}&timeoutSeconds={WATCH_SECONDS}"
        threading.Thread(target=read, name=f"watch {path}", daemon=True).start()
        if not opened.wait(timeout=10):
            raise TimeoutError(f"no watch of {path}")

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def wait(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Listen until it holds."""
        until = time.monotonic() + seconds
        while not holds():
            try:
                at, line, hear = self._heard.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return False
            hear(at, line)
        return True

    def leave(self) -> None:
        """Let what comes from now on go unheard."""
        self._heard = queue.SimpleQueue()
