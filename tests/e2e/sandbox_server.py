"""A sandbox in real time for programs of others: in a thread of its own, on loopback."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.face import Cluster, ClusterOptions, Pace
from sandbox.server import Endpoint, Served, ServeOptions, serve

START_SECONDS = 30.0


@contextmanager
def sandbox_server(
    options: ServeOptions | None = None, cluster: Served | None = None
) -> Iterator[Endpoint]:
    """Serve a sandbox, a new one unless given, as long as the block runs.

    Raises what ends it before.
    """
    endpoints: queue.SimpleQueue[Endpoint | BaseException] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    served = cluster or Cluster(options=ClusterOptions(pace=Pace.SHORT))

    def run() -> None:
        try:
            loop.run_until_complete(serve(served, stop, endpoints.put, options))
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            endpoints.put(error)
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="sandbox")
    thread.start()
    try:
        first = endpoints.get(timeout=START_SECONDS)
        if isinstance(first, BaseException):
            raise first
        yield first
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(stop.set)
        thread.join(START_SECONDS)
    if not endpoints.empty():
        raise RuntimeError(f"the sandbox has broken: {endpoints.get()!r}")
