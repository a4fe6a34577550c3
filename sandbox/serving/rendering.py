"""Objects and lists in the form that the client asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.failure import ApiError
from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.serving.negotiation import Form, Shape
from sandbox.serving.request import JSON_TYPE, YAML_TYPE, Answer, to_json
from sandbox.serving.tables.table import TableStyle, layout_of, partial, table

_DETAILED = (403, 404, 405, 415)
"""Statuses that always carry details, if only empty ones: kubectl relies on it."""

_TABLE_METADATA = ("resourceVersion", "continue", "remainingItemCount")


@dataclass(frozen=True, slots=True)
class View:
    """How answers about a kind (or a subresource of it) are shown, at a moment."""

    resource: Resource
    shape: Shape
    style: TableStyle
    now: datetime
    subresource: str = ""

    def one(self, body: JSON) -> JSON:
        """Return one object; a Status stays what it is."""
        if body.get("kind") == "Status":
            return body
        match self.shape.form:
            case Form.TABLE:
                version = dig(body, "metadata", "resourceVersion")
                return self._table([body], {"resourceVersion": version} if version else {})
            case Form.PARTIAL:
                return partial(body)
            case Form.PARTIAL_LIST:
                raise self._misfit("is not a list", "")
            case _:
                return body

    def many(self, body: JSON) -> JSON:
        """Return a List, whose items carry no kind."""
        match self.shape.form:
            case Form.TABLE:
                return self._table([self._whole(item) for item in body["items"]], body["metadata"])
            case Form.PARTIAL_LIST:
                items = [partial(item) for item in body["items"]]
                return {**partial(body), "kind": "PartialObjectMetadataList", "items": items}
            case Form.PARTIAL:
                raise self._misfit("is a list", "List")
            case _:
                return body

    def event(self, event: JSON, *, first: bool) -> JSON:
        """Return one event of a watch; only the first Table names its columns."""
        if event["type"] == "ERROR":
            return event
        shown = self.one(event["object"])
        if self.shape.form is Form.TABLE and not first:
            shown["columnDefinitions"] = None
        return {**event, "object": shown}

    def _table(self, objects: list[JSON], metadata: JSON) -> JSON:
        layout = layout_of(self.resource.key, self.subresource)
        kept = {name: metadata[name] for name in _TABLE_METADATA if name in metadata}
        return table(layout, objects, kept, self.now, self.style)

    def _whole(self, item: JSON) -> JSON:
        resource = self.resource
        return {"kind": resource.kind, "apiVersion": resource.api_version, **item}

    def _misfit(self, why: str, suffix: str) -> ApiError:
        wanted, group = self.shape.form, self.resource.group.partition(".")[0] or "core"
        named = f"*{group}.{self.resource.kind}{suffix}"
        message = f"you requested {wanted}, but the requested object {why} ({named})"
        return ApiError(406, "NotAcceptable", message)


def answer(
    status: int, body: JSON, shape: Shape | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Return a document, as JSON unless YAML is asked for."""
    if shape is not None and shape.yaml:
        return Answer(status, _to_yaml(body), {"content-type": YAML_TYPE, **(headers or {})})
    return Answer(status, to_json(body), {"content-type": JSON_TYPE, **(headers or {})})


def refusal(error: ApiError, shape: Shape | None = None) -> Answer:
    """Return the Status of an error; clients look into its details without asking."""
    body = error.body()
    if error.status in _DETAILED:
        body.setdefault("details", {})
    if not error.reason:
        del body["reason"]
    return answer(error.status, body, shape, error.headers)


def _to_yaml(body: Any) -> bytes:
    import yaml

    return yaml.safe_dump(body, allow_unicode=True).encode()
