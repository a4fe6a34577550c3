"""Request bodies: JSON or protobuf in, an object or a patch out, or a refusal."""

from __future__ import annotations

from typing import Any

import msgspec

from sandbox.api.asked import Patch, PatchType
from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON
from sandbox.schema.spelling import json_type
from sandbox.serving.protobuf.messages import from_protobuf
from sandbox.serving.rendering import content_type
from sandbox.serving.request import JSON_TYPE, PROTOBUF_TYPE, Request

MOST_BODY_BYTES = 3 * 1024 * 1024
"""The API server's own limit (`MaxRequestBodyBytes`)."""

_OPTIONS = "DeleteOptions"
_TYPE_FIELDS = ("apiVersion", "kind")


def from_json(raw: bytes) -> Any:
    """Return what JSON says; ValueError for what is none: NaN, half of a surrogate pair, ..."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def check_size(request: Request) -> None:
    """Raise 413 for a body that is too large."""
    if len(request.body) > MOST_BODY_BYTES:
        what = f"Request entity too large: limit is {MOST_BODY_BYTES}"
        raise ApiError(413, "RequestEntityTooLarge", what)


def decoded_object(request: Request, api_version: str, kind: str) -> JSON:
    """Return the object of a create or update; 415 and 400. `kind` is what it must be."""
    try:
        return _read(request, api_version, kind)
    except ValueError as error:
        message = f"the object provided is unrecognized (must be of type {kind}): {error}"
        raise bad_request(message) from error


def decoded_options(request: Request) -> JSON:
    """Return the DeleteOptions that a body carries, empty where it has none."""
    if not request.body.strip():
        return {}
    try:
        body = _read(request, "v1", _OPTIONS)
    except ValueError as error:
        raise bad_request(f"the options are unrecognized: {error}") from error
    kind = body.get("kind") or _OPTIONS
    if kind != _OPTIONS:
        raise bad_request(f"the options are a {kind}, not {_OPTIONS}")
    return body


def patch_type(request: Request) -> PatchType:
    """Return the kind of patch; 415 where it is none."""
    given = content_type(request.headers.get("content-type", ""))
    try:
        return PatchType(given)
    except ValueError:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type") from None


def decoded_patch(request: Request, *, force: bool) -> Patch:
    """Return the patch; 400 for what cannot be read. An applied configuration comes as JSON."""
    kind = patch_type(request)
    try:
        body = from_json(request.body)
    except ValueError as error:
        raise bad_request(f"error decoding patch: {error}") from error
    wanted = list if kind is PatchType.JSON else dict
    if not isinstance(body, wanted):
        expected = "list" if wanted is list else "object"
        raise bad_request(f"error decoding patch: {json_type(body)} where a {expected} has to be")
    return Patch(kind, body, force)


def _read(request: Request, api_version: str, kind: str) -> JSON:
    """Return what a body holds; ValueError for what cannot be read, 415 for an unknown format."""
    given = content_type(request.headers.get("content-type", "")) or JSON_TYPE
    if given == PROTOBUF_TYPE:
        return from_protobuf(request.body, api_version, kind)
    if given != JSON_TYPE:
        why = f"the sandbox does not serve this: a body as {given}; send {JSON_TYPE}"
        raise ApiError(415, "UnsupportedMediaType", why)
    return _check_object_types(from_json(request.body))


def _check_object_types(body: Any) -> JSON:
    """Hold an object to the types of what every object has; ValueError."""
    if not isinstance(body, dict):
        raise _misfit("the body", body)
    for field in _TYPE_FIELDS:
        value = body.get(field)
        if value is not None and not isinstance(value, str):
            raise _misfit(field, value)
    metadata = body.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise _misfit("metadata", metadata)
    return body


def _misfit(what: str, value: Any) -> ValueError:
    return ValueError(f"{what} is of type {json_type(value)}")
