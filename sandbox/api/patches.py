"""Patch: the four kinds, each an update of the live object by what the patch makes of it."""

from __future__ import annotations

import json
from typing import Any

from sandbox.api.asked import Patch, PatchType, Strictness
from sandbox.api.metadata import checked_name, checked_place
from sandbox.api.registry import make_modified_error, missing
from sandbox.api.storing import create_received, replace
from sandbox.api.writes import Write, merge_applied, uid_of_nothing, with_managed_fields
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.objects import Mismatch, decode_struct, fill_defaults, strict_errors
from sandbox.objects.decoding import root_of
from sandbox.patching import PatchError, json_patch, merge_patch, strategic_merge
from sandbox.schema import schema_of
from sandbox.schema.spelling import spell_value
from sandbox.storage.store import Key


def patch(write: Write, key: Key, asked: Patch) -> JSON:
    """Change the object at a key; an apply creates it where there is none."""
    if asked.type is PatchType.APPLY:
        return _apply(write, key, asked)
    live = write.registry.live(key)
    made = _decode_patched(write, live, asked)
    return replace(
        write, key, live, with_managed_fields(write, live, _with_place(write, key, made))
    )


def changed_by(write: Write, body: JSON, asked: Patch) -> JSON:
    """Return what a JSON, merge or strategic merge patch makes of an object; 400, 422, 500."""
    try:
        match asked.type:
            case PatchType.JSON:
                made = json_patch(body, asked.body)
            case PatchType.MERGE:
                made = merge_patch(body, asked.body)
            case _:
                made = strategic_merge(body, asked.body, schema_of(write.resource))
    except PatchError as error:
        raise error.refusal() from None
    found: JSON = made
    return found


def _decode_patched(write: Write, live: JSON, asked: Patch) -> JSON:
    """Return the patched object, decoded and defaulted; 422 where it is none of its kind."""
    made = changed_by(write, live, asked)
    shown = asked.body if asked.type is PatchType.STRATEGIC else made
    made = _with_type(write, made, own_type_counts=asked.type is not PatchType.STRATEGIC)
    _check_type(write, made, shown)
    try:
        found = decode_struct(root_of(write.resource), made)
    except Mismatch as error:
        raise _unreadable(shown, str(error)) from None
    _check_strictly(write, made, shown)
    return found


def _with_type(write: Write, made: JSON, *, own_type_counts: bool) -> JSON:
    """Return the object with its type: that of the request, where it names none that counts."""
    resource = write.resource
    own = made if own_type_counts else {}
    return {
        **made,
        "kind": own.get("kind") or resource.kind,
        "apiVersion": own.get("apiVersion") or resource.api_version,
    }


def _check_type(write: Write, made: JSON, shown: Any) -> None:
    resource = write.resource
    found = (made["apiVersion"], made["kind"])
    if found != (resource.api_version, resource.kind):
        raise _unreadable(
            shown,
            f'no kind "{found[1]}" is registered for version "{found[0]}"',
        )


def _check_strictly(write: Write, made: JSON, shown: Any) -> None:
    validation = write.validation
    if validation.strictness is Strictness.IGNORE:
        return
    errors = strict_errors(write.resource, made, validation.raw)
    if errors and validation.strictness is Strictness.STRICT:
        raise _unreadable(shown, f"strict decoding error: {', '.join(errors)}")
    for error in errors:
        validation.warn(error)


def _unreadable(shown: Any, why: str) -> ApiError:
    """422 in the shape that the server gives a patch whose result it cannot decode."""
    text = spell_value(shown) if "kind" not in shown else json.dumps(shown, separators=(",", ":"))
    message = f"Invalid value: {json.dumps(text)}: {why}"
    cause = {"reason": "FieldValueInvalid", "message": message, "field": "patch"}
    return ApiError(
        422, "Invalid", f' "" is invalid: patch: {message}', details={"causes": [cause]}
    )


def _with_place(write: Write, key: Key, made: JSON) -> JSON:
    metadata = {**(made.get("metadata") or {})}
    checked_name(key.name, metadata)
    checked_place(write.resource, write.namespace, metadata)
    return {**made, "metadata": metadata}


def _apply(write: Write, key: Key, asked: Patch) -> JSON:
    live = write.registry.store.get(key)
    if live is None and write.subresource:
        raise missing(key)
    merged = _with_place(write, key, merge_applied(write, live, asked))
    if live is not None:
        return replace(write, key, live, fill_defaults(write.resource, merged))
    metadata = merged["metadata"]
    if metadata.get("uid"):
        raise make_modified_error(key, uid_of_nothing(metadata["uid"]))
    metadata.pop("resourceVersion", None)
    return create_received(write, fill_defaults(write.resource, merged))
