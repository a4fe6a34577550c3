"""What Secrets were before an attempt: kept beside its record, and deleted with it.

Only whoever restores from a record misses them, so that no fault here ends anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from gate.core.lock import Lock
from gate.core.objects import Ref
from gate.core.record import Kept, Record
from gate.kube.failures import ApiError, Forbidden
from gate.kube.kept_secrets import KeptSecrets
from gate.kube.lease import Held
from gate.wire.decode import DecodeError
from gate.wire.kept import kept_text, read_kept
from gate.wire.record import secrets_of

Warn = Callable[[str], None]


class SecretsBeside:
    """Keeps and finds what a record itself may not hold; each fault is a warning."""

    def __init__(self, kept: KeptSecrets, warn: Warn, from_the_dead: Collection[Lock]) -> None:
        """Take the locks that were not given back: a Secret may be left beside any of them."""
        self._kept = kept
        self._warn = warn
        self._beside = set(from_the_dead)

    def put_into(self, record: Record, lock: Lock) -> Record:
        """Return a record with the Secrets that were kept for it, as far as they can be read."""
        missing = {one.ref for one in record.objects if one.ref.kind == "Secret"}
        try:
            kept = self._kept.read(lock, record.attempt_id) if missing else ""
            self._beside |= {lock} if kept else set()
            found = {one.ref: one for one in read_kept(kept)} if kept else dict[Ref, Kept]()
        except (ApiError, DecodeError) as error:
            self._warn(f"what Secrets were before cannot be read: {error}")
            return record
        objects = tuple(found.get(one.ref, one) for one in record.objects)
        return replace(record, objects=objects)

    def keep(self, record: Record, held: Held) -> None:
        """Keep the Secrets of a record beside the lock that the record is written into."""
        secrets = secrets_of(record)
        if not secrets:
            return
        try:
            self._kept.write(held, record.attempt_id, kept_text(secrets))
            self._beside.add(held.lock)
        except ApiError as error:
            names = ", ".join(str(one.ref) for one in secrets)
            self._warn(f"recover could not restore {names}: {error.message}")

    def forget(self, lock: Lock) -> None:
        """Delete what Secrets were: nobody needs it any more."""
        if lock not in self._beside:
            return
        self._beside.discard(lock)
        try:
            self._kept.delete(lock)
        except Forbidden:
            pass  # who may not delete it could not have made it
        except ApiError as error:
            self._warn(f"secret/{lock.name} is left: {error.message}")
