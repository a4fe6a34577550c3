"""The Secret beside a lock: what the Secrets were that an attempt changes, for whoever finishes it.

It belongs to the Lease, with which it goes, and is deleted at the orderly end of its attempt.
"""

from __future__ import annotations

import base64
import json
from typing import Final

from gate.core.lock import Lock
from gate.kube.client import Client
from gate.kube.failures import AlreadyExists, BadAnswer, NotFound
from gate.kube.lease import Held
from gate.kube.resources import LEASES, SECRETS

_ATTEMPT: Final = "rollout-gate/attempt"
_KEY: Final = "objects"
_TYPE: Final = "rollout-gate/record"


class KeptSecrets:
    """Writes, reads and deletes that Secret; every method raises leaves of `ApiError`."""

    def __init__(self, client: Client) -> None:
        """Share the client's connections."""
        self._client = client

    def write(self, held: Held, attempt_id: str, text: str) -> None:
        """Keep a text for an attempt; what another one left is replaced."""
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
        path = SECRETS.path(lock.namespace)
        try:
            self._client.write("POST", path, body)
        except AlreadyExists:
            self.delete(lock)
            self._client.write("POST", path, body)

    def read(self, lock: Lock, attempt_id: str) -> str:
        """Return the text that was kept for an attempt, "" where there is none."""
        try:
            body = self._client.get(SECRETS.path(lock.namespace, lock.name))
        except NotFound:
            return ""
        try:
            value = json.loads(body)
            annotations = value["metadata"].get("annotations") or {}
            if value.get("type") != _TYPE or annotations.get(_ATTEMPT) != attempt_id:
                return ""
            return base64.b64decode(value["data"][_KEY], validate=True).decode()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadAnswer("the Secret of a record cannot be read") from error

    def delete(self, lock: Lock) -> None:
        """Delete it; what is gone already is deleted."""
        try:
            self._client.write("DELETE", SECRETS.path(lock.namespace, lock.name), None)
        except NotFound:
            return
