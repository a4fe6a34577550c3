"""Who owns time: every wait of the gate, and every thread that waits, goes through a `Clock`.

`SystemClock` is the machine's own. `gate.virtual_time` has one that never sleeps.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol, TypeVar

Message = TypeVar("Message")


class Clock(Protocol):
    """Monotonic seconds, and the only way to wait for them or to begin a thread."""

    def now(self) -> float:
        """Return monotonic seconds; the zero point means nothing."""

    def wall(self) -> datetime:
        """Return the date and time, in UTC."""

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Wait that long, or until the event is set; return whether it was."""

    def receive(
        self, inbox: queue.SimpleQueue[Message], seconds: float = math.inf
    ) -> Message | None:
        """Return the next message, None where there was none for `seconds`."""

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Begin a daemon thread; return the event that its end sets."""


LONGEST_WAIT_SECONDS: Final = 0.2
"""How late a signal may be handled."""


class SystemClock:
    """The machine's clocks and threads."""

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def wall(self) -> datetime:
        """Return the machine's date and time."""
        return datetime.now(UTC)

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Sleep, ended early by the event."""
        return (until or threading.Event()).wait(_timeout(seconds))

    def receive(
        self, inbox: queue.SimpleQueue[Message], seconds: float = math.inf
    ) -> Message | None:
        """Wait on the queue itself, so that a message is had the moment it comes.

        A signal that comes right before a wait begins does not end it: Python runs its handler
        when the main thread goes on, so that no single wait may be long.
        """
        ends_at = self.now() + seconds
        while True:
            left = ends_at - self.now()
            try:
                return inbox.get(timeout=max(0.0, min(left, LONGEST_WAIT_SECONDS)))
            except queue.Empty:
                if left <= LONGEST_WAIT_SECONDS:
                    return None

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Begin a daemon thread; what it raises goes to `threading.excepthook`."""
        ended = threading.Event()

        def run() -> None:
            try:
                work()
            finally:
                ended.set()

        threading.Thread(target=run, name=name, daemon=True).start()
        return ended


def _timeout(seconds: float) -> float | None:
    """Return seconds as the standard library takes them: None for ever."""
    return None if math.isinf(seconds) else max(0.0, seconds)
