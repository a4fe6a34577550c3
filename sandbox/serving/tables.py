"""Tables: what `kubectl get` prints comes from the server, column by column (`meta.k8s.io/v1`).

A kind's columns are written as one text: `#` begins a whole number, `~` what `-o wide` adds. Its
cells are read in the same order, but for Name and Age, which every kind has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.failure import qualify_resource
from sandbox.json import JSON, dig
from sandbox.objects.conditions import conditions_of
from sandbox.objects.selectors import selector_text
from sandbox.serving.pod_rows import NONE, read_pod, row_conditions, since

META = "meta.k8s.io/v1"
SHOWN_METRICS = 2
UNKNOWN, UNSET = "<unknown>", "<unset>"
_JOB_CONDITIONS = (
    *("Complete", "Failed", "Terminating", "Suspended", "FailureTarget", "SuccessCriteriaMet"),
)
_DAEMON_COUNTERS = (
    *("desiredNumberScheduled", "currentNumberScheduled", "numberReady"),
    *("updatedNumberScheduled", "numberAvailable"),
)
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column; those of priority 1 are shown with `-o wide`."""

    name: str
    type: str
    priority: int

    @property
    def format(self) -> str:
        """What kind of string it holds."""
        return "name" if self.name == "Name" else ""

    def definition(self) -> JSON:
        """Return the entry of `columnDefinitions`."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class Layout:
    """How one kind is shown: its columns, and what reads their cells but for name and age."""

    columns: tuple[Column, ...]
    read: Callable[[JSON, datetime], Iterable[Any]]

    @classmethod
    def of(cls, text: str, read: Callable[[JSON, datetime], Iterable[Any]]) -> Layout:
        """Return the layout that a text describes."""
        return cls(
            tuple(
                Column(name.lstrip("#~"), "integer" if "#" in name else "string", int("~" in name))
                for name in text.split(",")
            ),
            read,
        )

    def cells(self, body: JSON, now: datetime) -> list[Any]:
        """Return the cells of an object."""
        name, age = name_of(body), since(dig(body, "metadata", "creationTimestamp"), now)
        fixed, others = {"Name": name, "Age": age}, iter(self.read(body, now))
        return [fixed[each.name] if each.name in fixed else next(others) for each in self.columns]


def name_of(body: JSON) -> str:
    """Return an object's name."""
    return str(dig(body, "metadata", "name") or "")


def _count(body: JSON, *path: str) -> int:
    return int(dig(body, *path) or 0)


def _pairs(labels: Mapping[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def _pods(body: JSON) -> list[str]:
    """Return the cells of the template's containers and images, and of the selector."""
    found: Sequence[JSON] = dig(body, "spec", "template", "spec", "containers") or []
    cells = [",".join(str(each.get(key, "")) for each in found) for key in ("name", "image")]
    return [*cells, selector_text(dig(body, "spec", "selector") or {}) or NONE]


def _ready(body: JSON) -> str:
    return f"{_count(body, 'status', 'readyReplicas')}/{_count(body, 'spec', 'replicas')}"


def _deployment(body: JSON, _now: datetime) -> list[Any]:
    numbers = [_count(body, "status", f"{which}Replicas") for which in ("updated", "available")]
    return [_ready(body), *numbers, *_pods(body)]


def _replica_set(body: JSON, _now: datetime) -> list[Any]:
    paths = (("spec", "replicas"), ("status", "replicas"), ("status", "readyReplicas"))
    return [*(_count(body, *path) for path in paths), *_pods(body)]


def _stateful_set(body: JSON, _now: datetime) -> list[Any]:
    return [_ready(body), *_pods(body)]


def _daemon_set(body: JSON, _now: datetime) -> list[Any]:
    numbers = [_count(body, "status", name) for name in _DAEMON_COUNTERS]
    labels = dig(body, "spec", "template", "spec", "nodeSelector")
    return [*numbers, _pairs(labels), *_pods(body)]


def _job(body: JSON, now: datetime) -> list[Any]:
    spec, status = body["spec"], body.get("status") or {}
    parallelism = spec.get("parallelism", 0)
    wanted = spec.get("completions", f"1 of {parallelism}" if parallelism > 1 else 1)
    found = {each["type"] for each in conditions_of(body) if each["status"] == "True"}
    if "deletionTimestamp" in body["metadata"]:
        found.add("Terminating")
    word = next((each for each in _JOB_CONDITIONS if each in found), "Running")
    began, ended = status.get("startTime"), status.get("completionTime")
    duration = since(began, datetime.fromisoformat(ended) if ended else now) if began else ""
    return [word, f"{_count(status, 'succeeded')}/{wanted}", duration, *_pods(body)]


def _revision(body: JSON, _now: datetime) -> list[Any]:
    owners = body["metadata"].get("ownerReferences") or ()
    shown = NONE
    for owner in [each for each in owners if each.get("controller")][:1]:
        group = owner["apiVersion"].rpartition("/")[0]
        shown = f"{qualify_resource(owner['kind'].lower(), group)}/{owner['name']}"
    return [shown, body.get("revision", 0)]


def _budget(body: JSON, _now: datetime) -> list[Any]:
    bounds = [str(dig(body, "spec", name) or "N/A") for name in ("minAvailable", "maxUnavailable")]
    return [*bounds, _count(body, "status", "disruptionsAllowed")]


def _node(body: JSON, _now: datetime) -> list[Any]:
    status = body.get("status") or {}
    ready = [each for each in conditions_of(body) if each["type"] == "Ready"]
    words = [("" if each["status"] == "True" else "Not") + "Ready" for each in ready] or ["Unknown"]
    words += ["SchedulingDisabled"] if dig(body, "spec", "unschedulable") else []
    info, addresses = status.get("nodeInfo") or {}, status.get("addresses") or ()
    known = {each["type"]: each["address"] for each in reversed(addresses)}
    places = [known.get(kind, NONE) for kind in ("InternalIP", "ExternalIP")]
    kernel = info.get("kernelVersion") or UNKNOWN
    kernel += f" ({info['architecture']})" if info.get("architecture") else ""
    system, runtime = info.get("osImage"), info.get("containerRuntimeVersion")
    row = [",".join(words), NONE, info.get("kubeletVersion", ""), *places]
    return [*row, system or UNKNOWN, kernel, runtime or UNKNOWN]


def _claim(body: JSON, _now: datetime) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    phase = "Terminating" if "deletionTimestamp" in body["metadata"] else status.get("phase", "")
    volume = spec.get("volumeName", "")
    modes = ",".join(_MODES[each] for each in _MODES if each in status.get("accessModes", ()))
    held = [str(dig(status, "capacity", "storage") or "0"), modes] if volume else ["", ""]
    row = [phase, volume, *held, spec.get("storageClassName", "")]
    return [*row, *(spec.get(f"volume{name}", UNSET) for name in ("AttributesClassName", "Mode"))]


def _config_map(body: JSON, _now: datetime) -> list[Any]:
    return [len(body.get("data") or {}) + len(body.get("binaryData") or {})]


def _service(body: JSON, _now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    ports = ",".join(_port(port) for port in spec.get("ports") or []) or NONE
    address = (spec.get("clusterIPs") or [spec.get("clusterIP")])[0] or NONE
    row = [spec.get("type", ""), address, _external(spec), ports]
    return [*row, _pairs(spec.get("selector"))]


def _port(port: JSON) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}"


def _external(spec: JSON) -> str:
    """Return how a Service is reached from outside; no load balancer ever gives an address."""
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    given = ",".join(spec.get("externalIPs") or [])
    return given or ("<pending>" if spec.get("type") == "LoadBalancer" else NONE)


def _event(body: JSON, now: datetime) -> list[Any]:
    first = since(body.get("firstTimestamp") or body.get("eventTime"), now)
    last = since(body["lastTimestamp"], now) if body.get("lastTimestamp") else first
    about: JSON = body.get("involvedObject") or {}
    what = f"{str(about.get('kind') or '').lower()}/{about.get('name')}"
    component = dig(body, "source", "component") or body.get("reportingComponent") or ""
    host = dig(body, "source", "host") or body.get("reportingInstance")
    source = f"{component}, {host}" if host else str(component)
    row = [last, body.get("type", ""), body.get("reason", ""), what, about.get("fieldPath") or ""]
    message = str(body.get("message", "")).strip()
    return [*row, source, message, first, int(body.get("count") or 0) or 1]


def _autoscaler(body: JSON, _now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    target = f"{dig(spec, 'scaleTargetRef', 'kind')}/{dig(spec, 'scaleTargetRef', 'name')}"
    metrics = [_metric(each) for each in spec.get("metrics") or []]
    shown = ", ".join(metrics[:SHOWN_METRICS]) or NONE
    more = len(metrics) - SHOWN_METRICS
    limits = [str(spec.get("minReplicas", UNSET)), _count(spec, "maxReplicas")]
    metrics_text = f"{shown} + {more} more..." if more > 0 else shown
    return [target, metrics_text, *limits, _count(body, "status", "currentReplicas")]


def _metric(spec: JSON) -> str:
    """Return a metric, which nobody reads here, and its target."""
    kind = str(spec.get("type", ""))
    field = f"{kind[:1].lower()}{kind[1:]}"
    target: JSON = dig(spec, field, "target") or {}
    used = target.get("averageUtilization")
    wanted = target.get("averageValue", target.get("value")) if used is None else f"{used}%"
    name = f"{dig(spec, field, 'name')}: " if kind in ("Resource", "ContainerResource") else ""
    return f"{name}{UNKNOWN}/{wanted}"


_PODS = "~Containers,~Images,~Selector"
_WIDE_OF_NODE = "~Internal-IP,~External-IP,~OS-Image,~Kernel-Version,~Container-Runtime"
_DAEMONS = "#Desired,#Current,#Ready,#Up-to-date,#Available,Node Selector"
_CLAIM = "Status,Volume,Capacity,Access Modes,StorageClass,VolumeAttributesClass"
_EVENT = "Type,Reason,Object,~Subobject,~Source,Message,~First Seen,~Count,~Name"
_WIDE_OF_POD = "~IP,~Node,~Nominated Node,~Readiness Gates"
LAYOUTS: Mapping[str, Layout] = {
    "pods": Layout.of(f"Name,Ready,Status,Restarts,Age,{_WIDE_OF_POD}", read_pod),
    "deployments.apps": Layout.of(f"Name,Ready,Up-to-date,Available,Age,{_PODS}", _deployment),
    "replicasets.apps": Layout.of(f"Name,#Desired,#Current,#Ready,Age,{_PODS}", _replica_set),
    "statefulsets.apps": Layout.of("Name,Ready,Age,~Containers,~Images", _stateful_set),
    "daemonsets.apps": Layout.of(f"Name,{_DAEMONS},Age,{_PODS}", _daemon_set),
    "jobs.batch": Layout.of(f"Name,Status,Completions,Duration,Age,{_PODS}", _job),
    "controllerrevisions.apps": Layout.of("Name,Controller,Revision,Age", _revision),
    "poddisruptionbudgets.policy": Layout.of(
        "Name,Min Available,Max Unavailable,#Allowed Disruptions,Age", _budget
    ),
    "nodes": Layout.of(f"Name,Status,Roles,Age,Version,{_WIDE_OF_NODE}", _node),
    "persistentvolumeclaims": Layout.of(f"Name,{_CLAIM},Age,~VolumeMode", _claim),
    "services": Layout.of("Name,Type,Cluster-IP,External-IP,Port(s),Age,~Selector", _service),
    "events": Layout.of(f"Last Seen,{_EVENT}", _event),
    "horizontalpodautoscalers.autoscaling": Layout.of(
        "Name,Reference,Targets,MinPods,MaxPods,Replicas,Age", _autoscaler
    ),
    "namespaces": Layout.of(
        "Name,Status,Age", lambda body, _: [dig(body, "status", "phase") or ""]
    ),
    "configmaps": Layout.of("Name,Data,Age", _config_map),
    "secrets": Layout.of(
        "Name,Type,Data,Age", lambda body, _: [body.get("type", ""), len(body.get("data") or {})]
    ),
}
"""By `kinds.Resource.key`."""

BY_NAME = Layout.of("Name,Age", lambda _body, _now: ())
"""For a kind that has no columns of its own here, whatever a real server shows of it."""


def table(key: str, objects: Iterable[JSON], metadata: JSON, now: datetime, includes: str) -> JSON:
    """Return the Table of objects that carry kind and apiVersion.

    `includes` is what stands behind each row (`includeObject`): Object, None, else its metadata.
    """
    layout = LAYOUTS.get(key, BY_NAME)
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
