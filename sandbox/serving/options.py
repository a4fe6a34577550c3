"""The query parameters of the verbs, read and checked as the server's option types are.

Of a deletion the options may come in a body instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sandbox.api.listing import ListOptions
from sandbox.api.registry import DeleteOptions, Patch, PatchType, Propagation, Strictness
from sandbox.failure import ApiError, bad_request, not_served
from sandbox.json import JSON, dig
from sandbox.objects import Mismatch, decode_struct
from sandbox.schema import json_type
from sandbox.serving.protobuf.messages import from_protobuf
from sandbox.serving.rendering import content_type
from sandbox.serving.request import JSON_TYPE, PROTOBUF_TYPE, Request
from sandbox.serving.routing import is_true

MOST_MANAGER_LETTERS = 128
STRICTNESS = ("", *(sorted(Strictness)))
_NUMBER = re.compile(r"[-+]?[0-9]+")
_INT64 = 2**63
_MOST_DIGITS = 100
"""Of a number that is looked at: more are out of range anyhow."""


def number(text: str) -> int | None:
    """Return a whole number, None for nothing; 400 in the words of the server's parser."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(text) > _MOST_DIGITS or abs(int(text)) >= _INT64:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def list_options(request: Request) -> ListOptions:
    """Return the options of the query; 400 where a number is none."""
    initial = request.read_parameter("sendInitialEvents")
    timeout = number(request.read_parameter("timeoutSeconds"))
    return ListOptions(
        resource_version=request.read_parameter("resourceVersion"),
        resource_version_match=request.read_parameter("resourceVersionMatch"),
        continue_token=request.read_parameter("continue"),
        send_initial_events=is_true(initial) if initial else None,
        allow_watch_bookmarks=is_true(request.read_parameter("allowWatchBookmarks")),
        timeout_seconds=float(timeout) if timeout else None,
    )


def check_write(request: Request, *, apply: bool = False) -> None:
    """400 where dryRun, fieldManager or fieldValidation is not what it may be."""
    check_dry_run(request.all_asked("dryRun"))
    manager = request.read_parameter("fieldManager")
    if not manager and apply:
        raise bad_request("an apply has to name its fieldManager")
    if len(manager) > MOST_MANAGER_LETTERS or not manager.isprintable():
        why = f"a fieldManager has at most {MOST_MANAGER_LETTERS} letters that can be printed"
        raise bad_request(why)
    validation = request.read_parameter("fieldValidation")
    if validation not in STRICTNESS:
        raise bad_request(f"the fieldValidation {validation!r} is none of {', '.join(Strictness)}")


def is_dry_run(request: Request) -> bool:
    """Whether nothing shall be kept."""
    return bool(request.all_asked("dryRun"))


def is_forced(request: Request) -> bool:
    """Whether an apply takes over fields of others."""
    return is_true(request.read_parameter("force"))


def strictness_of(request: Request) -> Strictness:
    """Return what becomes of unknown fields; the server's default is to warn."""
    return Strictness(request.read_parameter("fieldValidation") or Strictness.WARN)


def manager_of(request: Request) -> str:
    """Return the field manager: the one named, else the program of the User-Agent."""
    named = request.read_parameter("fieldManager")
    if named:
        return named
    agent = request.headers.get("user-agent", "").partition("/")[0]
    return "".join(letter for letter in agent if letter.isprintable())[:MOST_MANAGER_LETTERS]


def delete_options(request: Request) -> DeleteOptions:
    """Return how to delete; a body outweighs the query. 400."""
    return read_options(decoded_options(request) or _from_query(request))


def _from_query(request: Request) -> JSON:
    return {
        "gracePeriodSeconds": number(request.read_parameter("gracePeriodSeconds")),
        "propagationPolicy": request.read_parameter("propagationPolicy") or None,
        "dryRun": request.all_asked("dryRun"),
        "orphanDependents": request.read_parameter("orphanDependents") or None,
    }


def read_options(sent: JSON) -> DeleteOptions:
    """Return how to delete; 400 for what is not understood."""
    try:
        body = decode_struct("meta/v1.DeleteOptions", sent)
    except Mismatch as error:
        raise bad_request(str(error)) from None
    dry_run = body.get("dryRun", [])
    check_dry_run(dry_run)
    asked = body.get("propagationPolicy")
    if body.get("orphanDependents") is not None:
        raise bad_request("orphanDependents is not understood: set propagationPolicy")
    if asked == "Foreground":
        raise not_served("a deletion in the foreground")
    if asked is not None and asked not in tuple(Propagation):
        raise bad_request(f"the propagationPolicy {asked!r} is none of {', '.join(Propagation)}")
    return DeleteOptions(
        grace_seconds=body.get("gracePeriodSeconds"),
        propagation=None if asked is None else Propagation(asked),
        uid=dig(body, "preconditions", "uid"),
        resource_version=dig(body, "preconditions", "resourceVersion"),
        dry_run=bool(dry_run),
    )


def check_dry_run(given: Sequence[str]) -> None:
    """400 for a `dryRun` that is not `All`: nobody who means to try shall write."""
    if set(given) - {"All"}:
        raise bad_request(f"dryRun can be All alone, not {', '.join(given)}")


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
