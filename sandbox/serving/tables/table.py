"""Tables: what `kubectl get` prints comes from the server, column by column (`meta.k8s.io/v1`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from sandbox.json import JSON
from sandbox.serving.tables.column import Layout
from sandbox.serving.tables.pods import PODS, row_conditions
from sandbox.serving.tables.rows import BY_NAME, ROWS

META = "meta.k8s.io/v1"

LAYOUTS: Mapping[str, Layout] = {"pods": PODS, **ROWS}
"""By `kinds.Resource.key`."""


def layout_of(key: str) -> Layout:
    """Return how a kind is shown."""
    return LAYOUTS.get(key, BY_NAME)


def table(
    layout: Layout,
    objects: Iterable[JSON],
    metadata: JSON,
    now: datetime,
    includes: str,
) -> JSON:
    """Return the Table of objects that carry kind and apiVersion.

    `includes` is what stands behind each row (`includeObject`): Object, None, else its metadata.
    """
    return {
        "kind": "Table",
        "apiVersion": META,
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in layout.columns],
        "rows": [_row(layout, body, now, includes) for body in objects],
    }


def _row(layout: Layout, body: JSON, now: datetime, includes: str) -> JSON:
    shown: JSON | None = None
    if includes == "Object":
        shown = body
    elif includes != "None":
        kind = {"kind": "PartialObjectMetadata", "apiVersion": META}
        shown = {**kind, "metadata": body["metadata"]}
    conditions = row_conditions(body) if body.get("kind") == "Pod" else []
    row: JSON = {"cells": layout.cells(body, now)}
    return {**row, **({"conditions": conditions} if conditions else {}), "object": shown}
