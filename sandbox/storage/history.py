"""The changes of one resource, bounded: from which position on they can still be told."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from sandbox.storage.change import Change

KEPT_CHANGES = 2_000
"""More than a watch misses between two connections; few enough to hold in memory."""


class Expired(Exception):
    """A position is older than what the history holds."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {asked} ({oldest})")
        self.asked = asked
        self.oldest = oldest


class History:
    """The last changes of a resource, oldest first."""

    def __init__(self, kept: int = KEPT_CHANGES, complete_from: int = 0) -> None:
        """`complete_from` is the version after which every change is here."""
        self._changes: deque[Change] = deque()
        self._kept = kept
        self._complete_from = complete_from

    def add(self, change: Change) -> None:
        """Append a change, forgetting the oldest beyond the bound."""
        self._changes.append(change)
        while len(self._changes) > self._kept:
            self._complete_from = self._changes.popleft().version

    def after(self, version: int) -> list[Change]:
        """Return the changes later than a version, oldest first; raise `Expired`."""
        self._check(version)
        if not self._changes or self._changes[-1].version <= version:
            return []
        return list(self._backwards(version))[::-1]

    def _check(self, version: int) -> None:
        if version < self._complete_from:
            raise Expired(version, self._complete_from)

    def _backwards(self, version: int) -> Iterator[Change]:
        for change in reversed(self._changes):
            if change.version <= version:
                return
            yield change
