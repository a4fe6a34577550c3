"""Tables: what `kubectl get` prints comes from the server, column by column (`meta.k8s.io/v1`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON
from sandbox.serving.tables.column import Layout
from sandbox.serving.tables.pods import PODS, row_conditions
from sandbox.serving.tables.rows import BY_NAME, ROWS

META = "meta.k8s.io/v1"

LAYOUTS: Mapping[str, Layout] = {"pods": PODS, **ROWS}
"""By `kinds.Resource.key`."""


@dataclass(frozen=True, slots=True)
class TableStyle:
    """What a client asked of a Table; `include` is Metadata, Object or None."""

    include: str = "Metadata"


def table_style(include: str) -> TableStyle:
    """Return the style for `includeObject`; raises 400 for what it cannot be."""
    if include not in ("", "Metadata", "Object", "None"):
        raise _unknown_include(include)
    return TableStyle(include or "Metadata")


def layout_of(key: str) -> Layout:
    """Return how a kind is shown."""
    return LAYOUTS.get(key, BY_NAME)


def table(
    layout: Layout,
    objects: Iterable[JSON],
    metadata: JSON,
    now: datetime,
    style: TableStyle,
) -> JSON:
    """Return the Table of objects that carry kind and apiVersion."""
    return {
        "kind": "Table",
        "apiVersion": META,
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in layout.columns],
        "rows": [_row(layout, body, now, style) for body in objects],
    }


def _partial(body: JSON) -> JSON:
    """Return the PartialObjectMetadata of an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": body["metadata"]}


def _row(layout: Layout, body: JSON, now: datetime, style: TableStyle) -> JSON:
    shown = {"Object": body, "None": None}.get(style.include, _partial(body))
    conditions = row_conditions(body) if body.get("kind") == "Pod" else []
    row: JSON = {"cells": layout.cells(body, now)}
    return {**row, **({"conditions": conditions} if conditions else {}), "object": shown}


def _unknown_include(include: str) -> ApiError:
    return bad_request(
        f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )
