"""How a lock is given up: what it is to remember is written; then it is released, or deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gate.app.locks.held_locks import HeldLocks, Lost
from gate.app.locks.secret_backup import SecretsBeside
from gate.app.runtime.console import Warn
from gate.clock import Clock
from gate.core.model.lock import Lock
from gate.kube.answers.failures import ApiError
from gate.kube.locks.lease import HISTORY, RECORD, Leases

Annotations = Mapping[str, str | None]


class LockEndings:
    """Gives up locks, one by one; `record_stays` is called if a record cannot be removed."""

    def __init__(
        self,
        clock: Clock,
        leases: Leases,
        held: HeldLocks,
        secrets: SecretsBeside,
        warn: Warn,
    ) -> None:
        """Take the locks as they are held; `warn` is told what could not be done."""
        self._clock = clock
        self._leases = leases
        self._held = held
        self._secrets = secrets
        self._warn = warn
        self.record_stays: Callable[[], None] = lambda: None

    def end(self, lock: Lock, annotations: Annotations, *, stays: bool) -> None:
        """Give up a lock as far as the server lets it.

        If the server rejects the history, the record is still removed and the lock released.
        """
        try:
            self._finish(lock, annotations, stays=stays)
        except Lost:
            return
        except ApiError as error:
            history, left = annotations.get(HISTORY), self._held.get(lock)
            if history is None or error.transient or left.history == history:
                if RECORD in annotations and left.record:
                    self.record_stays()
                self._warn(f"the lock of {lock} could not be released: {error.message}; it expires")
                return
            self._warn(f"the outcome for {lock} is not in the history: {error.message}")
            bare = {name: text for name, text in annotations.items() if name != HISTORY}
            self.end(lock, bare, stays=stays)

    def give_back(self) -> None:
        """Release the locks as they are, including an open record.

        Where none is open, the locks that a dead gate made and that remember nothing lead nowhere.
        """
        is_open = any(self._held.get(lock).record for lock in self._held.locks)
        for lock in self._held.ours:
            if not self.delete_blank(lock, whoever_made_it=not is_open):
                self.end(lock, {}, stays=False)

    def delete_blank(self, lock: Lock, *, whoever_made_it: bool = False) -> bool:
        """Delete a lock that remembers nothing, and that this run created; False for all others."""
        if self._secrets.are_beside(lock):
            return False
        return self._held.delete_blank(lock, whoever_made_it=whoever_made_it)

    def _finish(self, lock: Lock, annotations: Annotations, *, stays: bool) -> None:
        """Write what is to be remembered, and release the lock unless it `stays`.

        Kept Secrets are deleted while the lock is ours, after the record that needed them.
        """
        is_open = RECORD not in annotations and self._held.get(lock).record
        keeps_secrets = not is_open and self._secrets.are_beside(lock)
        if stays or (keeps_secrets and annotations):
            self._write_down(lock, annotations)
            annotations = {}
        if keeps_secrets:
            self._secrets.forget(lock)
        if not stays:
            self._release(lock, annotations)

    def _write_down(self, lock: Lock, annotations: Annotations) -> None:
        wall = self._clock.wall()
        self._held.insist(lock, lambda held: self._leases.remember(held, annotations, wall))

    def _release(self, lock: Lock, annotations: Annotations) -> None:
        wall = self._clock.wall()
        self._held.insist(lock, lambda it: self._leases.release(it, annotations, wall), frees=True)
