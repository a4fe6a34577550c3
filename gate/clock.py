"""Who owns time: every wait of the gate goes through a `Clock`.

`SystemClock` is the machine's monotonic time; `VirtualClock` is moved by hand and never sleeps.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Protocol, TypeVar

Message = TypeVar("Message")


class Clock(Protocol):
    """Monotonic seconds and the only way to wait for them."""

    def now(self) -> float:
        """Return monotonic seconds; the zero point means nothing."""

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Wait that long, or until the event is set; return whether it was."""

    def receive(self, inbox: queue.SimpleQueue[Message], seconds: float) -> Message | None:
        """Return the next message, None where there was none for `seconds`."""


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Sleep, ended early by the event."""
        return (until or threading.Event()).wait(max(0.0, seconds))

    def receive(self, inbox: queue.SimpleQueue[Message], seconds: float) -> Message | None:
        """Wait on the queue itself, so that a message is had the moment it comes."""
        try:
            return inbox.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None


class VirtualClock:
    """A clock that stands still until it is moved; waiting moves it."""

    def __init__(self, now: float = 0.0) -> None:
        """Start at `now` seconds."""
        self._now = now

    def now(self) -> float:
        """Return the seconds that were set."""
        return self._now

    def advance_to(self, now: float) -> None:
        """Move forward to `now`; going back is a mistake of the caller."""
        if now < self._now:
            raise ValueError(f"time does not go back: {now} < {self._now}")
        self._now = now

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Move on by `seconds` at once, unless the event is set already."""
        if until is not None and until.is_set():
            return True
        self._now += max(0.0, seconds)
        return False

    def receive(self, inbox: queue.SimpleQueue[Message], seconds: float) -> Message | None:
        """Take what is there already; where nothing is, move on by `seconds` at once."""
        try:
            return inbox.get_nowait()
        except queue.Empty:
            self._now += max(0.0, seconds)
            return None
