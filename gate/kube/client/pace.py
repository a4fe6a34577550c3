"""How often a server is asked: in any second at most so many requests, writes first.

A server that answers is asked as often as needed. One that does not answer, or that ends every
watch at once, would otherwise be asked by all threads of a run at the same time.

When exactly a request reaches the server is not known here; it is between its sending and its end.
So it counts from its sending until a second after its end: then no second on the server has more.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from gate.clock import Clock
from gate.kube.answers.failures import ApiError

MOST_A_SECOND: Final = 10
KEPT_FOR_WRITES: Final = 2
"""How many of these only writes may use: a rollback must not wait behind reads."""
TROUBLE_SECONDS: Final = 5.0
"""How long after the last sign of trouble every request counts, well answered or not."""
TRAVEL_SECONDS: Final = 2.0
"""How long a request without an answer may still be on its way to the server."""
_LOOK_AGAIN_SECONDS: Final = 0.05
"""How soon to look again: an answer frees a place at once, without a signal."""
_LEAST_SECONDS: Final = 0.001


@dataclass(slots=True)
class _Sent:
    """A request; `ended_at` is None until it ends."""

    at: float
    ended_at: float | None = None
    well: bool = False

    def counts_until(self, now: float) -> float:
        """Return the earliest time at which it no longer counts."""
        ended_at = min(now, self.at + TRAVEL_SECONDS) if self.ended_at is None else self.ended_at
        return ended_at + 1.0


class Pace:
    """Counts the requests of all threads; the lock is never held during a wait.

    Requests that were not answered well always count. While there is trouble all requests do, even
    those from right before it.
    """

    def __init__(self, clock: Clock, stopping: threading.Event) -> None:
        """Take the clock to wait by, and the event that ends every wait."""
        self._clock = clock
        self._stopping = stopping
        self._sent: list[_Sent] = []
        self._trouble_at = -math.inf
        self._lock = threading.Lock()

    def note_trouble(self) -> None:
        """Note that the server failed, or ended what should last."""
        self._trouble_at = self._clock.now()

    @contextmanager
    def request(self, *, write: bool) -> Iterator[None]:
        """Wait until one more request may be sent; the block sends it, and ends with its answer.

        A refusal counts as answered well, a transient error does not.
        """
        sent = self._await_turn(MOST_A_SECOND if write else MOST_A_SECOND - KEPT_FOR_WRITES)
        try:
            yield
            sent.well = True
        except ApiError as error:
            sent.well = not error.transient
            raise
        finally:
            sent.ended_at = self._clock.now()

    def _await_turn(self, most: int) -> _Sent:
        while True:
            with self._lock:
                seconds = self._seconds_left(most)
                if seconds <= 0 or self._stopping.is_set():
                    sent = _Sent(self._clock.now())
                    self._sent.append(sent)
                    return sent
            self._clock.wait(max(seconds, _LEAST_SECONDS), self._stopping)

    def _seconds_left(self, most: int) -> float:
        """Return the least time for which one more would be too many."""
        now = self._clock.now()
        self._sent = [sent for sent in self._sent if sent.counts_until(now) > now]
        is_troubled = now < self._trouble_at + TROUBLE_SECONDS
        counted = [sent for sent in self._sent if is_troubled or not sent.well]
        if len(counted) < most:
            return 0.0
        if any(sent.ended_at is None for sent in counted) and not is_troubled:
            return _LOOK_AGAIN_SECONDS
        return sorted(sent.counts_until(now) for sent in counted)[-most] - now
