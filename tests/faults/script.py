"""What the proxy does to whom: rules, of which the first that holds decides."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.faults.exchange import Exchange
from tests.faults.request import Asked, Match

FOR_EVER = 1 << 62


class Fault(Protocol):
    """Something that goes wrong with one request."""

    async def play(self, exchange: Exchange) -> None:
        """Answer the request, or do not."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault for some requests.

    Of those that `match` fits, counted from 1 on, it holds for `count` from the `first` one on, and
    of these for the share `chance`. It counts only once a request that `after` fits has ended, well
    or not, and only for `seconds` from the first request on that it holds for.
    """

    match: Match
    fault: Fault
    first: int = 1
    count: int = FOR_EVER
    chance: float = 1.0
    after: Match | None = None
    seconds: float = float("inf")


class Script:
    """Rules with their state: how often each was met, and since when it holds.

    The same seed and the same requests meet the same faults: chance is drawn from the request's
    method, path and number among its like, so that the order of threads does not matter.
    """

    def __init__(
        self,
        rules: Sequence[Rule] = (),
        *,
        seed: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rules = tuple(rules)
        self._seed = seed
        self._now = now
        self._met: Counter[int] = Counter()
        self._alike: Counter[tuple[str, str, bool]] = Counter()
        self._began_at: dict[int, float] = {}
        self._ended: dict[tuple[str, str, bool, bool], Asked] = {}
        self._lock = threading.Lock()

    def fault_for(self, asked: Asked) -> Fault | None:
        """Return the fault that a request meets; the question is counted."""
        with self._lock:
            alike = (asked.method, asked.path, asked.is_watch)
            self._alike[alike] += 1
            draw = random.Random(f"{self._seed} {alike} {self._alike[alike]}").random()
            for number, rule in enumerate(self._rules):
                if self._holds(number, rule, asked, draw):
                    return rule.fault
        return None

    def ended(self, asked: Asked) -> None:
        """Note that a request has had its answer, or will have none."""
        with self._lock:
            alike = (asked.method, asked.path, asked.is_watch, asked.is_write)
            self._ended[alike] = asked

    def has_ended(self, match: Match) -> bool:
        """Whether a request like this has ended since the script began."""
        with self._lock:
            return any(map(match.fits, self._ended.values()))

    def _holds(self, number: int, rule: Rule, asked: Asked, draw: float) -> bool:
        is_due = rule.after is None or any(map(rule.after.fits, self._ended.values()))
        if not is_due or not rule.match.fits(asked):
            return False
        self._met[number] += 1
        if not rule.first <= self._met[number] < rule.first + rule.count or draw >= rule.chance:
            return False
        began_at = self._began_at.setdefault(number, self._now())
        return self._now() - began_at < rule.seconds
