"""Request bodies: JSON, YAML or protobuf in, an object or a patch out, or a refusal."""

from __future__ import annotations

from typing import Any

from sandbox.api.asked import Patch, PatchType
from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON
from sandbox.schema.spelling import json_type
from sandbox.serving.decoding import from_json, from_yaml
from sandbox.serving.negotiation import content_type
from sandbox.serving.protobuf.messages import from_protobuf
from sandbox.serving.request import JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE, Request

MOST_BODY_BYTES = 3 * 1024 * 1024
"""The API server's own limit (`MaxRequestBodyBytes`)."""

_OPTIONS = "DeleteOptions"
_NO_KIND = "couldn't get version/kind; json parse error"
_TYPE_FIELDS = ("apiVersion", "kind")
_STRUCT = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\"";'
    r' Kind string "json:\"kind,omitempty\"" }'
)
_SHOWN_BYTES = 100
_MAP = "map[string]interface {}"
_VALUE_MAP = f"value of type {_MAP}"
_OPERATIONS = "[]handlers.jsonPatchOp"


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
        why = f"{_NO_KIND}: {error} ({_excerpt(request.body)})"
        message = f"the object provided is unrecognized (must be of type {kind}): {why}"
        raise bad_request(message) from error


def decoded_options(request: Request) -> JSON:
    """Return the DeleteOptions that a body carries, empty where it has none."""
    if not request.body.strip():
        return {}
    try:
        body = _read(request, "v1", _OPTIONS)
    except ValueError as error:
        raise bad_request(f"{_NO_KIND}: {error}") from error
    kind = body.get("kind") or _OPTIONS
    if kind != _OPTIONS:
        where = 'version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"'
        raise bad_request(f'no kind "{kind}" is registered for {where}')
    return body


def patch_type(request: Request) -> PatchType:
    """Return the kind of patch; 415 where it is none."""
    given = content_type(request.headers.get("content-type", ""))
    try:
        return PatchType(given)
    except ValueError:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type") from None


def decoded_patch(request: Request, *, force: bool) -> Patch:
    """Return the patch; 400 for what cannot be read."""
    kind = patch_type(request)
    if kind is PatchType.APPLY:
        return Patch(kind, _decode_applied(request.body), force)
    prefix = "" if kind is PatchType.STRATEGIC else "error decoding patch: "
    try:
        body = from_json(request.body)
    except ValueError as error:
        raise bad_request(f"{prefix}{error}") from error
    wanted, name = (list, _OPERATIONS) if kind is PatchType.JSON else (dict, _MAP)
    if not isinstance(body, wanted):
        raise bad_request(f"{prefix}{_misfit(body, f'value of type {name}')}")
    return Patch(kind, body)


def _read(request: Request, api_version: str, kind: str) -> JSON:
    """Return what a body holds; ValueError for what cannot be read, 415 for an unknown format."""
    given = content_type(request.headers.get("content-type", "")) or JSON_TYPE
    if given == PROTOBUF_TYPE:
        return from_protobuf(request.body, api_version, kind)
    if given not in (JSON_TYPE, YAML_TYPE):
        raise _unknown_format()
    body = from_yaml(request.body) if given == YAML_TYPE else from_json(request.body)
    return _check_object_types({} if body is None else body, kind)


def _check_object_types(body: Any, kind: str) -> JSON:
    """Hold an object to the types of what every object has; ValueError, 400 for its metadata."""
    if not isinstance(body, dict):
        raise _misfit(body, f"value of type {_STRUCT}")
    for field in _TYPE_FIELDS:
        value = body.get(field)
        if value is not None and not isinstance(value, str):
            raise _misfit(value, f"struct field .{field} of type string")
    metadata = body.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        version = (body.get("apiVersion") or "").rpartition("/")[2] or "v1"
        why = _misfit(metadata, f"struct field {kind}.metadata of type v1.ObjectMeta")
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {why}')
    return body


def _decode_applied(raw: bytes) -> JSON:
    try:
        body = _applied_value(raw)
    except ValueError as error:
        raise bad_request(f"error decoding YAML: {error}") from error
    if not isinstance(body, dict):
        why = f"error unmarshaling JSON: while decoding JSON: {_misfit(body, _VALUE_MAP)}"
        raise bad_request(f"error decoding YAML: {why}")
    return body


def _applied_value(raw: bytes) -> Any:
    """Read JSON as JSON: it is YAML too, and most clients send it."""
    try:
        return from_json(raw)
    except ValueError:
        return from_yaml(raw)


def _misfit(value: Any, place: str) -> ValueError:
    """Return what Go's decoder says of a value that has the wrong type for its place."""
    return ValueError(f"json: cannot unmarshal {json_type(value)} into Go {place}")


def _unknown_format() -> ApiError:
    return ApiError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include:"
        f" {JSON_TYPE}, {YAML_TYPE}, {PROTOBUF_TYPE}",
    )


def _excerpt(raw: bytes) -> str:
    """Return what is shown of a body: an object as text, anything else in hexadecimal."""
    shown = raw[:_SHOWN_BYTES]
    if not shown:
        return "<empty>"
    return shown.decode(errors="replace") if shown.startswith(b"{") else shown.hex()
