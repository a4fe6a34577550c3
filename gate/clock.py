"""Time for the whole gate: every wait, and every thread that waits, goes through a `Clock`.

`SystemClock` is the machine's own; `gate.virtual_time` has one that never sleeps.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final, Protocol, TypeVar

Message = TypeVar("Message")


class Clock(Protocol):
    """Monotonic seconds, and the only way to wait or to start a thread."""

    def now(self) -> float:
        """Return monotonic seconds; the zero point is arbitrary."""

    def wall(self) -> datetime:
        """Return the date and time, in UTC."""

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Wait that long, or until the event is set; return whether it was set."""

    def receive(
        self, inbox: queue.SimpleQueue[Message], seconds: float = math.inf
    ) -> Message | None:
        """Return the next message, None if none comes within `seconds`."""

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Start a daemon thread; return an event that is set when it ends."""


LONGEST_WAIT_SECONDS: Final = 0.2
"""How late a signal may be handled."""
LONGEST_NAP_SECONDS: Final = 30.0
"""Longest single wait of a thread that never handles signals.

Python's waits do not advance while the machine is suspended: this bounds how late they end.
"""
_SINCE_BOOT: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""The clock that keeps running while the machine is suspended. On Linux CLOCK_MONOTONIC stops; on
macOS, which has no other, it keeps running (clock_gettime(2), clock_gettime(3))."""


class SystemClock:
    """The machine's clocks and threads."""

    def now(self) -> float:
        """Return monotonic seconds, including time the machine was suspended."""
        return time.clock_gettime(_SINCE_BOOT)

    def wall(self) -> datetime:
        """Return the machine's date and time."""
        return datetime.now(UTC)

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Sleep; the event ends it early."""
        event = until or threading.Event()
        return any(event.wait(part_seconds) for part_seconds in self._parts(seconds))

    def receive(
        self, inbox: queue.SimpleQueue[Message], seconds: float = math.inf
    ) -> Message | None:
        """Wait on the queue itself, so that a message is received the moment it arrives."""
        for part_seconds in self._parts(seconds):
            with contextlib.suppress(queue.Empty):
                return inbox.get(timeout=part_seconds)
        return None

    def _parts(self, seconds: float) -> Iterator[float]:
        """Split a wait into parts: a signal that comes right before a wait does not interrupt it.

        Python runs handlers in the main thread only, when that thread continues, so only its parts
        are short: 20 idle lanes that woke as often would use half a percent of a core. The clock is
        read again after each part, since the machine may have been suspended.
        """
        handles_signals = threading.current_thread() is threading.main_thread()
        longest_seconds = LONGEST_WAIT_SECONDS if handles_signals else LONGEST_NAP_SECONDS
        ends_at = self.now() + seconds
        while (left_seconds := ends_at - self.now()) > longest_seconds:
            yield longest_seconds
        yield max(0.0, left_seconds)

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Start a daemon thread; what it raises goes to `threading.excepthook`."""
        ended = threading.Event()

        def run() -> None:
            try:
                work()
            finally:
                ended.set()

        threading.Thread(target=run, name=name, daemon=True).start()
        return ended
