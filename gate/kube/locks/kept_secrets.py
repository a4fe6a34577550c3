"""The Secret beside a lock: the earlier Secrets of an attempt, for whoever finishes it.

It keeps the earlier contents of the Secrets that the attempt changes. It is owned by the Lease and
deleted with it, or at the orderly end of its attempt.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.core.model.lock import Lock
from gate.kube.answers.failures import AlreadyExists, ApiError, BadAnswer, NotFound
from gate.kube.client.client import Client
from gate.kube.locks.lease import Held
from gate.kube.paths.resources import LEASES, SECRETS

_ATTEMPT: Final = "rollout-gate/attempt"
_KEY: Final = "objects"
_TYPE: Final = "rollout-gate/record"


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """The Secret as it is stored: which attempt's it is, and the text that it keeps.

    `uid` is "" of one that may be stored: the answer to its creation was lost.
    """

    uid: str
    attempt_id: str
    text: str = field(repr=False)


class KeptSecrets:
    """Writes, reads and deletes that Secret; every method raises leaves of `ApiError`."""

    def __init__(self, client: Client) -> None:
        """Share the client's connections."""
        self._client = client

    def write(self, held: Held, attempt_id: str, text: str) -> str:
        """Keep a text for an attempt, and return the Secret's uid.

        What another attempt left is replaced; AlreadyExists for a Secret that is not ours. After
        a lost answer it is read whether the Secret is there.
        """
        lock = held.lock
        owner = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "name": lock.name,
            "uid": held.uid,
        }
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": lock.name,
                "annotations": {_ATTEMPT: attempt_id},
                "ownerReferences": [owner],
            },
            "type": _TYPE,
            "data": {_KEY: base64.b64encode(text.encode()).decode()},
        }
        wanted = StoredSecret("", attempt_id, text)
        try:
            return self._create(lock, body, wanted)
        except AlreadyExists:
            stored = self.read(lock)
            if stored is None:
                raise
            self.delete(lock, stored.uid)
            return self._create(lock, body, wanted)

    def _create(self, lock: Lock, body: Mapping[str, Any], wanted: StoredSecret) -> str:
        try:
            answer = self._client.write("POST", SECRETS.path(lock.namespace), body).body
            return _stored_uid(answer)
        except ApiError as error:
            if error.untouched:
                raise
            stored = None
            with contextlib.suppress(ApiError):
                stored = self.read(lock)
            if stored is None or replace(stored, uid="") != wanted:
                raise
            return stored.uid

    def read(self, lock: Lock) -> StoredSecret | None:
        """Return what is kept beside a lock, None if nothing is, or if it is not our Secret."""
        try:
            body = self._client.get(SECRETS.path(lock.namespace, lock.name))
        except NotFound:
            return None
        try:
            value = json.loads(body)
            if value.get("type") != _TYPE:
                return None
            metadata = value["metadata"]
            attempt_id = str((metadata.get("annotations") or {}).get(_ATTEMPT) or "")
            text = base64.b64decode(value["data"][_KEY], validate=True).decode()
            return StoredSecret(str(metadata["uid"]), attempt_id, text)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadAnswer("the Secret of a record cannot be read") from error

    def delete(self, lock: Lock, uid: str) -> None:
        """Delete it, if it is not gone already. UidMismatch if another one has its name."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        try:
            self._client.write("DELETE", SECRETS.path(lock.namespace, lock.name), options)
        except NotFound:
            return


def _stored_uid(body: bytes) -> str:
    try:
        return str(json.loads(body)["metadata"]["uid"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadAnswer("the Secret of a record cannot be read") from error
