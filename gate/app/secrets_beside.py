"""What Secrets were before an attempt: kept beside its record, and deleted with it.

Only whoever restores from a record misses them, so that no fault here ends anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from gate.core.lock import Lock
from gate.core.objects import Ref
from gate.core.record import Kept, Record
from gate.kube.failures import ApiError, Forbidden, UidMismatch
from gate.kube.kept_secrets import KeptSecrets
from gate.kube.lease import Held
from gate.wire.decode import DecodeError
from gate.wire.kept import kept_text, read_kept
from gate.wire.record import secrets_of

Warn = Callable[[str], None]


class SecretsBeside:
    """Keeps and finds what a record itself may not hold; each fault is a warning.

    A Secret is deleted by the uid that it had while its lock was ours: what another attempt keeps
    under the same name later is never touched.
    """

    def __init__(self, kept: KeptSecrets, warn: Warn, from_the_dead: Collection[Lock]) -> None:
        """Take the locks that were not given back: a Secret may be left beside any of them."""
        self._kept = kept
        self._warn = warn
        self._from_the_dead = tuple(from_the_dead)
        self._uids: dict[Lock, str] = {}

    def look(self) -> None:
        """Look what dead gates left, as soon as their locks are ours."""
        for lock in self._from_the_dead:
            try:
                stored = self._kept.read(lock)
            except Forbidden:
                continue  # who may not read it could not have made it
            except ApiError as error:
                self._warn(f"secret/{lock.name} may be left: {error.message}")
                continue
            if stored is not None:
                self._uids.setdefault(lock, stored.uid)

    def put_into(self, record: Record, lock: Lock) -> Record:
        """Return a record with the Secrets that were kept for it, as far as they can be read."""
        if not any(one.ref.kind == "Secret" for one in record.objects):
            return record
        found: dict[Ref, Kept] = {}
        try:
            stored = self._kept.read(lock)
            if stored is not None:
                self._uids[lock] = stored.uid
            if stored is not None and stored.attempt_id == record.attempt_id:
                found = {one.ref: one for one in read_kept(stored.text)}
        except (ApiError, DecodeError) as error:
            self._warn(f"what Secrets were before cannot be read: {error}")
        objects = tuple(found.get(one.ref, one) for one in record.objects)
        return replace(record, objects=objects)

    def keep(self, record: Record, held: Held) -> None:
        """Keep the Secrets of a record beside the lock that the record is written into."""
        secrets = secrets_of(record)
        if not secrets:
            return
        try:
            text = kept_text(secrets)
            self._uids[held.lock] = self._kept.write(held, record.attempt_id, text)
        except ApiError as error:
            names = ", ".join(str(one.ref) for one in secrets)
            self._warn(f"recover could not restore {names}: {error.message}")

    def are_beside(self, lock: Lock) -> bool:
        """Tell whether Secrets are kept beside a lock."""
        return lock in self._uids

    def forget(self, lock: Lock) -> None:
        """Delete what Secrets were: nobody needs it any more."""
        uid = self._uids.pop(lock, "")
        if not uid:
            return
        try:
            self._kept.delete(lock, uid)
        except Forbidden:
            pass  # who may not delete it could not have made it
        except UidMismatch:
            pass  # somebody replaced it: it is theirs
        except ApiError as error:
            self._warn(f"secret/{lock.name} is left: {error.message}")
