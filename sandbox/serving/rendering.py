"""Objects and lists in the form that the client asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sandbox.failure import ApiError
from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.serving.request import JSON_TYPE, Answer, to_json
from sandbox.serving.tables.table import layout_of, table

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
        return self._table([self._whole(item) for item in body["items"]], body["metadata"])

    def event(self, event: JSON, *, first: bool) -> JSON:
        """Return one event of a watch; only the first Table names its columns."""
        if event["type"] == "ERROR":
            return event
        shown = self.one(event["object"])
        if self.is_table and not first:
            shown["columnDefinitions"] = None
        return {**event, "object": shown}

    def _table(self, objects: list[JSON], metadata: JSON) -> JSON:
        layout = layout_of(self.resource.key)
        return table(layout, objects, metadata, self.now, self.includes)

    def _whole(self, item: JSON) -> JSON:
        resource = self.resource
        return {"kind": resource.kind, "apiVersion": resource.api_version, **item}


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
