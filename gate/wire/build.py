"""Shapes to core values: what the API leaves out gets its default, and text is cleaned.

Templates, which rarely change and cost most, are decoded once and then looked up by their bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from msgspec.json import Decoder

from gate.core.model import objects as core
from gate.core.model.body import Body
from gate.wire import shapes
from gate.wire.untrusted import clean, clean_line

_CACHED_TEMPLATES: Final = 256
_DEFAULT_DEADLINE_SECONDS: Final = 600
_DEFAULT_STEP: Final = "25%"
_HASH_LABEL: Final = "pod-template-hash"
_LONGEST_NUMBER: Final = 20
_LONGEST_HISTORY: Final = 2000
"""Characters of a revision history; the controller writes no more."""
_CACHED_LINES: Final = 8192
_SHORT_CHARACTERS: Final = 253
"""Names of objects are no longer (Kubernetes: DNS subdomain names)."""

_TEMPLATE: Final = Decoder(shapes.PodTemplate)
_OBJECT: Final = Decoder(dict[str, Any])


def build_watched(found: shapes.Watched) -> core.Watched:
    """Build the value of any of the four kinds."""
    match found:
        case shapes.Pod():
            return pod(found)
        case shapes.ReplicaSet():
            return replica_set(found)
        case shapes.Deployment():
            return deployment(found)
        case shapes.Event():
            return event(found)


def deployment(found: shapes.Deployment) -> core.Deployment:
    """Build an apps/v1 Deployment."""
    meta, spec = found.metadata, found.spec or shapes.DeploymentSpec()
    status = found.status or shapes.DeploymentStatus()
    deadline = spec.progress_deadline_seconds
    recreate = spec.strategy is not None and spec.strategy.type == "Recreate"
    surge, unavailable = ("0", "0") if recreate else _steps(spec.strategy)
    return core.Deployment(
        ref=core.deployment_ref(_line(meta.namespace), _line(meta.name)),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        generation=meta.generation or 0,
        revision=_revision(meta),
        deleting=meta.deletion_timestamp is not None,
        paused=bool(spec.paused),
        replicas=1 if spec.replicas is None else spec.replicas,
        min_ready_seconds=spec.min_ready_seconds or 0,
        progress_deadline_seconds=_DEFAULT_DEADLINE_SECONDS if deadline is None else deadline,
        recreate=recreate,
        max_surge=surge,
        max_unavailable=unavailable,
        template=_template(bytes(spec.template)),
        observed_generation=status.observed_generation or 0,
        status_replicas=status.replicas or 0,
        updated_replicas=status.updated_replicas or 0,
        ready_replicas=status.ready_replicas or 0,
        available_replicas=status.available_replicas or 0,
        terminating_replicas=status.terminating_replicas,
        conditions=_conditions(status.conditions),
    )


def _steps(strategy: shapes.Strategy | None) -> tuple[str, str]:
    steps = (strategy or shapes.Strategy()).rolling_update or shapes.RollingUpdate()
    return _int_or_percent(steps.max_surge), _int_or_percent(steps.max_unavailable)


def _int_or_percent(value: int | str | None) -> str:
    return _DEFAULT_STEP if value is None else clean_line(str(value))


def replica_set(found: shapes.ReplicaSet) -> core.ReplicaSet:
    """Build an apps/v1 ReplicaSet."""
    meta, spec = found.metadata, found.spec or shapes.ReplicaSetSpec()
    status = found.status or shapes.DeploymentStatus()
    return core.ReplicaSet(
        name=_line(meta.name),
        namespace=_line(meta.namespace),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        owner_uid=_owner_uid(meta),
        revision=_revision(meta),
        deleting=meta.deletion_timestamp is not None,
        created_at=_line(meta.creation_timestamp),
        change_cause=_line((meta.annotations or shapes.Annotations()).change_cause),
        replicas=1 if spec.replicas is None else spec.replicas,
        template=_template(bytes(spec.template)),
        observed_generation=status.observed_generation or 0,
        status_replicas=status.replicas or 0,
        ready_replicas=status.ready_replicas or 0,
        available_replicas=status.available_replicas or 0,
        conditions=_conditions(status.conditions),
        generation=meta.generation,
        min_ready_seconds=spec.min_ready_seconds or 0,
        label_value=_line((meta.labels or shapes.Labels()).pod_template_hash),
        earlier_revisions=_earlier_revisions(meta),
    )


def pod(found: shapes.Pod) -> core.Pod:
    """Build a v1 Pod."""
    meta, status = found.metadata, found.status or shapes.PodStatus()
    ready, unschedulable = _pod_conditions(status.conditions or ())
    node_silent = _is_node_silent(status.conditions or ())
    inits = [_container(each, init=True) for each in status.init_container_statuses or ()]
    mains = [_container(each, init=False) for each in status.container_statuses or ()]
    return core.Pod(
        name=_line(meta.name),
        namespace=_line(meta.namespace),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        owner_uid=_owner_uid(meta),
        deleting=meta.deletion_timestamp is not None,
        phase=_line(status.phase),
        reason=_line(status.reason),
        ready=ready,
        unschedulable=unschedulable,
        containers=(*inits, *mains),
        node_silent=node_silent,
        start_seconds=_start_seconds(status) if ready else None,
    )


def _pod_conditions(found: Iterable[shapes.Condition]) -> tuple[bool, core.CleanText]:
    """Return whether the pod is ready, and why it cannot be scheduled, "" if it can."""
    ready, unschedulable = False, core.CleanText("")
    for condition in found:
        if condition.type == "Ready":
            ready = condition.status == "True"
        elif condition.type == "PodScheduled" and condition.status == "False":
            unschedulable = _line(condition.message or condition.reason or "Unschedulable")
    return ready, unschedulable


def _start_seconds(status: shapes.PodStatus) -> float | None:
    """Return the seconds from a pod's start to its readiness, None if they are unknown.

    The kubelet writes both times, so that no two clocks are compared (`syncPod`,
    `updateLastTransitionTime`).

    """
    ready = next((one for one in status.conditions or () if one.type == "Ready"), None)
    try:
        began_at = datetime.fromisoformat(status.start_time or "")
        ready_at = datetime.fromisoformat((ready.last_transition_time if ready else None) or "")
        seconds = (ready_at - began_at).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None


def _is_node_silent(found: Iterable[shapes.Condition]) -> bool:
    """Tell whether the node lifecycle controller made the pod not ready.

    It changes only `Ready`, and gives no reason: a kubelet would say `ContainersNotReady`, or
    `ReadinessGatesNotReady`.
    """
    said = {condition.type: condition for condition in found}
    ready, containers = said.get("Ready"), said.get("ContainersReady")
    if ready is None or containers is None:
        return False
    return ready.status == "False" and not ready.reason and containers.status == "True"


def _container(found: shapes.ContainerStatus, *, init: bool) -> core.ContainerStatus:
    state = found.state or shapes.State()
    waiting = state.waiting or shapes.Waiting()
    return core.ContainerStatus(
        name=_line(found.name),
        init=init,
        ready=bool(found.ready),
        restarts=found.restart_count or 0,
        running=state.running is not None,
        waiting_reason=_line(waiting.reason),
        waiting_message=_line(waiting.message),
        terminated=_termination(state),
        last_terminated=_termination(found.last_state),
        image_id=_line(found.imageID),
    )


def _termination(state: shapes.State | None) -> core.Termination | None:
    if state is None or state.terminated is None:
        return None
    ended = state.terminated
    return core.Termination(
        reason=_line(ended.reason),
        exit_code=ended.exit_code or 0,
        message=clean(ended.message or ""),
        at=_line(ended.finished_at),
    )


def event(found: shapes.Event) -> core.ClusterEvent:
    """Build a v1 Event; those written through events.k8s.io count in a series."""
    about = found.involved_object or shapes.Involved()
    series = found.series or shapes.Series()
    last = series.last_observed_time or found.last_timestamp or found.event_time
    return core.ClusterEvent(
        uid=found.metadata.uid or "",
        resource_version=found.metadata.resource_version or "",
        about_kind=_line(about.kind),
        about_name=_line(about.name),
        about_uid=about.uid or "",
        type=_line(found.type),
        reason=_line(found.reason),
        message=_line(found.message),
        count=series.count or found.count or 1,
        at=_line(last or found.first_timestamp or found.metadata.creation_timestamp),
    )


def _conditions(found: list[shapes.Condition] | None) -> tuple[core.Condition, ...]:
    return tuple(
        core.Condition(_line(c.type), _line(c.status), _line(c.reason), _line(c.message))
        for c in found or ()
    )


def _owner_uid(meta: shapes.Meta) -> str:
    return next((o.uid or "" for o in meta.owner_references or () if o.controller), "")


def _revision(meta: shapes.Meta) -> int | None:
    return _number((meta.annotations or shapes.Annotations()).revision or "")


def _earlier_revisions(meta: shapes.Meta) -> tuple[int, ...]:
    text = (meta.annotations or shapes.Annotations()).revision_history or ""
    found = map(_number, text[:_LONGEST_HISTORY].split(","))
    return tuple(number for number in found if number is not None)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < _LONGEST_NUMBER else None


def _line(text: str | None) -> core.CleanText:
    if not text:
        return core.CleanText("")
    return _short_line(text) if len(text) <= _SHORT_CHARACTERS else clean_line(text)


@functools.lru_cache(maxsize=_CACHED_LINES)
def _short_line(text: str) -> core.CleanText:
    """Clean a name, a uid or an image, cached: the next change of the same object repeats it."""
    return clean_line(text)


@functools.lru_cache(maxsize=_CACHED_TEMPLATES)
def _template(raw: bytes) -> core.Template:
    if not raw:
        raise ValueError("no spec.template")
    template, value = _TEMPLATE.decode(raw), _OBJECT.decode(raw)
    if template.metadata and template.metadata.labels:
        value["metadata"]["labels"].pop(_HASH_LABEL, None)
    spec = template.spec or shapes.PodSpec()
    inits = [_build_container(each, init=True) for each in spec.init_containers or ()]
    mains = [_build_container(each, init=False) for each in spec.containers or ()]
    return core.Template(body=Body.of(value), containers=(*inits, *mains))


def _build_container(found: shapes.TemplateContainer, *, init: bool) -> core.Container:
    return core.Container(_line(found.name), _line(found.image), init)
