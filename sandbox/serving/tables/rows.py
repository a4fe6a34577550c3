"""Tables: what `kubectl get` prints comes from the server, column by column (`meta.k8s.io/v1`).

Here are the rows of every kind that has columns of its own, but for pods (`pods`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables import workloads
from sandbox.serving.tables.column import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Column,
    Layout,
    age_of,
    columns,
    count_of,
    integers,
    name_of,
    since,
)
from sandbox.serving.tables.pods import PODS, row_conditions
from sandbox.serving.tables.workloads import pods_of

META = "meta.k8s.io/v1"
SHOWN_METRICS = 2
UNREAD = "<unknown>"


def _list_name_and_age(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), age_of(body, now)]


def _namespace(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), dig(body, "status", "phase") or "", age_of(body, now)]


def _config_map(body: JSON, now: datetime) -> list[Any]:
    entries = len(body.get("data") or {}) + len(body.get("binaryData") or {})
    return [name_of(body), entries, age_of(body, now)]


def _secret(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), body.get("type", ""), len(body.get("data") or {}), age_of(body, now)]


def _deployment(body: JSON, now: datetime) -> list[Any]:
    ready = f"{count_of(body, 'status', 'readyReplicas')}/{count_of(body, 'spec', 'replicas')}"
    numbers = [count_of(body, "status", f"{which}Replicas") for which in ("updated", "available")]
    return [name_of(body), ready, *numbers, age_of(body, now), *pods_of(body)]


def _replica_set(body: JSON, now: datetime) -> list[Any]:
    numbers = [count_of(body, "spec", "replicas"), count_of(body, "status", "replicas")]
    ready = count_of(body, "status", "readyReplicas")
    return [name_of(body), *numbers, ready, age_of(body, now), *pods_of(body)]


def _service(body: JSON, now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    ports = ",".join(_port(port) for port in spec.get("ports") or []) or NONE
    address = (spec.get("clusterIPs") or [spec.get("clusterIP")])[0] or NONE
    labels = ",".join(f"{key}={value}" for key, value in sorted(spec.get("selector", {}).items()))
    row = [name_of(body), spec.get("type", ""), address, _external(spec), ports]
    return [*row, age_of(body, now), labels or NONE]


def _port(port: JSON) -> str:
    number, protocol = port.get("port"), port.get("protocol", "TCP")
    node = port.get("nodePort")
    return f"{number}:{node}/{protocol}" if node else f"{number}/{protocol}"


def _external(spec: JSON) -> str:
    """Return how a Service is reached from outside; no load balancer ever gives an address."""
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    given = ",".join(spec.get("externalIPs") or [])
    return given or ("<pending>" if spec.get("type") == "LoadBalancer" else NONE)


def _event(body: JSON, now: datetime) -> list[Any]:
    first = since(body.get("firstTimestamp") or body.get("eventTime"), now)
    last = since(body["lastTimestamp"], now) if body.get("lastTimestamp") else first
    times = int(body.get("count") or 0) or 1
    kind = str(dig(body, "involvedObject", "kind") or "").lower()
    what = [body.get("type", ""), body.get("reason", "")]
    what.append(f"{kind}/{dig(body, 'involvedObject', 'name')}")
    component = dig(body, "source", "component") or body.get("reportingComponent") or ""
    host = dig(body, "source", "host") or body.get("reportingInstance") or ""
    where = dig(body, "involvedObject", "fieldPath") or ""
    source = f"{component}, {host}" if host else str(component)
    message = str(body.get("message", "")).strip()
    return [last, *what, where, source, message, first, times, name_of(body)]


def _autoscaler(body: JSON, now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    target = f"{dig(spec, 'scaleTargetRef', 'kind')}/{dig(spec, 'scaleTargetRef', 'name')}"
    metrics = [_metric(each) for each in spec.get("metrics") or []]
    shown = ", ".join(metrics[:SHOWN_METRICS]) or NONE
    more = len(metrics) - SHOWN_METRICS
    limits = [str(spec.get("minReplicas", UNSET)), count_of(spec, "maxReplicas")]
    replicas = count_of(body, "status", "currentReplicas")
    metrics_text = f"{shown} + {more} more..." if more > 0 else shown
    return [name_of(body), target, metrics_text, *limits, replicas, age_of(body, now)]


def _metric(spec: JSON) -> str:
    """Return a metric, which nobody reads here, and its target."""
    kind = str(spec.get("type", ""))
    field = f"{kind[:1].lower()}{kind[1:]}"
    target: JSON = dig(spec, field, "target") or {}
    used = target.get("averageUtilization")
    wanted = target.get("averageValue", target.get("value")) if used is None else f"{used}%"
    name = f"{dig(spec, field, 'name')}: " if kind in ("Resource", "ContainerResource") else ""
    return f"{name}{UNREAD}/{wanted}"


_PODS = columns(wide=("Containers", "Images", "Selector"))
_SERVICE = ("Type", "Cluster-IP", "External-IP", "Port(s)", "Age")
_EVENT = (
    *columns("Last Seen", "Type", "Reason", "Object", wide=("Subobject", "Source")),
    *columns("Message", wide=("First Seen", "Count")),
    Column("Name", priority=1, format="name"),
)
_AUTOSCALER = ("Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age")

ROWS: Mapping[str, Layout] = {
    "deployments.apps": Layout(
        (NAME, *columns("Ready", "Up-to-date", "Available", "Age"), *_PODS), _deployment
    ),
    "replicasets.apps": Layout(
        (NAME, *integers("Desired", "Current", "Ready"), AGE, *_PODS), _replica_set
    ),
    "namespaces": Layout((NAME, *columns("Status", "Age")), _namespace),
    "configmaps": Layout((NAME, *columns("Data", "Age")), _config_map),
    "secrets": Layout((NAME, *columns("Type", "Data", "Age")), _secret),
    "services": Layout((NAME, *columns(*_SERVICE, wide=("Selector",))), _service),
    "events": Layout(_EVENT, _event),
    "horizontalpodautoscalers.autoscaling": Layout((NAME, *columns(*_AUTOSCALER)), _autoscaler),
}

BY_NAME = Layout((NAME, AGE), _list_name_and_age)
"""For a kind that has no columns of its own here, whatever a real server shows of it."""

LAYOUTS: Mapping[str, Layout] = {"pods": PODS, **ROWS, **workloads.ROWS}
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
