"""What a write says of the object it was made for, against the object that is there."""

from __future__ import annotations

from sandbox.api.registry import make_modified_error
from sandbox.api.strategies import strategy_of
from sandbox.api.writes import Write
from sandbox.failure import bad_request
from sandbox.json import JSON
from sandbox.storage.change import number_of_version
from sandbox.storage.store import Key


def check_uid(key: Key, uid: str | None, live: JSON | None) -> None:
    """409 where a write is about another object of the same name, or about one that is gone."""
    found = live["metadata"]["uid"] if live else ""
    if uid and uid != found:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
        raise make_modified_error(key, why)


def check_version(write: Write, key: Key, version: str | None, live: JSON) -> None:
    """409 where the object has moved on; 400 where the kind needs a version and there is none."""
    if not version:
        if strategy_of(write.resource).needs_version and not write.subresource:
            raise bad_request(f"an update of {key.name} has to say its resourceVersion")
        return
    number = number_of_version(version)
    if number is None:
        raise bad_request(f'the resourceVersion "{version}" is no number')
    if number != int(live["metadata"]["resourceVersion"]):
        raise make_modified_error(key)


def uid_of_nothing(uid: str) -> str:
    """Say why an apply that names a uid cannot create."""
    return f"uid mismatch: the object specified uid {uid}, and no existing object was found"
