"""Creating the pods that are missing and deleting those that are too many.

A ReplicaSet's cache lags behind what it did: it counts again when it has seen its own creations and
deletions, or it would create or delete twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sandbox.api.api import Api
from sandbox.controllers.ownership import REPLICA_SETS, key_of
from sandbox.controllers.queue import SyncError, is_terminating_namespace
from sandbox.controllers.recorder import Recorder
from sandbox.controllers.replicaset.pods import from_template, in_deletion_order
from sandbox.failure import ApiError
from sandbox.json import JSON
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


BURST = 500
"""The most pods that one sync creates or deletes."""

NOT_FOUND = 404

Failure = ApiError | SyncError


class Replicas:
    """Brings the number of pods to what is asked for, and says why it could not."""

    def __init__(
        self, api: Api, recorder: Recorder, expectations: Expectations, timers: Timers
    ) -> None:
        self._api = api
        self._recorder = recorder
        self._expectations = expectations
        self._timers = timers

    def bring(
        self,
        key: Key,
        replica_set: JSON,
        active: Sequence[JSON],
        related: Callable[[], list[JSON]],
    ) -> Failure | None:
        """Create or delete pods; return the first failure.

        `related` gives the pods of all ReplicaSets of the owner, for the order of deletion.
        """
        missing = replica_set["spec"].get("replicas", 1) - len(active)
        if missing > 0:
            return self._create(key, replica_set, min(missing, BURST))
        if missing < 0:
            chosen = list(active)
            if -missing < len(active):
                chosen = in_deletion_order(active, related(), self._timers.epoch())
            return self._delete(key, replica_set, chosen[: min(-missing, BURST)])
        return None

    def _create(self, key: Key, replica_set: JSON, missing: int) -> Failure | None:
        """Create in batches of 1, 2, 4 and so on: a failure ends it after its batch."""
        self._expectations.creations(key, missing)
        left, batch = missing, 1
        while left:
            batch = min(batch, left)
            tries = [self._create_one(replica_set) for _ in range(batch)]
            failures = [failure for failure in tries if failure is not None]
            left -= batch - len(failures)
            if failures:
                self._expectations.lower_creations(key, left)
                return failures[0]
            batch *= 2
        return None

    def _create_one(self, replica_set: JSON) -> ApiError | None:
        namespace = replica_set["metadata"]["namespace"]
        pod = from_template(replica_set)
        try:
            created = self._api.create("pods", namespace, pod, REPLICA_SETS)
        except ApiError as error:
            if is_terminating_namespace(error):
                # Whatever is tried here will be refused: it is no failure, and no news.
                return None
            self._recorder.warning(replica_set, "FailedCreate", f"Error creating: {error.message}")
            return error
        name = created["metadata"]["name"]
        self._recorder.normal(replica_set, "SuccessfulCreate", f"Created pod: {name}")
        return None

    def _delete(self, key: Key, replica_set: JSON, pods: list[JSON]) -> Failure | None:
        keys = [key_of("pods", pod) for pod in pods]
        self._expectations.deletions(key, keys)
        tries = [self._delete_one(key, replica_set, pod) for pod in keys]
        return next((failure for failure in tries if failure is not None), None)

    def _delete_one(self, key: Key, replica_set: JSON, pod: Key) -> SyncError | None:
        try:
            self._api.delete(pod, REPLICA_SETS)
        except ApiError as error:
            self._expectations.forget_deletion(key, pod)
            if error.status == NOT_FOUND:
                return None
            self._recorder.warning(replica_set, "FailedDelete", f"Error deleting: {error.message}")
            return SyncError(f"unable to delete pods: {error.message}")
        self._recorder.normal(replica_set, "SuccessfulDelete", f"Deleted pod: {pod.name}")
        return None
