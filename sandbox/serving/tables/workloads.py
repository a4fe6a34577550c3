"""Rows of StatefulSets, DaemonSets, Jobs, and of what their pods need: nodes, budgets, claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sandbox.failure import qualify_resource
from sandbox.json import JSON, dig
from sandbox.objects.selectors import selector_text
from sandbox.serving.tables.column import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    UNSET,
    Column,
    Layout,
    age_of,
    columns,
    count_of,
    human,
    integers,
    name_of,
    since,
)

_IN_TURN = ("Complete", "Failed", "Terminating", "Suspended", "FailureTarget", "SuccessCriteriaMet")
_COUNTERS = (
    "desiredNumberScheduled",
    "currentNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
)
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def containers_of(body: JSON) -> list[str]:
    """Return the cells of the template's containers and images."""
    found: Sequence[JSON] = dig(body, "spec", "template", "spec", "containers") or []
    return [",".join(str(each.get(key, "")) for each in found) for key in ("name", "image")]


def pods_of(body: JSON) -> list[str]:
    """Return the cells of containers, images and the selector."""
    return [*containers_of(body), selector_text(dig(body, "spec", "selector") or {}) or NONE]


def _stateful_set(body: JSON, now: datetime) -> list[Any]:
    ready = f"{count_of(body, 'status', 'readyReplicas')}/{count_of(body, 'spec', 'replicas')}"
    return [name_of(body), ready, age_of(body, now), *containers_of(body)]


def _daemon_set(body: JSON, now: datetime) -> list[Any]:
    numbers = [count_of(body, "status", name) for name in _COUNTERS]
    labels = dig(body, "spec", "template", "spec", "nodeSelector") or {}
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE
    return [name_of(body), *numbers, selector, age_of(body, now), *pods_of(body)]


def _job(body: JSON, now: datetime) -> list[Any]:
    spec, status = body["spec"], body.get("status") or {}
    done, parallelism = count_of(status, "succeeded"), spec.get("parallelism", 0)
    wanted = spec.get("completions", f"1 of {parallelism}" if parallelism > 1 else 1)
    found = {each["type"] for each in status.get("conditions") or () if each["status"] == "True"}
    if "deletionTimestamp" in body["metadata"]:
        found.add("Terminating")
    word = next((each for each in _IN_TURN if each in found), "Running")
    row = [name_of(body), word, f"{done}/{wanted}", _duration(status, now), age_of(body, now)]
    return [*row, *pods_of(body)]


def _duration(status: JSON, now: datetime) -> str:
    began, ended = status.get("startTime"), status.get("completionTime")
    if began is None or ended is None:
        return since(began, now) if began else ""
    seconds = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
    return human(seconds.total_seconds())


def _revision(body: JSON, now: datetime) -> list[Any]:
    owners = body["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    shown = NONE
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        shown = f"{qualify_resource(owner['kind'].lower(), group)}/{owner['name']}"
    return [name_of(body), shown, body.get("revision", 0), age_of(body, now)]


def _budget(body: JSON, now: datetime) -> list[Any]:
    bounds = [str(dig(body, "spec", name) or "N/A") for name in ("minAvailable", "maxUnavailable")]
    allowed = count_of(body, "status", "disruptionsAllowed")
    return [name_of(body), *bounds, allowed, age_of(body, now)]


def _node(body: JSON, now: datetime) -> list[Any]:
    status, spec = body.get("status") or {}, body.get("spec") or {}
    ready = [each for each in status.get("conditions") or () if each["type"] == "Ready"]
    words = [("" if each["status"] == "True" else "Not") + "Ready" for each in ready] or ["Unknown"]
    words += ["SchedulingDisabled"] if spec.get("unschedulable") else []
    info, addresses = status.get("nodeInfo") or {}, status.get("addresses") or ()
    places = [
        next((each["address"] for each in addresses if each["type"] == kind), NONE)
        for kind in ("InternalIP", "ExternalIP")
    ]
    kernel = info.get("kernelVersion") or UNKNOWN
    kernel += f" ({info['architecture']})" if info.get("architecture") else ""
    row = [name_of(body), ",".join(words), NONE, age_of(body, now), info.get("kubeletVersion", "")]
    system = info.get("osImage") or UNKNOWN
    return [*row, *places, system, kernel, info.get("containerRuntimeVersion") or UNKNOWN]


def _claim(body: JSON, now: datetime) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    phase = "Terminating" if "deletionTimestamp" in body["metadata"] else status.get("phase", "")
    volume = spec.get("volumeName", "")
    modes = ",".join(_MODES[each] for each in _MODES if each in status.get("accessModes", ()))
    held = [str(dig(status, "capacity", "storage") or "0"), modes] if volume else ["", ""]
    row = [name_of(body), phase, volume, *held, spec.get("storageClassName", "")]
    row.append(spec.get("volumeAttributesClassName", UNSET))
    return [*row, age_of(body, now), spec.get("volumeMode", UNSET)]


_WIDE = columns(wide=("Containers", "Images"))
_COUNTED = integers("Desired", "Current", "Ready", "Up-to-date", "Available")
_CLAIM = ("Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass")
_OF_NODE = ("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime")
_OF_JOB = ("Status", "Completions", "Duration", "Age")
_SELECTOR = Column("Selector", priority=1)

ROWS: Mapping[str, Layout] = {
    "statefulsets.apps": Layout((NAME, *columns("Ready", "Age"), *_WIDE), _stateful_set),
    "daemonsets.apps": Layout(
        (NAME, *_COUNTED, *columns("Node Selector", "Age"), *_WIDE, _SELECTOR), _daemon_set
    ),
    "jobs.batch": Layout((NAME, *columns(*_OF_JOB), *_WIDE, _SELECTOR), _job),
    "controllerrevisions.apps": Layout(
        (NAME, *columns("Controller", "Revision", "Age")), _revision
    ),
    "poddisruptionbudgets.policy": Layout(
        (
            NAME,
            *columns("Min Available", "Max Unavailable"),
            *integers("Allowed Disruptions"),
            AGE,
        ),
        _budget,
    ),
    "nodes": Layout((NAME, *columns("Status", "Roles", "Age", "Version", wide=_OF_NODE)), _node),
    "persistentvolumeclaims": Layout(
        (NAME, *columns(*_CLAIM, "Age", wide=("VolumeMode",))), _claim
    ),
}
