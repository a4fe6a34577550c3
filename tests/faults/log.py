"""What the proxy was asked, when, and what it did to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.faults.request import Asked, Match


@dataclass(slots=True)
class Seen:
    """A request that came in at `at` (monotonic seconds).

    `fault` is the name of what it met, "" for nothing; `status` what was answered, 0 for nothing so
    far.
    """

    at: float
    asked: Asked
    fault: str = ""
    status: int = 0

    def began(self, status: int) -> None:
        """Note the status that is answered."""
        self.status = status


class Log:
    """The requests in the order in which they came in; safe to read while more come."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._seen: list[Seen] = []
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Seen]:
        """Go through what was seen so far."""
        with self._lock:
            return iter(tuple(self._seen))

    def __len__(self) -> int:
        """Count the requests."""
        return len(self._seen)

    def note(self, asked: Asked, fault: str) -> Seen:
        """Add a request that comes in now."""
        with self._lock:
            seen = Seen(self._now(), asked, fault)
            self._seen.append(seen)
        return seen

    def like(self, match: Match, fault: str | None = None) -> list[Seen]:
        """Return the requests that match, of those that met a fault where one is named."""
        return [seen for seen in self if match.fits(seen.asked) and fault in (None, seen.fault)]
