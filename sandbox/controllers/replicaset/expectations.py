"""What a ReplicaSet still has to see of its own creations and deletions before it counts again.

Its cache lags behind what it did: counting too early would create or delete twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sandbox.storage.store import Key
from sandbox.times import Timers

LONGEST_SECONDS = 300.0


@dataclass(slots=True)
class _Expected:
    at: float
    creations: int = 0
    deletions: set[Key] = field(default_factory=set)


class Expectations:
    """By ReplicaSet; what is not seen within five minutes is no longer waited for."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._expected: dict[Key, _Expected] = {}

    def is_met(self, replica_set: Key) -> bool:
        """Say whether all that was expected has been seen."""
        expected = self._expected.get(replica_set)
        if expected is None:
            return True
        waited = self._timers.now() - expected.at
        seen = expected.creations <= 0 and not expected.deletions
        return seen or waited > LONGEST_SECONDS

    def creations(self, replica_set: Key, pods: int) -> None:
        """Expect so many pods to appear; what was expected before is forgotten."""
        self._expected[replica_set] = _Expected(self._timers.now(), creations=pods)

    def deletions(self, replica_set: Key, pods: Iterable[Key]) -> None:
        """Expect these pods to be deleted, or to begin to be."""
        self._expected[replica_set] = _Expected(self._timers.now(), deletions=set(pods))

    def lower_creations(self, replica_set: Key, pods: int = 1) -> None:
        """Expect fewer creations: one was seen, or failed."""
        expected = self._expected.get(replica_set)
        if expected is not None:
            expected.creations -= pods

    def forget_deletion(self, replica_set: Key, pod: Key) -> None:
        """No longer expect a deletion: it was seen, or failed."""
        expected = self._expected.get(replica_set)
        if expected is not None:
            expected.deletions.discard(pod)

    def forget(self, replica_set: Key) -> None:
        """Expect nothing of a ReplicaSet that is gone."""
        self._expected.pop(replica_set, None)
