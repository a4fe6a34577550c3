"""The rows of what runs pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.age import between, since
from sandbox.serving.tables.column import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    UNSET,
    WORKLOAD,
    Column,
    Layout,
    age_of,
    columns,
    containers,
    count,
    integers,
    labels_text,
    name_of,
    selector_text,
)

JOB_LATER_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _deployment(body: JSON, now: datetime) -> list[Any]:
    ready = f"{count(body, 'status', 'readyReplicas')}/{count(body, 'spec', 'replicas')}"
    numbers = [count(body, "status", f"{which}Replicas") for which in ("updated", "available")]
    return [name_of(body), ready, *numbers, age_of(body, now), *_pods_of(body)]


def _replica_set(body: JSON, now: datetime) -> list[Any]:
    numbers = [count(body, "spec", "replicas"), count(body, "status", "replicas")]
    ready = count(body, "status", "readyReplicas")
    return [name_of(body), *numbers, ready, age_of(body, now), *_pods_of(body)]


def _stateful_set(body: JSON, now: datetime) -> list[Any]:
    ready = f"{count(body, 'status', 'readyReplicas')}/{count(body, 'spec', 'replicas')}"
    return [name_of(body), ready, age_of(body, now), *containers(dig(body, "spec", "template"))]


def _daemon_set(body: JSON, now: datetime) -> list[Any]:
    fields = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
    numbers = [count(body, "status", name) for name in fields]
    numbers += [
        count(body, "status", name) for name in ("updatedNumberScheduled", "numberAvailable")
    ]
    nodes = labels_text(dig(body, "spec", "template", "spec", "nodeSelector"))
    return [name_of(body), *numbers, nodes, age_of(body, now), *_pods_of(body)]


def _job(body: JSON, now: datetime) -> list[Any]:
    state = [_job_state(body), _completions(body), _job_duration(body, now)]
    return [name_of(body), *state, age_of(body, now), *_pods_of(body)]


def _cron_job(body: JSON, now: datetime) -> list[Any]:
    spec = body.get("spec") or {}
    last = dig(body, "status", "lastScheduleTime")
    suspended = str(spec["suspend"]) if "suspend" in spec else UNSET
    state = [spec.get("schedule", ""), spec.get("timeZone") or NONE, suspended]
    active = len(dig(body, "status", "active") or [])
    seen = since(last, now) if last else NONE
    inner: JSON = dig(spec, "jobTemplate") or {}
    return [name_of(body), *state, active, seen, age_of(body, now), *_pods_of(inner)]


def _pods_of(body: JSON) -> list[str]:
    selector = selector_text(dig(body, "spec", "selector"))
    return [*containers(dig(body, "spec", "template")), selector or NONE]


def _job_state(body: JSON) -> str:
    conditions = dig(body, "status", "conditions") or []
    true = {each["type"] for each in conditions if each.get("status") == "True"}
    for state in ("Complete", "Failed"):
        if state in true:
            return state
    if dig(body, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next((state for state in JOB_LATER_STATES if state in true), "Running")


def _completions(body: JSON) -> str:
    done, wanted = count(body, "status", "succeeded"), dig(body, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallel = count(body, "spec", "parallelism")
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _job_duration(body: JSON, now: datetime) -> str:
    started = dig(body, "status", "startTime")
    ended = dig(body, "status", "completionTime")
    return between(started, ended or now) if started else ""


_DAEMONS = integers("Desired", "Current", "Ready", "Up-to-date", "Available")
_CRON = (*columns("Schedule", "Timezone"), Column("Suspend", "boolean"), *integers("Active"))

WORKLOADS = {
    "deployments.apps": Layout(
        (NAME, *columns("Ready", "Up-to-date", "Available", "Age"), *WORKLOAD, SELECTOR),
        _deployment,
    ),
    "replicasets.apps": Layout(
        (NAME, *integers("Desired", "Current", "Ready"), AGE, *WORKLOAD, SELECTOR), _replica_set
    ),
    "statefulsets.apps": Layout((NAME, *columns("Ready", "Age"), *WORKLOAD), _stateful_set),
    "daemonsets.apps": Layout(
        (NAME, *_DAEMONS, *columns("Node Selector", "Age"), *WORKLOAD, SELECTOR), _daemon_set
    ),
    "jobs.batch": Layout(
        (NAME, *columns("Status", "Completions", "Duration", "Age"), *WORKLOAD, SELECTOR), _job
    ),
    "cronjobs.batch": Layout(
        (NAME, *_CRON, *columns("Last Schedule", "Age"), *WORKLOAD, SELECTOR), _cron_job
    ),
}
