"""Where an object is, what happened to it, and the changes of one resource, bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sandbox.json import JSON

_MOST_VERSION_DIGITS = 20
"""Those of 64 bits."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Where an object is.

    `resource` is the plural with its group (`kinds.Resource.key`): `pods`, `deployments.apps`;
    `namespace` is empty for what belongs to the whole cluster.
    """

    resource: str
    namespace: str
    name: str


class ChangeType(StrEnum):
    """What a change did, as the events of a watch say it."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Change:
    """One write: `before` is None for an added object, `after` for a deleted one."""

    type: ChangeType
    key: Key
    before: JSON | None
    after: JSON | None
    version: int


def number_of_version(text: str) -> int | None:
    """Return the number that a resourceVersion says, None where it is none (`ParseUint`)."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_VERSION_DIGITS
    return int(text) if is_number else None


def at_version(body: JSON, version: int) -> JSON:
    """Return the object with a resourceVersion; everything else is shared with `body`."""
    metadata = {**body.get("metadata", {}), "resourceVersion": str(version)}
    return {**body, "metadata": metadata}


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
