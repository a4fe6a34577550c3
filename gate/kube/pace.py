"""How often a server in trouble is asked: in any second at most so many requests, writes first.

A server that answers is asked as often as there is reason to. One that does not, or that ends
every watch at once, would otherwise be asked by all threads of a run at the same time.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from typing import Final

from gate.clock import Clock

MOST_A_SECOND: Final = 10
KEPT_FOR_WRITES: Final = 2
"""Of these: what a rollback needs is not to wait behind reads."""
TROUBLE_SECONDS: Final = 5.0
"""How long after the last sign of trouble the bound holds."""


class Pace:
    """Counts the requests of all threads; the lock is held for no wait."""

    def __init__(self, clock: Clock, stopping: threading.Event) -> None:
        """Take the clock to wait by, and the event that ends every wait."""
        self._clock = clock
        self._stopping = stopping
        self._sent: deque[float] = deque(maxlen=MOST_A_SECOND)
        self._trouble_at = -math.inf
        self._lock = threading.Lock()

    def troubled(self) -> None:
        """Take note that the server failed, or ended what was to last."""
        self._trouble_at = self._clock.now()

    def take(self, *, write: bool) -> None:
        """Wait until one more request may be sent, and count it."""
        seconds = self._reserved(MOST_A_SECOND if write else MOST_A_SECOND - KEPT_FOR_WRITES)
        if seconds > 0:
            self._clock.wait(seconds, self._stopping)

    def _reserved(self, most: int) -> float:
        """Count a request at the time at which it may be sent; return how far off that is."""
        with self._lock:
            now = self._clock.now()
            at = now
            if now < self._trouble_at + TROUBLE_SECONDS and len(self._sent) >= most:
                at = max(now, self._sent[-most] + 1.0)
            self._sent.append(at)
            return at - now
