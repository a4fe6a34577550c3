"""The rows of autoscalers, disruption budgets and the scale subresource."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.column import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Column,
    Layout,
    age_of,
    columns,
    count,
    integers,
    name_of,
)

SHOWN_METRICS = 2
UNREAD = "<unknown>"


def _autoscaler(body: JSON, now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    target = f"{dig(spec, 'scaleTargetRef', 'kind')}/{dig(spec, 'scaleTargetRef', 'name')}"
    least = str(spec["minReplicas"]) if "minReplicas" in spec else UNSET
    limits = [least, count(spec, "maxReplicas"), count(body, "status", "currentReplicas")]
    return [name_of(body), target, _metrics(body), *limits, age_of(body, now)]


def _metrics(body: JSON) -> str:
    specs = dig(body, "spec", "metrics") or []
    now = dig(body, "status", "currentMetrics") or []
    current = [*now, *[None] * len(specs)]
    texts = [_metric(spec, current[position]) for position, spec in enumerate(specs)]
    shown = ", ".join(texts[:SHOWN_METRICS]) or NONE
    more = len(texts) - SHOWN_METRICS
    return f"{shown} + {more} more..." if more > 0 else shown


def _metric(spec: JSON, current: JSON | None) -> str:
    kind = str(spec.get("type", ""))
    field = f"{kind[:1].lower()}{kind[1:]}"
    target: JSON = dig(spec, field, "target") or {}
    read: JSON = dig(current, field, "current") or {}
    if kind in ("Resource", "ContainerResource"):
        return f"{dig(spec, field, 'name')}: {_resource(target, read)}"
    if kind not in ("Pods", "Object", "External"):
        return "<unknown type>"
    average = target.get("averageValue")
    if average is None:
        return f"{read.get('value', UNREAD)}/{target.get('value')}"
    suffix = "" if kind == "Pods" else " (avg)"
    return f"{read.get('averageValue', UNREAD)}/{average}{suffix}"


def _resource(target: JSON, read: JSON) -> str:
    if "averageValue" in target:
        return f"{read.get('averageValue', UNREAD)}/{target['averageValue']}"
    used, wanted = read.get("averageUtilization"), target.get("averageUtilization")
    seen = UNREAD if used is None else f"{used}%"
    return f"{seen}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _budget(body: JSON, now: datetime) -> list[Any]:
    bounds = [_print_bound(body, "minAvailable"), _print_bound(body, "maxUnavailable")]
    allowed = count(body, "status", "disruptionsAllowed")
    return [name_of(body), *bounds, allowed, age_of(body, now)]


def _print_bound(body: JSON, field: str) -> str:
    value = dig(body, "spec", field)
    return "N/A" if value is None else str(value)


def _scale(body: JSON, now: datetime) -> list[Any]:
    numbers = [count(body, "spec", "replicas"), count(body, "status", "replicas")]
    return [name_of(body), *numbers, age_of(body, now)]


_AUTOSCALER = ("Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age")
_BUDGET = (*columns("Min Available", "Max Unavailable"), *integers("Allowed Disruptions"))

SCALING: dict[str, Layout] = {
    "horizontalpodautoscalers.autoscaling": Layout((NAME, *columns(*_AUTOSCALER)), _autoscaler),
    "poddisruptionbudgets.policy": Layout((NAME, *_BUDGET, AGE), _budget),
}

SCALE = Layout((Column("Name"), *integers("Desired", "Available"), AGE), _scale)
"""The scale subresource, of whatever kind."""
