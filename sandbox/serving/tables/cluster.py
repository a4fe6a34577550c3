"""The rows of namespaces, configuration and events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.age import since
from sandbox.serving.tables.column import (
    AGE,
    NAME,
    Column,
    Layout,
    age_of,
    columns,
    name_of,
)


def _list_name_and_age(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), age_of(body, now)]


def _namespace(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), dig(body, "status", "phase") or "", age_of(body, now)]


def _config_map(body: JSON, now: datetime) -> list[Any]:
    entries = len(body.get("data") or {}) + len(body.get("binaryData") or {})
    return [name_of(body), entries, age_of(body, now)]


def _secret(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), body.get("type", ""), len(body.get("data") or {}), age_of(body, now)]


def _event(body: JSON, now: datetime) -> list[Any]:
    first = since(body.get("firstTimestamp") or body.get("eventTime"), now)
    last = since(body["lastTimestamp"], now) if body.get("lastTimestamp") else first
    times = int(body.get("count") or 0) or 1
    what = [body.get("type", ""), body.get("reason", ""), _object(body)]
    where = [dig(body, "involvedObject", "fieldPath") or "", _source(body)]
    return [last, *what, *where, str(body.get("message", "")).strip(), first, times, name_of(body)]


def _object(event: JSON) -> str:
    kind = str(dig(event, "involvedObject", "kind") or "").lower()
    name = dig(event, "involvedObject", "name")
    return f"{kind}/{name}" if name else kind


def _source(event: JSON) -> str:
    component = dig(event, "source", "component") or event.get("reportingComponent") or ""
    host = dig(event, "source", "host") or event.get("reportingInstance") or ""
    return f"{component}, {host}" if host else str(component)


_EVENT = (
    *columns("Last Seen", "Type", "Reason", "Object", wide=("Subobject", "Source")),
    *columns("Message", wide=("First Seen", "Count")),
    Column("Name", priority=1, format="name"),
)

CLUSTER = {
    "namespaces": Layout((NAME, *columns("Status", "Age")), _namespace),
    "configmaps": Layout((NAME, *columns("Data", "Age")), _config_map),
    "secrets": Layout((NAME, *columns("Type", "Data", "Age")), _secret),
    "events": Layout(_EVENT, _event),
}

BY_NAME = Layout((NAME, AGE), _list_name_and_age)
"""For a kind that has no columns of its own here, whatever a real server shows of it."""
