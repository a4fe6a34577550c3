"""Previous contents of Secrets: kept beside an attempt's record, and deleted with it.

Only a recovery from the record would miss them, so no fault here ends a run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from gate.core.model.body import FrozenMap
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref
from gate.core.plan.record import Kept, Record
from gate.core.plan.target_set import TargetSet
from gate.kube.answers.failures import ApiError, Forbidden, UidMismatch
from gate.kube.locks.kept_secrets import KeptSecrets
from gate.kube.locks.lease import Held
from gate.wire.decode import DecodeError
from gate.wire.kept import Returned, kept_text, read_kept
from gate.wire.record import NO_SECRETS, confidential_bodies, secrets_of

Warn = Callable[[str], None]


class SecretsBeside:
    """Keeps and finds what a record itself may not hold; each fault is a warning.

    A Secret is deleted by the uid that it had while its lock was ours, so that one which another
    attempt keeps later under the same name is never touched.
    """

    def __init__(self, kept: KeptSecrets, warn: Warn, from_the_dead: Collection[Lock]) -> None:
        """Take the locks that were never released: a Secret may be left beside any of them."""
        self._kept = kept
        self._warn = warn
        self._from_the_dead = tuple(from_the_dead)
        self._uids: dict[Lock, str] = {}

    def look(self) -> None:
        """Find what dead gates left, as soon as their locks are ours."""
        for lock in self._from_the_dead:
            try:
                stored = self._kept.read(lock)
            except Forbidden:
                continue  # whoever may not read it could not have created it
            except ApiError as error:
                self._warn(f"secret/{lock.name} may be left: {error.message}")
                continue
            if stored is not None:
                self._uids.setdefault(lock, stored.uid)

    def put_into(self, record: Record, lock: Lock) -> Record:
        """Return a record with the Secrets kept for it, as far as they can be read."""
        lost = [ref for ref, why in record.target_set.missing.items() if why == NO_SECRETS]
        if not lost and not any(one.ref.kind == "Secret" for one in record.objects):
            return record
        found: dict[Ref, Kept] = {}
        returned: Returned = {}
        try:
            stored = self._kept.read(lock)
            if stored is not None:
                self._uids[lock] = stored.uid
            if stored is not None and stored.attempt_id == record.attempt_id:
                objects_kept, returned = read_kept(stored.text)
                found = {one.ref: one for one in objects_kept}
        except (ApiError, DecodeError) as error:
            self._warn(f"the saved Secrets cannot be read: {error}")
        objects = tuple(found.get(one.ref, one) for one in record.objects)
        return replace(
            record, objects=objects, target_set=_with_bodies(record.target_set, returned)
        )

    def keep(self, record: Record, held: Held) -> None:
        """Keep the Secrets of a record beside the lock that the record is written into."""
        secrets, returned = secrets_of(record), confidential_bodies(record)
        if not secrets and not returned:
            return
        try:
            text = kept_text(secrets, returned)
            self._uids[held.lock] = self._kept.write(held, record.attempt_id, text)
        except ApiError as error:
            names = ", ".join(map(str, sorted({*returned, *(one.ref for one in secrets)})))
            self._warn(f"recover could not restore {names}: {error.message}")

    def are_beside(self, lock: Lock) -> bool:
        """Tell whether Secrets are kept beside a lock."""
        return lock in self._uids

    def forget(self, lock: Lock) -> None:
        """Delete the kept Secrets: nobody needs them any more."""
        uid = self._uids.pop(lock, "")
        if not uid:
            return
        try:
            self._kept.delete(lock, uid)
        except Forbidden:
            pass  # whoever may not delete it could not have created it
        except UidMismatch:
            pass  # somebody replaced it: it is theirs
        except ApiError as error:
            self._warn(f"secret/{lock.name} is left: {error.message}")


def _with_bodies(target_set: TargetSet, returned: Returned) -> TargetSet:
    """Add the bodies that the record itself does not hold."""
    if not returned:
        return target_set
    missing = {ref: why for ref, why in target_set.missing.items() if ref not in returned}
    return replace(
        target_set,
        bodies=FrozenMap({**target_set.bodies, **returned}),
        missing=FrozenMap(missing),
        confidential=tuple(sorted({*target_set.confidential, *returned})),
    )
