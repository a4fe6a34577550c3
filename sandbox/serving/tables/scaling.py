"""The rows of autoscalers, whose metrics nobody reads here."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.column import (
    NAME,
    NONE,
    UNSET,
    Layout,
    age_of,
    columns,
    count,
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
    texts = [_metric(spec) for spec in specs]
    shown = ", ".join(texts[:SHOWN_METRICS]) or NONE
    more = len(texts) - SHOWN_METRICS
    return f"{shown} + {more} more..." if more > 0 else shown


def _metric(spec: JSON) -> str:
    kind = str(spec.get("type", ""))
    field = f"{kind[:1].lower()}{kind[1:]}"
    target: JSON = dig(spec, field, "target") or {}
    if kind in ("Resource", "ContainerResource"):
        return f"{dig(spec, field, 'name')}: {_resource(target)}"
    return f"{UNREAD}/{target.get('averageValue', target.get('value'))}"


def _resource(target: JSON) -> str:
    if "averageValue" in target:
        return f"{UNREAD}/{target['averageValue']}"
    wanted = target.get("averageUtilization")
    return f"{UNREAD}/{'<auto>' if wanted is None else f'{wanted}%'}"


_AUTOSCALER = ("Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age")

SCALING: dict[str, Layout] = {
    "horizontalpodautoscalers.autoscaling": Layout((NAME, *columns(*_AUTOSCALER)), _autoscaler),
}
