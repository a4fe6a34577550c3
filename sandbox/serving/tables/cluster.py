"""The rows of namespaces, nodes, configuration, quotas, leases and events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.age import UNKNOWN, since
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
    name_of,
)

_ROLE = "node-role.kubernetes.io/"
_OLD_ROLE = "kubernetes.io/role"
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _list_name_and_age(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), age_of(body, now)]


def _namespace(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), dig(body, "status", "phase") or "", age_of(body, now)]


def _node(body: JSON, now: datetime) -> list[Any]:
    info: JSON = dig(body, "status", "nodeInfo") or {}
    kernel, machine = info.get("kernelVersion"), info.get("architecture")
    system = [
        _address(body, "InternalIP"),
        _address(body, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        (f"{kernel} ({machine})" if machine else kernel) if kernel else UNKNOWN,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]
    version = info.get("kubeletVersion", "")
    return [name_of(body), _node_state(body), _roles(body), age_of(body, now), version, *system]


def _node_state(body: JSON) -> str:
    conditions = dig(body, "status", "conditions") or []
    ready = [each.get("status") == "True" for each in conditions if each.get("type") == "Ready"]
    state = ("Ready" if ready[0] else "NotReady") if ready else "Unknown"
    return f"{state},SchedulingDisabled" if dig(body, "spec", "unschedulable") else state


def _roles(body: JSON) -> str:
    labels: dict[str, str] = dig(body, "metadata", "labels") or {}
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    roles |= {value for key, value in labels.items() if key == _OLD_ROLE}
    return ",".join(sorted(roles - {""})) or NONE


def _address(body: JSON, kind: str) -> str:
    addresses = dig(body, "status", "addresses") or []
    return next((str(each["address"]) for each in addresses if each.get("type") == kind), NONE)


def _config_map(body: JSON, now: datetime) -> list[Any]:
    entries = len(body.get("data") or {}) + len(body.get("binaryData") or {})
    return [name_of(body), entries, age_of(body, now)]


def _secret(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), body.get("type", ""), len(body.get("data") or {}), age_of(body, now)]


def _claim(body: JSON, now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    bound = bool(spec.get("volumeName"))
    phase = dig(body, "status", "phase") or ""
    modes = [_MODES.get(mode, mode) for mode in dig(body, "status", "accessModes") or []]
    return [
        name_of(body),
        "Terminating" if dig(body, "metadata", "deletionTimestamp") else phase,
        spec.get("volumeName") or "",
        (dig(body, "status", "capacity", "storage") or "") if bound else "",
        ",".join(modes) if bound else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        age_of(body, now),
        spec.get("volumeMode") or UNSET,
    ]


def _quota(body: JSON, now: datetime) -> list[Any]:
    hard: dict[str, str] = dig(body, "status", "hard") or {}
    used: dict[str, str] = dig(body, "status", "used") or {}
    lines = [f"{name}: {used.get(name, '0')}/{limit}" for name, limit in sorted(hard.items())]
    limits = [line for line in lines if line.startswith("limits")]
    requests = [line for line in lines if line not in limits]
    return [name_of(body), ", ".join(requests), ", ".join(limits), age_of(body, now)]


def _lease(body: JSON, now: datetime) -> list[Any]:
    return [name_of(body), dig(body, "spec", "holderIdentity") or "", age_of(body, now)]


def _event(body: JSON, now: datetime) -> list[Any]:
    first = since(body.get("firstTimestamp") or body.get("eventTime"), now)
    last = since(body["lastTimestamp"], now) if body.get("lastTimestamp") else first
    times = int(body.get("count") or 0) or 1
    series = body.get("series")
    if series:
        last, times = since(series.get("lastObservedTime"), now), count(series, "count")
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


_NODE = ("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime")
_CLAIM = ("Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass")
_EVENT = (
    *columns("Last Seen", "Type", "Reason", "Object", wide=("Subobject", "Source")),
    *columns("Message", wide=("First Seen", "Count")),
    Column("Name", priority=1, format="name"),
)

CLUSTER = {
    "namespaces": Layout((NAME, *columns("Status", "Age")), _namespace),
    "nodes": Layout((NAME, *columns("Status", "Roles", "Age", "Version", wide=_NODE)), _node),
    "configmaps": Layout((NAME, *columns("Data", "Age")), _config_map),
    "secrets": Layout((NAME, *columns("Type", "Data", "Age")), _secret),
    "serviceaccounts": Layout((NAME, AGE), _list_name_and_age),
    "persistentvolumeclaims": Layout(
        (NAME, *columns(*_CLAIM, "Age", wide=("VolumeMode",))), _claim
    ),
    "resourcequotas": Layout((NAME, *columns("Request", "Limit", "Age")), _quota),
    "leases.coordination.k8s.io": Layout((NAME, *columns("Holder", "Age")), _lease),
    "events": Layout(_EVENT, _event),
}

BY_NAME = Layout((NAME, AGE), _list_name_and_age)
"""For a kind that has no columns of its own."""
