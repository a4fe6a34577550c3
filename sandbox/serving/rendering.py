"""Answers in the form that the client asked for: the object or its row, as JSON.

A watch is one line of JSON an event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sandbox.failure import ApiError
from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.serving.request import JSON_TYPE, Answer, to_json
from sandbox.serving.tables import table
from sandbox.storage.watching import Watch

_ANY = ("*/*", "application/*", JSON_TYPE)
_TABLES = [("Table", "meta.k8s.io", "v1"), ("Table", "meta.k8s.io", "v1beta1")]
_AGGREGATED = ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")


def content_type(header: str) -> str:
    """Return a Content-Type without its parameters."""
    return header.partition(";")[0].strip().lower()


def wants_table(header: str) -> bool:
    """Tell whether a Table is preferred to the object itself; 406 where neither is accepted."""
    for media, form in _list_accepted(header):
        if media in _ANY and (form in _TABLES or not form[0]):
            return form in _TABLES
    why = f"the sandbox does not serve this: an answer that is neither {JSON_TYPE} nor a Table"
    raise ApiError(406, "NotAcceptable", why)


def wants_aggregated_discovery(header: str) -> bool:
    """Tell whether discovery is asked for as one document."""
    return (JSON_TYPE, _AGGREGATED) in _list_accepted(header)


def _list_accepted(header: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the alternatives of an Accept header as they stand; everything where it is empty.

    Each is a media type, and what an object is to be turned into: kind, group and version, empty
    for itself. Clients of Kubernetes write them best first and give no qualities.
    """
    found = []
    for part in filter(str.strip, header.split(",")):
        name, *pairs = part.split(";")
        named = (pair.partition("=") for pair in pairs)
        given = {key.strip(): value.strip() for key, _, value in named}
        form = tuple(given.get(key, "") for key in ("as", "g", "v"))
        found.append((name.strip().lower(), form))
    return found or [("*/*", ("", "", ""))]


_DETAILED = (403, 404, 405, 415)
"""Statuses that always carry details, if only empty ones: kubectl relies on it."""


@dataclass(frozen=True, slots=True)
class View:
    """How answers about a kind are shown, at a moment; `includes` as `tables.table` has it."""

    resource: Resource
    is_table: bool
    includes: str
    now: datetime

    def one(self, body: JSON) -> JSON:
        """Return one object; a Status stays what it is."""
        if not self.is_table or body.get("kind") == "Status":
            return body
        version = dig(body, "metadata", "resourceVersion")
        return self._table([body], {"resourceVersion": version} if version else {})

    def many(self, body: JSON) -> JSON:
        """Return a List, whose items carry no kind."""
        if not self.is_table:
            return body
        kind = {"kind": self.resource.kind, "apiVersion": self.resource.api_version}
        return self._table([{**kind, **item} for item in body["items"]], body["metadata"])

    def event(self, event: JSON, *, first: bool) -> JSON:
        """Return one event of a watch; only the first Table names its columns."""
        if event["type"] == "ERROR":
            return event
        shown = self.one(event["object"])
        if self.is_table and not first:
            shown["columnDefinitions"] = None
        return {**event, "object": shown}

    def _table(self, objects: list[JSON], metadata: JSON) -> JSON:
        return table(self.resource.key, objects, metadata, self.now, self.includes)


def answer(status: int, body: JSON, headers: Mapping[str, str] | None = None) -> Answer:
    """Return a document."""
    return Answer(status, to_json(body), {"content-type": JSON_TYPE, **(headers or {})})


def refusal(error: ApiError) -> Answer:
    """Return the Status of an error; clients look into its details without asking."""
    body = error.body()
    if error.status in _DETAILED:
        body.setdefault("details", {})
    if not error.reason:
        del body["reason"]
    return answer(error.status, body, error.headers)


class WatchStream:
    """The body of a watch; `view` gives the form of answers at the moment it is called."""

    def __init__(self, events: Watch, view: Callable[[], View]) -> None:
        self._events = events
        self._view = view
        self._is_first = True

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._events.ended

    def take(self) -> list[bytes]:
        """Return what has happened since the last call, a line each."""
        lines = []
        for event in self._events.take():
            lines.append(to_json(self._view().event(event, first=self._is_first)) + b"\n")
            self._is_first = False
        return lines

    def on_data(self, hear: Callable[[], None]) -> None:
        """Have `hear` called when there may be lines, and at the end."""
        self._events.on_data(hear)

    def close(self) -> None:
        """End it from the reader's side."""
        self._events.close()
