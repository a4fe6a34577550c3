"""The parts of the API's JSON that are read, as msgspec structs: the objects of apps/v1 and v1.

Names are those of the API. Unknown fields are skipped unread, managed fields among them, and
whatever the API may leave out or send as null may be None.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw, Struct


class _Shape(Struct, rename="camel", gc=False):
    pass


class Owner(_Shape):
    """An entry of `metadata.ownerReferences`."""

    uid: str | None = None
    controller: bool | None = None


_ANNOTATIONS: Final = {
    "revision": "deployment.kubernetes.io/revision",
    "revision_history": "deployment.kubernetes.io/revision-history",
    "change_cause": "kubernetes.io/change-cause",
}


class Annotations(Struct, rename=_ANNOTATIONS, gc=False):
    """The annotations that are read; the others may be long."""

    revision: str | None = None
    revision_history: str | None = None
    change_cause: str | None = None


class Labels(Struct, rename={"pod_template_hash": "pod-template-hash"}, gc=False):
    """The one label that is read, of ReplicaSets."""

    pod_template_hash: str | None = None


class Meta(_Shape):
    """ObjectMeta."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    annotations: Annotations | None = None
    labels: Labels | None = None
    owner_references: list[Owner] | None = None


class Condition(_Shape):
    """An entry of `status.conditions`, of any kind."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class RollingUpdate(_Shape):
    """IntOrString, both."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class Strategy(_Shape):
    """DeploymentStrategy."""

    type: str | None = None
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(_Shape):
    """The template stays bytes: it rarely changes and is costly to read."""

    template: Raw = Raw()
    replicas: int | None = None
    paused: bool | None = None
    min_ready_seconds: int | None = None
    progress_deadline_seconds: int | None = None
    strategy: Strategy | None = None


class DeploymentStatus(_Shape):
    """Counters that are 0 are left out by the server."""

    observed_generation: int | None = None
    replicas: int | None = None
    updated_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    terminating_replicas: int | None = None
    conditions: list[Condition] | None = None


class Deployment(_Shape, tag_field="kind", tag="Deployment"):
    """apps/v1 Deployment; that of a bookmark may lack its spec."""

    metadata: Meta
    spec: DeploymentSpec | None = None
    status: DeploymentStatus | None = None


class ReplicaSetSpec(_Shape):
    """As a Deployment's spec."""

    template: Raw = Raw()
    replicas: int | None = None
    min_ready_seconds: int | None = None


class ReplicaSet(_Shape, tag_field="kind", tag="ReplicaSet"):
    """apps/v1 ReplicaSet."""

    metadata: Meta
    spec: ReplicaSetSpec | None = None
    status: DeploymentStatus | None = None


class Waiting(_Shape):
    """ContainerStateWaiting."""

    reason: str | None = None
    message: str | None = None


class Terminated(_Shape):
    """ContainerStateTerminated."""

    reason: str | None = None
    exit_code: int | None = None
    message: str | None = None
    finished_at: str | None = None


class Running(_Shape):
    """ContainerStateRunning: its presence says all."""


class State(_Shape):
    """ContainerState: at most one of the three."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(_Shape):
    """ContainerStatus; `imageID` breaks the API's own rule for capitals."""

    name: str | None = None
    ready: bool | None = None
    restart_count: int | None = None
    state: State | None = None
    last_state: State | None = None
    imageID: str | None = None  # noqa: N815


class PodStatus(_Shape):
    """PodStatus."""

    phase: str | None = None
    reason: str | None = None
    start_time: str | None = None
    conditions: list[Condition] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    container_statuses: list[ContainerStatus] | None = None


class Pod(_Shape, tag_field="kind", tag="Pod"):
    """v1 Pod, without its spec: the template has it."""

    metadata: Meta
    status: PodStatus | None = None


class Involved(_Shape):
    """The object that an Event is about."""

    kind: str | None = None
    name: str | None = None
    uid: str | None = None


class Series(_Shape):
    """EventSeries: how often, of events written through events.k8s.io."""

    count: int | None = None
    last_observed_time: str | None = None


class Event(_Shape, tag_field="kind", tag="Event"):
    """v1 Event."""

    metadata: Meta
    involved_object: Involved | None = None
    type: str | None = None
    reason: str | None = None
    message: str | None = None
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: Series | None = None


Watched = Deployment | ReplicaSet | Pod | Event


class TemplateContainer(_Shape):
    """Container, of a pod template."""

    name: str | None = None
    image: str | None = None


class PodSpec(_Shape):
    """PodSpec, of a pod template."""

    init_containers: list[TemplateContainer] | None = None
    containers: list[TemplateContainer] | None = None


class TemplateMeta(_Shape):
    """ObjectMeta, of a pod template."""

    labels: dict[str, str] | None = None


class PodTemplate(_Shape):
    """PodTemplateSpec."""

    metadata: TemplateMeta | None = None
    spec: PodSpec | None = None


class NamedMeta(_Shape):
    """What an object of any kind has to have, and who manages its fields."""

    name: str
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    managed_fields: list[dict[str, Any]] | None = None


class AnyObject(_Shape):
    """An object of any kind."""

    api_version: str
    kind: str
    metadata: NamedMeta
