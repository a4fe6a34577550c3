"""What a write says of the object it was made for, against the object that is there."""

from __future__ import annotations

from sandbox.api.registry import internal, make_modified_error, resource_of
from sandbox.api.strategies import strategy_of
from sandbox.api.writes import Write, named_invalid
from sandbox.failure import ApiError, FieldError
from sandbox.json import JSON
from sandbox.storage.change import number_of_version
from sandbox.storage.store import Key


def check_uid(key: Key, uid: str | None, live: JSON | None) -> None:
    """409 where a write is about another object of the same name, or about one that is gone."""
    found = live["metadata"]["uid"] if live else ""
    if uid and uid != found:
        plural = resource_of(key).plural
        path = "/".join(part for part in ("/registry", plural, key.namespace, key.name) if part)
        raise make_modified_error(
            key,
            f"StorageError: invalid object, Code: 4, Key: {path}, ResourceVersion: 0,"
            f" AdditionalErrorMsg: Precondition failed: UID in precondition: {uid},"
            f" UID in object meta: {found}",
        )


def check_version(write: Write, key: Key, version: str | None, live: JSON) -> None:
    """409 where the object has moved on; 422 where the kind needs a version and there is none."""
    if not version:
        if strategy_of(write.resource).needs_version and not write.subresource:
            raise _needs_version(write, key)
        return
    number = number_of_version(version)
    if number is None:
        raise internal(f'strconv.ParseUint: parsing "{version}": invalid syntax')
    if number != int(live["metadata"]["resourceVersion"]):
        raise make_modified_error(key)


def uid_of_nothing(uid: str) -> str:
    """Say why an apply that names a uid cannot create."""
    return (
        f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    )


def _needs_version(write: Write, key: Key) -> ApiError:
    """422, which the server words with the resource where others have the kind."""
    resource = write.resource
    why = "Invalid value: 0: must be specified for an update"
    error = FieldError("metadata.resourceVersion", "FieldValueInvalid", why)
    refusal = named_invalid(resource, key.name, [error])
    refusal.message = resource.plural + refusal.message.removeprefix(resource.kind)
    refusal.details["kind"] = resource.plural
    return refusal
