"""The sandbox's time and its names: given from outside, so that the same run is the same again.

`Timers` runs nothing by itself: whoever owns time calls `run_due`. Nothing here sleeps.
Durations in behaviours and scenario files are `600`, `1.5`, `90s`, `10m`, `1h30m`.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What generated names are made of: no vowels, no look-alikes (apimachinery `rand.SafeEncode`)."""


class Timer:
    """One callback that is due at a time, unless it is cancelled."""

    __slots__ = ("at", "cancelled", "do")

    def __init__(self, at: float, do: Callable[[], None]) -> None:
        self.at = at
        self.do = do
        self.cancelled = False

    def cancel(self) -> None:
        """Let it not happen, and hold nothing any more; one that has happened stays so."""
        self.cancelled = True
        self.do = _nothing


class Timers:
    """Callbacks in the order of their times; among equal times in the order they were asked for."""

    def __init__(self, started: datetime | None = None) -> None:
        """Begin at 0 s, which is `started` on the wall."""
        self._started = started or datetime.now(UTC)
        self._now = 0.0
        self._order = itertools.count()
        self._heap: list[tuple[float, int, Timer]] = []

    @property
    def started(self) -> datetime:
        """The date and time at 0 s."""
        return self._started

    def now(self) -> float:
        """Return the seconds since the sandbox began."""
        return self._now

    def wall(self, fraction: bool = False) -> str:  # noqa: FBT001, FBT002 - one of two formats
        """Return the time on the wall as RFC 3339, to the second or to the microsecond."""
        moment = self._started + timedelta(seconds=self._now)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if fraction else "%Y-%m-%dT%H:%M:%SZ")

    def epoch(self) -> float:
        """Return the time on the wall in seconds since the epoch, fractions with them."""
        return self._started.timestamp() + self._now

    def seconds_until(self, stamp: str, seconds: float = 0.0) -> float:
        """Return how long it is until `seconds` after an RFC 3339 time; negative where passed."""
        return since_epoch(stamp) + seconds - self.epoch()

    def call_at(self, at: float, do: Callable[[], None]) -> Timer:
        """Have `do` called at `at`, at once where that has passed."""
        timer = Timer(max(at, self._now), do)
        heapq.heappush(self._heap, (timer.at, next(self._order), timer))
        return timer

    def call_later(self, seconds: float, do: Callable[[], None]) -> Timer:
        """Have `do` called `seconds` from now."""
        return self.call_at(self._now + seconds, do)

    def due_at(self) -> float:
        """Return when the next callback is due, infinity where none is."""
        while self._heap and self._heap[0][2].cancelled:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else math.inf

    def run_due(self, now: float) -> None:
        """Move on to `now`, running what is due on the way, each at its own time."""
        while (at := self.due_at()) <= now:
            timer = heapq.heappop(self._heap)[2]
            self._now = max(self._now, at)
            timer.do()
        self._now = max(self._now, now)


class Names:
    """Unique ids and name suffixes from a seed: the same sandbox names things the same."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - guards nothing

    def uid(self) -> str:
        """Return a UUID of version 4."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def suffix(self) -> str:
        """Return the five letters that `generateName` appends."""
        return "".join(self._random.choice(NAME_LETTERS) for _ in range(5))

    def jitter(self) -> float:
        """Return a number from 0 to 1."""
        return self._random.random()


def fnv(content: bytes, *, xor_first: bool) -> int:
    """Return the 32-bit FNV hash of bytes: FNV-1a where the xor comes first, else FNV-1."""
    found = 0x811C9DC5
    for byte in content:
        mixed = found ^ byte if xor_first else found
        found = mixed * 0x01000193 & 0xFFFFFFFF
        found = found if xor_first else found ^ byte
    return found


def safe_letters(text: str) -> str:
    """Return text in letters that make no words (apimachinery `rand.SafeEncodeString`)."""
    return "".join(NAME_LETTERS[ord(letter) % len(NAME_LETTERS)] for letter in text)


def _nothing() -> None:
    return


def since_epoch(stamp: str) -> float:
    """Return an RFC 3339 time in seconds since the epoch."""
    return datetime.fromisoformat(stamp).timestamp()


MOST_SECONDS = 30 * 24 * 3600
_BARE = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_UNITS = re.compile(r"(?=.)(?:(?P<h>[0-9]+)h)?(?:(?P<m>[0-9]+)m)?(?:(?P<s>[0-9]+(?:\.[0-9]+)?)s)?")
_HINT = "durations are seconds (600, 1.5) or like 90s, 10m, 1h30m"
_SHOWN_LETTERS = 40


def parse_seconds(text: str) -> float:
    """Return a duration in seconds, at least 0 and at most 30 days; ValueError otherwise."""
    form = text.strip()
    shown = ascii(text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}...")
    match = _UNITS.fullmatch(form)
    if _BARE.fullmatch(form):
        seconds = float(form)
    elif match:
        hours, minutes, rest = (float(match[unit] or 0) for unit in "hms")
        seconds = 3600 * hours + 60 * minutes + rest
    else:
        raise ValueError(f"not a duration: {shown}; {_HINT}")
    if seconds > MOST_SECONDS:
        raise ValueError(f"too long a duration: {shown} is more than 30 days; {_HINT}")
    return seconds
