"""Counts the requests to the API server by verb and code, from several threads."""

from __future__ import annotations

import threading
from collections import Counter
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

from gate.metrics.families import NO_ANSWER, OTHER, VERBS

_CODES: Final = frozenset(status.value for status in HTTPStatus)
_YES: Final = ("true", "1")

Answered = tuple[str, str]
"""A verb and a code, each of a closed set."""


class ApiRequests:
    """A tally that any thread may add to and read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answered: Counter[Answered] = Counter()

    def count(self, method: str, url: str, status: int | None) -> None:
        """Count a request that was answered with `status`; None is no answer."""
        with self._lock:
            self._answered[_verb(method, url), _code(status)] += 1

    def tally(self) -> Counter[Answered]:
        """Return how many requests there were, by verb and code."""
        with self._lock:
            return self._answered.copy()


def _verb(method: str, url: str) -> str:
    """Return the method; WATCH for a GET with the parameter `watch` (Kubernetes API)."""
    if method == "GET" and parse_qs(urlsplit(url).query).get("watch", [""])[-1] in _YES:
        return "WATCH"
    return method if method in VERBS else OTHER


def _code(status: int | None) -> str:
    """Return the status; a server may invent numbers, and each would become a series."""
    if status is None:
        return NO_ANSWER
    return str(status) if status in _CODES else OTHER
