"""Lists in pages: a token says where the next one begins and at which version all are read."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON
from sandbox.storage.history import Expired
from sandbox.storage.selection import Selection
from sandbox.storage.store import Store

TOKEN_FORMAT = "meta.k8s.io/v1"  # noqa: S105 - the version of a format
ANY_VERSION = -1
"""The version in a token that goes on with the objects as they are, whatever has changed."""

TOO_OLD_PAGE = (
    "The provided continue parameter is too old to display a consistent list result. You can start"
    " a new list without the continue parameter, or use the continue token in this response to"
    " retrieve the remainder of the results. Continuing with the provided token results in an"
    " inconsistent list - objects that were created, modified, or deleted between the time the"
    " first chunk was returned and now may show up in the list."
)
TOO_OLD_LIST = "The resourceVersion for the provided list is too old."


@dataclass(frozen=True, slots=True)
class Page:
    """Some objects of a list, the version they are read at, and how to go on."""

    items: list[JSON]
    version: int
    token: str = ""
    remaining: int | None = None


class PageExpired(ApiError):
    """410 for a token whose version is forgotten; it brings one that goes on inconsistently."""

    def __init__(self, token: str) -> None:
        super().__init__(410, "Expired", TOO_OLD_PAGE)
        self.token = token

    def body(self) -> JSON:
        """Return the Status, whose metadata holds the fresh token."""
        return {**super().body(), "metadata": {"continue": self.token}}


def first_page(store: Store, selected: Selection, *, limit: int, version: int | None) -> Page:
    """Return the head of a list, read at a version or (None) as it is; `limit` 0 is all."""
    return _page(store, selected, "", limit, store.version if version is None else version)


def next_page(store: Store, selected: Selection, *, limit: int, token: str) -> Page:
    """Return what follows a token; 400 for one that is none, 410 for one that is too old."""
    version, start = _decode_token(token)
    if version == ANY_VERSION:
        version = store.version
    try:
        return _page(store, selected, start, limit, version)
    except Expired:
        raise PageExpired(_encode_token(ANY_VERSION, start)) from None


def _page(store: Store, selected: Selection, start: str, limit: int, version: int) -> Page:
    found = [
        body
        for body in store.items_at(selected.resource, selected.namespace, version)
        if (not start or _path(selected, body) >= start) and selected.matches(body)
    ]
    if not 0 < limit < len(found):
        return Page(found, version)
    token = _encode_token(version, _path(selected, found[limit - 1]) + "\0")
    rest = len(found) - limit
    return Page(found[:limit], version, token, rest if selected.is_whole else None)


def _path(selected: Selection, body: JSON) -> str:
    """Return an object's place below the listed prefix, in the order of the list."""
    metadata = body["metadata"]
    namespace = "" if selected.namespace else metadata.get("namespace", "")
    return f"/{namespace}/{metadata['name']}" if namespace else f"/{metadata['name']}"


def _encode_token(version: int, start: str) -> str:
    text = json.dumps({"v": TOKEN_FORMAT, "rv": version, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode_token(token: str) -> tuple[int, str]:
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        found = json.loads(raw.decode("latin-1"))
        return int(found["rv"]), str(found["start"])
    except json.JSONDecodeError as error:
        at = error.doc[error.pos : error.pos + 1]
        why = f"invalid character '{at}' looking for beginning of value"
        raise _no_token(why if at else "unexpected end of JSON input") from None
    except (KeyError, TypeError, ValueError) as error:
        raise _no_token(str(error)) from None


def _no_token(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
