"""What the controllers of pods share: how pods are created and deleted.

A controller's cache lags behind what it did: it counts again when it has seen its own creations and
deletions, or it would create or delete twice. Rules of `pkg/controller/controller_utils.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from sandbox.api.api import Api, Writer
from sandbox.controllers.owner_controller import OwnerController
from sandbox.controllers.ownership import controller_of, key_of
from sandbox.controllers.pods import is_deleting, next_available_seconds
from sandbox.controllers.queue import (
    Informer,
    SyncError,
    is_terminating_namespace,
)
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.storage.store import Change, ChangeType, Key
from sandbox.times import Timers

LONGEST_SECONDS = 300.0

WORK_SECONDS = 0.005
"""How long a sync holds its owner: by then its cache has what the sync wrote."""

BURST = 500
"""The most pods that one sync creates or deletes."""

Failure = ApiError | SyncError


@dataclass(slots=True)
class _Expected:
    at: float
    creations: int = 0
    deletions: set[Key] = field(default_factory=set)


class Expectations:
    """By owner; what is not seen within five minutes is no longer waited for."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._expected: dict[Key, _Expected] = {}

    def is_met(self, owner: Key) -> bool:
        """Say whether all that was expected has been seen."""
        expected = self._expected.get(owner)
        if expected is None or (expected.creations <= 0 and not expected.deletions):
            return True
        return self._timers.now() - expected.at > LONGEST_SECONDS

    def expect(self, owner: Key, creations: int, deletions: Iterable[Key]) -> None:
        """Expect so many pods to appear and these to go; what was expected before is forgotten."""
        self._expected[owner] = _Expected(self._timers.now(), creations, set(deletions))

    def lower_creations(self, owner: Key, pods: int = 1) -> None:
        """Expect fewer creations: one was seen, or failed."""
        if expected := self._expected.get(owner):
            expected.creations -= pods

    def forget_deletion(self, owner: Key, pod: Key) -> None:
        """No longer expect a deletion: it was seen, or failed."""
        if expected := self._expected.get(owner):
            expected.deletions.discard(pod)

    def forget(self, owner: Key) -> None:
        """Expect nothing of an owner that is gone."""
        self._expected.pop(owner, None)


class PodController(OwnerController):
    """Syncs each owner of one kind that changed, or whose pods did."""

    work_seconds = WORK_SECONDS

    def __init__(
        self, api: Api, by: Writer, component: str, owners: Informer, pods: Informer
    ) -> None:
        super().__init__(api, by, component, owners, pods)
        self._pods = pods
        self._expectations = Expectations(api.timers)

    def _on_owner(self, change: Change) -> None:
        if change.type is ChangeType.DELETED:
            self._expectations.forget(change.key)
        super()._on_owner(change)

    def _on_dependent(self, change: Change) -> None:
        """Count, too, what was expected; a deletion counts from its beginning, once."""
        owner = self._owner(change.key.namespace, controller_of(change.after or change.before))
        if owner is not None:
            if change.after is None or is_deleting(change.after):
                self._expectations.forget_deletion(owner, change.key)
            elif change.before is None:
                self._expectations.lower_creations(owner)
        super()._on_dependent(change)

    def _write_status(self, key: Key, cached: JSON, status: JSON) -> None:
        """Write a status that differs from the cached one; over a newer version too, tried once."""
        if status == cached.get("status"):
            return
        try:
            self._api.update(key, {**cached, "status": status}, self._by, subresource="status")
        except ApiError:
            live = {**self._api.get(key), "status": status}
            self._api.update(key, live, self._by, subresource="status")

    def _end_sync(
        self, key: Key, owner: JSON, pods: Iterable[JSON], failure: Failure | None
    ) -> None:
        """Raise what failed; else come back when the next ready pod will have become available."""
        if failure is not None:
            raise failure
        ready_seconds = owner["spec"].get("minReadySeconds", 0)
        wait = next_available_seconds(pods, ready_seconds, self._timers)
        if wait is not None:
            self._queue.add_after(key, wait)

    def _change_pods(
        self, key: Key, owner: JSON, new: Sequence[JSON], old: Sequence[JSON]
    ) -> Failure | None:
        """Create the `new` and delete the `old`, at most `BURST` of each; return a failure."""
        old_keys = [key_of("pods", pod) for pod in old[:BURST]]
        self._expectations.expect(key, len(new[:BURST]), old_keys)
        failures = [self._create_pods(key, owner, new[:BURST])]
        failures += [self._delete_pod(key, owner, pod) for pod in old_keys]
        return next((failure for failure in failures if failure is not None), None)

    def _create_pods(self, key: Key, owner: JSON, pods: Sequence[JSON]) -> Failure | None:
        """Create in batches of 1, 2, 4 and so on: a failure ends it after its batch."""
        left, batch = list(pods), 1
        while left:
            tries = [self._create_pod(owner, pod) for pod in left[:batch]]
            failures = [failure for failure in tries if failure is not None]
            del left[:batch]
            if failures:
                self._expectations.lower_creations(key, len(left) + len(failures))
                return failures[0]
            batch *= 2
        return None

    def _create_pod(self, owner: JSON, pod: JSON) -> ApiError | None:
        try:
            created = self._api.create("pods", owner["metadata"]["namespace"], pod, self._by)
        except ApiError as error:
            if is_terminating_namespace(error):
                # Whatever is tried here will be refused: it is no failure, and no news.
                return None
            self._recorder.warning(owner, "FailedCreate", f"Error creating: {error.message}")
            return error
        name = created["metadata"]["name"]
        self._recorder.normal(owner, "SuccessfulCreate", f"Created pod: {name}")
        return None

    def _delete_pod(self, key: Key, owner: JSON, pod: Key) -> SyncError | None:
        try:
            self._api.delete(pod, self._by)
        except ApiError as error:
            self._expectations.forget_deletion(key, pod)
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            self._recorder.warning(owner, "FailedDelete", f"Error deleting: {error.message}")
            return SyncError(f"unable to delete pods: {error.message}")
        self._recorder.normal(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")
        return None
