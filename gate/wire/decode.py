"""JSON of the API server to core values: lines of watches, lists, single objects.

Whatever comes in, out comes a value or a `DecodeError`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, ParamSpec, TypeVar

import msgspec
from msgspec.json import Decoder

from gate.core.frozen import dataclass
from gate.core.model import objects as core
from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.readiness.rules import readiness_of
from gate.core.rollout.observations import Kind
from gate.wire import build, frames, shapes
from gate.wire.frames import WatchType
from gate.wire.kinds import registry
from gate.wire.untrusted import clean_line

MAX_LINE_BYTES: Final = 4 * 1024 * 1024
"""An object is at most 1.5 MiB in etcd; as JSON it may be more than twice that."""
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""A page of 500 objects of 128 KiB each."""


_MOST_LEVELS: Final = 100  # of managed fields: core walks them, and no schema is that deep


class DecodeError(ValueError):
    """These bytes are not what the API promises; the message is one clean line.

    It is not among the errors that end a command: a broken line ends only one connection. The
    reader knows who has to act, and says so with an error of its own.
    """


@dataclass(frozen=True, slots=True)
class ServerError:
    """The Status of an ERROR in a watch; `code` is that of HTTP, 410 for an expired history."""

    code: int
    reason: core.CleanText
    message: core.CleanText


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch.

    `object` is set for ADDED, MODIFIED and DELETED, `error` for ERROR. `resource_version` is
    where to resume from, "" for ERROR.
    """

    type: WatchType
    resource_version: str
    object: core.Watched | None = None
    error: ServerError | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, or one page of it; `continue_token` is "" on the last page."""

    objects: tuple[core.Watched, ...]
    resource_version: str
    continue_token: str


@dataclass(frozen=True, slots=True)
class LivePage:
    """One page of a list of whole objects, as far as they are wanted."""

    objects: tuple[LiveObject, ...]
    count: int
    continue_token: str


_LINE: Final[Decoder[Any]] = Decoder(frames.line_of(registry.SHAPES))
_WATCHED: Final[Decoder[Any]] = Decoder(registry.SHAPES)
_LISTS: Final[Mapping[Kind, Decoder[Any]]] = {
    kind: Decoder(frames.list_of(one.shape)) for kind, one in registry.WATCHED.items()
}
_ANY_KIND: Final = Decoder(shapes.AnyObject)
_RAW_LIST: Final = Decoder(frames.ListOf[msgspec.Raw])
_JSON_OBJECT: Final = Decoder(dict[str, Any])
Given = ParamSpec("Given")
Value = TypeVar("Value")


def _decoding(read: Callable[Given, Value]) -> Callable[Given, Value]:
    """Turn every error that bytes can cause in a reader into a `DecodeError`."""

    @functools.wraps(read)
    def reader(*args: Given.args, **kwargs: Given.kwargs) -> Value:
        try:
            return read(*args, **kwargs)
        except RecursionError:
            raise DecodeError("nested too deeply") from None
        except ValueError as error:
            raise DecodeError(clean_line(str(error))) from None

    return reader


@_decoding
def watch_line(line: bytes) -> WatchEvent:
    """Decode one line of a watch of any watched kind, at most `MAX_LINE_BYTES` long."""
    event = _LINE.decode(_check_length(line, MAX_LINE_BYTES))
    found = event.object
    if isinstance(found, frames.Status):
        return WatchEvent(WatchType.ERROR, "", error=_server_error(found))
    version = found.metadata.resource_version or ""
    if event.type is WatchType.BOOKMARK:
        return WatchEvent(event.type, version)
    return WatchEvent(event.type, version, registry.build_watched(found))


@_decoding
def listing(kind: Kind, body: bytes) -> Listing:
    """Decode a list of one kind, at most `MAX_BODY_BYTES` long."""
    page = _LISTS[kind].decode(_check_length(body))
    meta = page.metadata or frames.ListMeta()
    return Listing(
        objects=tuple(registry.build_watched(item) for item in page.items or ()),
        resource_version=meta.resource_version or "",
        continue_token=meta.following or "",
    )


@_decoding
def decode_watched(body: bytes | Mapping[str, Any]) -> core.Watched:
    """Decode an object of any watched kind; it has to name its kind."""
    return registry.build_watched(_WATCHED.decode(_json(body)))


@_decoding
def template(body: Mapping[str, Any]) -> core.Template:
    """Decode a pod template, without the label that a controller adds."""
    return build.template(_json(body))


@_decoding
def live_object(body: bytes | Mapping[str, Any]) -> LiveObject:
    """Decode an object of any kind as a read or a write returned it."""
    return _live_object(_json(body))


@_decoding
def live_page(api_version: str, kind: str, body: bytes, wanted: Callable[[str], bool]) -> LivePage:
    """Decode the objects of one page of a list whose names are `wanted`."""
    page = _RAW_LIST.decode(_check_length(body))
    frame = msgspec.json.encode({"apiVersion": api_version, "kind": kind})[:-1] + b","
    items = [frame + bytes(item).lstrip()[1:] for item in page.items or ()]
    named = [item for item in items if wanted(_ANY_KIND.decode(item).metadata.name)]
    token = (page.metadata or frames.ListMeta()).following or ""
    return LivePage(tuple(map(_live_object, named)), len(items), token)


def _live_object(data: bytes) -> LiveObject:
    found = _ANY_KIND.decode(data)
    meta = found.metadata
    if not all(_is_tree(entry.get("fieldsV1") or {}) for entry in meta.managed_fields or ()):
        raise DecodeError("managed fields are no tree")
    value = _JSON_OBJECT.decode(data)
    readiness = readiness_of(value)
    value.pop("status", None)
    value["metadata"].pop("managedFields", None)
    names = (found.api_version, found.kind, meta.namespace or "", meta.name)
    workload = registry.find_workload(found.api_version, found.kind)
    return LiveObject(
        ref=core.Ref(*map(clean_line, names)),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        body=Body.of(value),
        managed=Body.of({"managedFields": meta.managed_fields or []}),
        workload=workload.watched.build(_WATCHED.decode(data)) if workload else None,
        readiness=replace(readiness, why=clean_line(readiness.why)),
    )


def _is_tree(value: object, levels: int = _MOST_LEVELS) -> bool:
    return (
        levels > 0
        and isinstance(value, dict)
        and all(_is_tree(inner, levels - 1) for inner in value.values())
    )


def _server_error(found: frames.Status) -> ServerError:
    return ServerError(
        found.code or 0, clean_line(found.reason or ""), clean_line(found.message or "")
    )


def _json(body: bytes | Mapping[str, Any]) -> bytes:
    return _check_length(body if isinstance(body, bytes) else msgspec.json.encode(body))


def _check_length(data: bytes, limit: int = MAX_BODY_BYTES) -> bytes:
    if len(data) > limit:
        raise DecodeError(f"longer than {limit} bytes")
    return data
