"""The Secret beside a workload's lock that keeps what no Lease may hold of verified versions.

Each key of its data holds one body and is named by the body's digest. It is owned by the Lease and
deleted with it. The Secret of an open record is a different one (`kept_secrets`), with
another name and type.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from gate.core.model.lock import PREFIX, Lock, fit_name, prefix_of
from gate.kube.answers.failures import AlreadyExists, BadAnswer, NotFound
from gate.kube.client.client import MERGE_PATCH, Client
from gate.kube.kinds.registry import DEFAULT
from gate.kube.locks.lease import Held
from gate.kube.paths.resources import LEASES, SECRETS

_OF_DEFAULT: Final = prefix_of(DEFAULT.watched.kind)
_OF_VERIFIED: Final = f"{PREFIX}verified."
_OF_OTHERS: Final = f"{PREFIX}verified-"
"""No lock's name begins with either, and no workload's name with a hyphen: none is another's."""
_TYPE: Final = "rollout-gate/verified"


def secret_name(lock: Lock) -> str:
    """Return the name of the Secret beside a workload's lock; of most kinds it has the kind."""
    if lock.name.startswith(_OF_DEFAULT):
        return fit_name(_OF_VERIFIED, lock.name.removeprefix(_OF_DEFAULT))
    return fit_name(_OF_OTHERS, lock.name.removeprefix(PREFIX))


class VerifiedSecrets:
    """Reads and writes that Secret; every method raises leaves of `ApiError`."""

    def __init__(self, client: Client) -> None:
        """Share the client's connections."""
        self._client = client

    def read(self, lock: Lock) -> Mapping[str, str]:
        """Return the texts by digest; nothing if there is no such Secret of ours."""
        try:
            return _texts(self._client.get(SECRETS.path(lock.namespace, secret_name(lock))))
        except NotFound:
            return {}

    def write(self, held: Held, texts: Mapping[str, str | None]) -> Mapping[str, str]:
        """Store texts by digest, remove those that are None; return all that is there then.

        Other keys stay. `Invalid` if the Secret would be too large, or is not ours: its type cannot
        change.
        """
        body = _body(held, texts)
        path = SECRETS.path(held.lock.namespace, secret_name(held.lock))
        try:
            return _texts(self._client.write("PATCH", path, body, (), MERGE_PATCH).body)
        except NotFound:
            return self.create(held, texts)

    def create(self, held: Held, texts: Mapping[str, str | None]) -> Mapping[str, str]:
        """Do what `write` does; if there is no Secret yet, with one request less."""
        new = {key: text for key, text in texts.items() if text is not None}
        if not new:
            return {}
        body = _body(held, new)
        try:
            return _texts(self._client.write("POST", SECRETS.path(held.lock.namespace), body).body)
        except AlreadyExists:
            path = SECRETS.path(held.lock.namespace, secret_name(held.lock))
            return _texts(self._client.write("PATCH", path, body, (), MERGE_PATCH).body)


def _body(held: Held, texts: Mapping[str, str | None]) -> dict[str, Any]:
    owner = {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "name": held.lock.name,
        "uid": held.uid,
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_name(held.lock), "ownerReferences": [owner]},
        "type": _TYPE,
        "data": {
            key: None if text is None else base64.b64encode(text.encode()).decode()
            for key, text in texts.items()
        },
    }


def _texts(body: bytes) -> dict[str, str]:
    """Read the data of a Secret, nothing if it has another type."""
    try:
        value = json.loads(body)
        if value.get("type") != _TYPE:
            return {}
        data = value.get("data") or {}
        return {
            str(key): base64.b64decode(text, validate=True).decode() for key, text in data.items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise BadAnswer("the Secret of verified versions cannot be read") from error
