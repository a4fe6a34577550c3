"""Previous contents of Secrets: kept beside an attempt's record, and deleted with it.

Only a recovery from the record would miss them, so no fault here ends a run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from gate.app.runtime.console import Warn
from gate.core.model.body import FrozenMap
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref
from gate.core.plan.record import Kept, Record
from gate.core.plan.target_set import TargetSet
from gate.kube.answers.failures import ApiError, Forbidden, UidMismatch
from gate.kube.locks.kept_secrets import KeptSecrets, StoredSecret
from gate.kube.locks.lease import Held
from gate.wire.decode import DecodeError
from gate.wire.kept import Returned, kept_text, read_kept
from gate.wire.record import NO_SECRETS, confidential_bodies, secrets_of


class SecretsBeside:
    """Keeps and finds what a record itself may not hold; each fault is a warning.

    A Secret is deleted by the uid that it had while its lock was ours, so that one which another
    attempt keeps later under the same name is never touched. After a lost answer it is the attempt
    that says whose it is.
    """

    def __init__(self, kept: KeptSecrets, warn: Warn, from_the_dead: Collection[Lock]) -> None:
        """Take the locks that were never released: a Secret may be left beside any of them."""
        self._kept = kept
        self._warn = warn
        self._from_the_dead = tuple(from_the_dead)
        self._beside: dict[Lock, StoredSecret] = {}

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
                self._beside.setdefault(lock, stored)

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
                self._beside[lock] = stored
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
        wanted = StoredSecret("", record.attempt_id, kept_text(secrets, returned))
        if (error := self._write(held, wanted)) is not None:
            names = _join({*returned, *(one.ref for one in secrets)})
            self._warn(f"a later recover will not be able to restore {names}: {error.message}")

    def keep_again(self, held: Held) -> str:
        """Keep the Secrets beside a lock that was created again; name those that are lost.

        They are deleted with the lock that they belonged to, sooner or later.
        """
        wanted = self._beside.get(held.lock)
        if wanted is None or self._write(held, wanted) is None:
            return ""
        try:
            objects_kept, returned = read_kept(wanted.text)
        except DecodeError:
            return "the saved Secrets"
        return _join({*returned, *(one.ref for one in objects_kept)})

    def _write(self, held: Held, wanted: StoredSecret) -> ApiError | None:
        """Keep a text beside a lock; return the error if it is not known to be there."""
        try:
            uid = self._kept.write(held, wanted.attempt_id, wanted.text)
        except ApiError as error:
            if not error.untouched:
                self._beside[held.lock] = replace(wanted, uid="")
            return error
        self._beside[held.lock] = replace(wanted, uid=uid)
        return None

    def are_beside(self, lock: Lock) -> bool:
        """Tell whether Secrets are kept beside a lock, or may be."""
        return lock in self._beside

    def forget(self, lock: Lock) -> None:
        """Delete the kept Secrets: nobody needs them any more."""
        kept = self._beside.pop(lock, None)
        if kept is None:
            return
        try:
            if uid := kept.uid or self._find(lock, kept.attempt_id):
                self._kept.delete(lock, uid)
        except UidMismatch:
            pass  # somebody replaced it: it is theirs
        except ApiError as error:
            if not kept.uid:
                self._warn(f"secret/{lock.name} may be left: {error.message}")
            elif not isinstance(error, Forbidden):  # whoever may not delete it did not create it
                self._warn(f"secret/{lock.name} is left: {error.message}")

    def _find(self, lock: Lock, attempt_id: str) -> str:
        """Return the uid of what is kept for an attempt, "" if there is nothing."""
        stored = self._kept.read(lock)
        return stored.uid if stored is not None and stored.attempt_id == attempt_id else ""


def _join(refs: Iterable[Ref]) -> str:
    return ", ".join(map(str, sorted(refs)))


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
