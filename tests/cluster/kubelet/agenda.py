"""The clock of one thread: messages as they come, actions when they are due."""

from __future__ import annotations

import heapq
import itertools
import queue
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Agenda(Generic[T]):
    """`put` and `stop` are for any thread, the rest for the one that calls `run`."""

    def __init__(self) -> None:
        self._inbox: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def put(self, message: T) -> None:
        """Hand in a message."""
        self._inbox.put(message)

    def stop(self) -> None:
        """Let `run` return when it has taken what was put before."""
        self._inbox.put(None)

    def at(self, due: float, action: Callable[[], None]) -> None:
        """Call `action` at `due` on `time.monotonic`; at the same time in the order of asking."""
        heapq.heappush(self._due, (due, next(self._numbers), action))

    def run(self, take: Callable[[T], None]) -> None:
        """Call `take` with each message and every action at its time, until `stop`."""
        while True:
            while self._due and self._due[0][0] <= time.monotonic():
                heapq.heappop(self._due)[2]()
            timeout = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            try:
                message = self._inbox.get(timeout=timeout)
            except queue.Empty:
                continue
            if message is None:
                return
            take(message)
