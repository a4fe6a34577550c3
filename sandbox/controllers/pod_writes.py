"""Creating the pods that are missing and deleting those that are too many.

A controller's cache lags behind what it did: it counts again when it has seen its own creations and
deletions, or it would create or delete twice. Rules of `pkg/controller/controller_utils.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sandbox.api.api import Api, Writer
from sandbox.controllers.informer import Informer
from sandbox.controllers.ownership import controller_of, key_of
from sandbox.controllers.pods import is_deleting
from sandbox.controllers.queue import SyncError, is_terminating_namespace
from sandbox.controllers.recorder import Recorder
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.objects.selectors import selects
from sandbox.storage.store import Change, Key
from sandbox.times import Timers

LONGEST_SECONDS = 300.0


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
        if expected is None:
            return True
        waited = self._timers.now() - expected.at
        seen = expected.creations <= 0 and not expected.deletions
        return seen or waited > LONGEST_SECONDS

    def expect(self, owner: Key, creations: int, deletions: Iterable[Key]) -> None:
        """Expect so many pods to appear and these to go; what was expected before is forgotten."""
        self._expected[owner] = _Expected(self._timers.now(), creations, set(deletions))

    def lower_creations(self, owner: Key, pods: int = 1) -> None:
        """Expect fewer creations: one was seen, or failed."""
        expected = self._expected.get(owner)
        if expected is not None:
            expected.creations -= pods

    def forget_deletion(self, owner: Key, pod: Key) -> None:
        """No longer expect a deletion: it was seen, or failed."""
        expected = self._expected.get(owner)
        if expected is not None:
            expected.deletions.discard(pod)

    def forget(self, owner: Key) -> None:
        """Expect nothing of an owner that is gone."""
        self._expected.pop(owner, None)


BURST = 500
"""The most pods that one sync creates or deletes."""

NOT_FOUND = 404

Failure = ApiError | SyncError


class PodWrites:
    """Creates and deletes pods for their owners, and says why it could not."""

    def __init__(
        self, api: Api, by: Writer, recorder: Recorder, expectations: Expectations
    ) -> None:
        self._api = api
        self._by = by
        self._recorder = recorder
        self._expectations = expectations

    def change(
        self, key: Key, owner: JSON, new: Sequence[JSON], old: Sequence[JSON]
    ) -> Failure | None:
        """Create the `new` and delete the `old`, at most `BURST` of each; return a failure."""
        old_keys = [key_of("pods", pod) for pod in old[:BURST]]
        self._expectations.expect(key, len(new[:BURST]), old_keys)
        failures = [self._create(key, owner, new[:BURST])]
        failures += [self._delete(key, owner, pod) for pod in old_keys]
        return next((failure for failure in failures if failure is not None), None)

    def _create(self, key: Key, owner: JSON, pods: Sequence[JSON]) -> Failure | None:
        """Create in batches of 1, 2, 4 and so on: a failure ends it after its batch."""
        left, batch = list(pods), 1
        while left:
            tries = [self._create_one(owner, pod) for pod in left[:batch]]
            failures = [failure for failure in tries if failure is not None]
            del left[:batch]
            if failures:
                self._expectations.lower_creations(key, len(left) + len(failures))
                return failures[0]
            batch *= 2
        return None

    def _create_one(self, owner: JSON, pod: JSON) -> ApiError | None:
        namespace = owner["metadata"]["namespace"]
        try:
            created = self._api.create("pods", namespace, pod, self._by)
        except ApiError as error:
            if is_terminating_namespace(error):
                # Whatever is tried here will be refused: it is no failure, and no news.
                return None
            self._recorder.warning(owner, "FailedCreate", f"Error creating: {error.message}")
            return error
        name = created["metadata"]["name"]
        self._recorder.normal(owner, "SuccessfulCreate", f"Created pod: {name}")
        return None

    def _delete(self, key: Key, owner: JSON, pod: Key) -> SyncError | None:
        try:
            self._api.delete(pod, self._by)
        except ApiError as error:
            self._expectations.forget_deletion(key, pod)
            if error.status == NOT_FOUND:
                return None
            self._recorder.warning(owner, "FailedDelete", f"Error deleting: {error.message}")
            return SyncError(f"unable to delete pods: {error.message}")
        self._recorder.normal(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")
        return None


class PodOwners:
    """Wakes the owners that a change of a pod concerns."""

    def __init__(
        self, owners: Informer, wake: Callable[[Key], None], expectations: Expectations
    ) -> None:
        self._owners = owners
        self._kind = BY_KEY[owners.resource].kind
        self._wake = wake
        self._expectations = expectations

    def hear(self, change: Change) -> None:
        """Wake whoever has the pod, had it or may take it; count what was expected."""
        pod = change.after
        if pod is None or is_deleting(pod):
            self._on_deletion(change.key, pod or change.before or {})
        elif change.before is None:
            self._on_creation(change.key, pod)
        else:
            self._on_update(change.key, change.before, pod)

    def _on_deletion(self, key: Key, pod: JSON) -> None:
        """A deletion counts from its beginning, once."""
        owner = self.owner(key.namespace, controller_of(pod))
        if owner is not None:
            self._expectations.forget_deletion(owner, key)
            self._wake(owner)

    def _on_creation(self, key: Key, pod: JSON) -> None:
        reference = controller_of(pod)
        if reference is None:
            self._wake_selecting(key.namespace, pod)
            return
        owner = self.owner(key.namespace, reference)
        if owner is not None:
            self._expectations.lower_creations(owner)
            self._wake(owner)

    def _on_update(self, key: Key, before: JSON, after: JSON) -> None:
        left, reference = controller_of(before), controller_of(after)
        for owner in (left if left != reference else None, reference):
            found = self.owner(key.namespace, owner)
            if found is not None:
                self._wake(found)
        relabelled = before["metadata"].get("labels") != after["metadata"].get("labels")
        if reference is None and (left is not None or relabelled):
            self._wake_selecting(key.namespace, after)

    def _wake_selecting(self, namespace: str, pod: JSON) -> None:
        labels = pod["metadata"].get("labels")
        for each in self._owners.all():
            metadata = each["metadata"]
            if metadata["namespace"] == namespace and selects(each["spec"]["selector"], labels):
                self._wake(key_of(self._owners.resource, each))

    def owner(self, namespace: str, reference: JSON | None) -> Key | None:
        """Return where the owner is that a reference names, None where it is another kind's."""
        if reference is None or reference["kind"] != self._kind:
            return None
        key = Key(self._owners.resource, namespace, reference["name"])
        found = self._owners.get(key)
        return key if found and found["metadata"]["uid"] == reference["uid"] else None
