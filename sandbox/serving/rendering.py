"""Objects and lists in the form that the client asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sandbox.failure import ApiError
from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.serving.negotiation import Form, Shape
from sandbox.serving.request import JSON_TYPE, Answer, to_json
from sandbox.serving.tables.table import TableStyle, layout_of, table

_DETAILED = (403, 404, 405, 415)
"""Statuses that always carry details, if only empty ones: kubectl relies on it."""

_TABLE_METADATA = ("resourceVersion", "continue", "remainingItemCount")


@dataclass(frozen=True, slots=True)
class View:
    """How answers about a kind are shown, at a moment."""

    resource: Resource
    shape: Shape
    style: TableStyle
    now: datetime

    def one(self, body: JSON) -> JSON:
        """Return one object; a Status stays what it is."""
        if body.get("kind") == "Status":
            return body
        if self.shape.form is not Form.TABLE:
            return body
        version = dig(body, "metadata", "resourceVersion")
        return self._table([body], {"resourceVersion": version} if version else {})

    def many(self, body: JSON) -> JSON:
        """Return a List, whose items carry no kind."""
        if self.shape.form is not Form.TABLE:
            return body
        return self._table([self._whole(item) for item in body["items"]], body["metadata"])

    def event(self, event: JSON, *, first: bool) -> JSON:
        """Return one event of a watch; only the first Table names its columns."""
        if event["type"] == "ERROR":
            return event
        shown = self.one(event["object"])
        if self.shape.form is Form.TABLE and not first:
            shown["columnDefinitions"] = None
        return {**event, "object": shown}

    def _table(self, objects: list[JSON], metadata: JSON) -> JSON:
        layout = layout_of(self.resource.key)
        kept = {name: metadata[name] for name in _TABLE_METADATA if name in metadata}
        return table(layout, objects, kept, self.now, self.style)

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
