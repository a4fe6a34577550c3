"""A lock that somebody deleted while a run held it: created again with what it remembered.

The record of the attempt and the history come with the Lease itself, in one request. The Secrets
beside a Lease belong to it and are deleted with it: what the run still knows of them is kept again,
and what it does not know is named.
"""

from __future__ import annotations

from datetime import datetime

from gate.app.locks.secret_backup import SecretsBeside
from gate.app.locks.verified_bodies import VerifiedBodies
from gate.app.runtime.console import Warn
from gate.core.frozen import dataclass
from gate.core.model.lock_holder import Holder
from gate.core.versions.history import History
from gate.kube.answers.failures import ApiError, NotFound
from gate.kube.locks.lease import Held, Leases


@dataclass(frozen=True, slots=True)
class Recreation:
    """Creates locks again, each as the run knew it last; `warn` is told what is lost."""

    leases: Leases
    secrets: SecretsBeside
    verified: VerifiedBodies
    warn: Warn

    def create(self, known: Held, holder: Holder, now: datetime) -> Held | None:
        """Create a deleted lock with its record and history; None if somebody else just took it.

        Raises leaves of ApiError; if the server refuses for good, it is said what is lost.
        """
        try:
            return self.leases.create(known.lock, holder, now, known.memory)
        except ApiError as error:
            if not (error.transient or is_namespace_gone(error)):
                lost = _lost_with(known)
                self.warn(
                    f"somebody deleted the lock of {known.lock} while this run held it, and it"
                    f" cannot be created again: {error.message}{f'; {lost}' if lost else ''}"
                )
            raise

    def complete(self, again: Held, history: History, *, by_others: bool) -> None:
        """Keep again what belonged to a lock; warn of what is lost, and of what others did.

        The lock is taken as it was created again.
        """
        lost = [*self._lost_secrets(again), *self._lost_bodies(again, history)]
        if not (by_others or lost):
            return
        named = {"record": again.record, "history": again.history}
        kept = " and its ".join(name for name, text in named.items() if text)
        said = [
            f"somebody deleted the lock of {again.lock} while this run held it",
            f"this run created it again{f' with its {kept}' if kept else ''}",
            *lost,
        ]
        self.warn("; ".join(said))

    def _lost_secrets(self, again: Held) -> list[str]:
        names = self.secrets.keep_again(again)
        return [f"a later recover will not be able to restore {names}"] if names else []

    def _lost_bodies(self, again: Held, history: History) -> list[str]:
        names = self.verified.adopt(again, history)
        text = f"what was kept of {names} went with it: no later undo or rollback restores that"
        return [text] if names else []


def is_namespace_gone(error: ApiError) -> bool:
    """Tell whether a Lease cannot be created again because its namespace is gone or terminating.

    A terminating namespace has no status reason of its own: the words are those of the admission
    plugin NamespaceLifecycle.
    """
    is_gone = isinstance(error, NotFound) and not error.refused
    return is_gone or "because it is being terminated" in error.message


def _lost_with(known: Held) -> str:
    lost = []
    if known.record:
        lost.append("its record, without which no recover can finish this attempt")
    if known.history:
        lost.append("its history, without which no undo or rollback knows an earlier version")
    return f"lost with it: {' and '.join(lost)}" if lost else ""
