"""v1 Pod: its JSON, and the core's value of it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from gate.core.model import objects as core
from gate.core.rollout.observations import Kind
from gate.wire import build, shapes
from gate.wire.kinds.kind import RecordedFields, WatchedKind
from gate.wire.untrusted import clean


class Labels(Struct, rename={"revision": "controller-revision-hash"}, gc=False):
    """The one label that is read: which ControllerRevision a pod is of."""

    revision: str | None = None


class Meta(shapes.Meta):
    """ObjectMeta, with the label of the revision, and what a deletion waits for."""

    labels: Labels | None = None
    deletion_grace_period_seconds: float | None = None
    finalizers: list[str] | None = None


class Waiting(shapes.Shape):
    """ContainerStateWaiting."""

    reason: str | None = None
    message: str | None = None


class Terminated(shapes.Shape):
    """ContainerStateTerminated."""

    reason: str | None = None
    exit_code: int | None = None
    message: str | None = None
    finished_at: str | None = None


class Running(shapes.Shape):
    """ContainerStateRunning: its presence says all."""


class State(shapes.Shape):
    """ContainerState: at most one of the three."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


_NO_STATE: Final = State()
_NO_WAITING: Final = Waiting()


class ContainerStatus(shapes.Shape):
    """ContainerStatus; `imageID` breaks the API's own rule for capitals."""

    name: str | None = None
    ready: bool | None = None
    restart_count: int | None = None
    state: State | None = None
    last_state: State | None = None
    imageID: str | None = None  # noqa: N815


class PodStatus(shapes.Shape):
    """PodStatus."""

    phase: str | None = None
    reason: str | None = None
    start_time: str | None = None
    conditions: list[shapes.Condition] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    container_statuses: list[ContainerStatus] | None = None


class NodeField(shapes.Shape):
    """NodeSelectorRequirement."""

    key: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class NodeTerm(shapes.Shape):
    """NodeSelectorTerm; of its fields there is one, `metadata.name`."""

    match_fields: list[NodeField] | None = None


class NodeTerms(shapes.Shape):
    """NodeSelector."""

    node_selector_terms: list[NodeTerm] | None = None


class NodeAffinity(shapes.Shape):
    """NodeAffinity."""

    required_during_scheduling_ignored_during_execution: NodeTerms | None = None


class Affinity(shapes.Shape):
    """Affinity."""

    node_affinity: NodeAffinity | None = None


class PodSpec(shapes.Shape):
    """Where a pod runs or is to run; the template has the rest of its spec."""

    node_name: str | None = None
    affinity: Affinity | None = None


class Pod(shapes.Shape, tag_field="kind", tag="Pod"):
    """v1 Pod."""

    metadata: Meta
    spec: PodSpec | None = None
    status: PodStatus | None = None


def build_pod(found: Pod) -> core.Pod:
    """Build a v1 Pod."""
    meta, status = found.metadata, found.status or PodStatus()
    conditions = {condition.type: condition for condition in status.conditions or ()}
    said = conditions.get("Ready")
    ready = said is not None and said.status == "True"
    inits = [_container(each, init=True) for each in status.init_container_statuses or ()]
    mains = [_container(each, init=False) for each in status.container_statuses or ()]
    return core.Pod(
        name=build.line(meta.name),
        namespace=build.line(meta.namespace),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        owner_uid=build.owner_uid(meta),
        deleting=meta.deletion_timestamp is not None,
        phase=build.line(status.phase),
        reason=build.line(status.reason),
        ready=ready,
        unschedulable=_unschedulable(conditions.get("PodScheduled")),
        containers=(*inits, *mains),
        node_silent=_is_node_silent(said, conditions.get("ContainersReady")),
        start_seconds=_start_seconds(status, said) if ready else None,
        deletion=_deletion(meta),
        revision_label=build.line(meta.labels.revision) if meta.labels is not None else "",
        node=build.line(_node_of(found.spec) if found.spec is not None else ""),
        created_at=build.line(meta.creation_timestamp),
    )


def _deletion(meta: Meta) -> core.PodDeletion | None:
    if meta.deletion_timestamp is None:
        return None
    finalizers = tuple(build.line(one) for one in meta.finalizers or ())
    return core.PodDeletion(meta.deletion_grace_period_seconds or 0.0, finalizers)


def _node_of(spec: PodSpec) -> str:
    """Return the node of a pod, placed or not: the DaemonSet controller names the one it is for.

    It does so in each term (`ReplaceDaemonSetPodNodeNameNodeAffinity`), so that the first suffices.
    """
    if spec.node_name or spec.affinity is None or spec.affinity.node_affinity is None:
        return spec.node_name or ""
    required = spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    terms = (required.node_selector_terms if required is not None else None) or ()
    fields = (term.match_fields or () for term in terms[:1])
    named = [one for each in fields for one in each if one.key == "metadata.name"]
    names = [one.values or [] for one in named if one.operator == "In"]
    return names[0][0] if len(names) == 1 and len(names[0]) == 1 else ""


def _unschedulable(scheduled: shapes.Condition | None) -> core.CleanText:
    """Return why a pod cannot be scheduled, "" if it can."""
    if scheduled is None or scheduled.status != "False":
        return core.CleanText("")
    return build.line(scheduled.message or scheduled.reason or "Unschedulable")


def _start_seconds(status: PodStatus, ready: shapes.Condition | None) -> float | None:
    """Return the seconds from a pod's start to its readiness, None if they are unknown.

    The kubelet writes both times, so that no two clocks are compared (`syncPod`,
    `updateLastTransitionTime`).

    """
    try:
        began_at = datetime.fromisoformat(status.start_time or "")
        ready_at = datetime.fromisoformat((ready.last_transition_time if ready else None) or "")
        seconds = (ready_at - began_at).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None


def _is_node_silent(ready: shapes.Condition | None, containers: shapes.Condition | None) -> bool:
    """Tell whether the node lifecycle controller made the pod not ready.

    It changes only `Ready`, and gives no reason: a kubelet would say `ContainersNotReady`, or
    `ReadinessGatesNotReady`.
    """
    if ready is None or containers is None:
        return False
    return ready.status == "False" and not ready.reason and containers.status == "True"


def _container(found: ContainerStatus, *, init: bool) -> core.ContainerStatus:
    state = found.state or _NO_STATE
    waiting = state.waiting or _NO_WAITING
    return core.ContainerStatus(
        name=build.line(found.name),
        init=init,
        ready=bool(found.ready),
        restarts=found.restart_count or 0,
        running=state.running is not None,
        waiting_reason=build.line(waiting.reason),
        waiting_message=build.line(waiting.message),
        terminated=_termination(state),
        last_terminated=_termination(found.last_state),
        image_id=build.line(found.imageID),
    )


def _termination(state: State | None) -> core.Termination | None:
    if state is None or state.terminated is None:
        return None
    ended = state.terminated
    return core.Termination(
        reason=build.line(ended.reason),
        exit_code=ended.exit_code or 0,
        message=clean(ended.message or ""),
        at=build.line(ended.finished_at),
    )


POD: Final = WatchedKind(
    Kind.POD,
    "v1",
    Pod,
    core.Pod,
    build_pod,
    RecordedFields(
        entered=frozenset(
            {
                "affinity",
                "finalizers",
                "nodeAffinity",
                "requiredDuringSchedulingIgnoredDuringExecution",
                "nodeSelectorTerms",
            }
        ),
        kept=frozenset({"nodeName", "finalizers"}),
        maps=frozenset({"matchFields"}),
    ),
)
