"""apps/v1 Deployment and its ReplicaSets: their JSON, and the core's values of them."""

from __future__ import annotations

from typing import Final

from msgspec import Raw, Struct

from gate.core.kinds.deployment import objects as deployment_objects
from gate.wire import build, shapes
from gate.wire.kinds.kind import RecordedFields, WatchedKind, WorkloadFormat
from gate.wire.untrusted import clean_line

_DEFAULT_DEADLINE_SECONDS: Final = 600
_DEFAULT_STEP: Final = "25%"
_HASH_LABEL: Final = "pod-template-hash"
_LONGEST_HISTORY: Final = 2000
"""Characters of a revision history; the controller writes no more."""

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


class Labels(Struct, rename={"pod_template_hash": _HASH_LABEL}, gc=False):
    """The one label that is read, of ReplicaSets."""

    pod_template_hash: str | None = None


class Meta(shapes.Meta):
    """ObjectMeta, with what the deployment controller writes into it."""

    annotations: Annotations | None = None
    labels: Labels | None = None


class RollingUpdate(shapes.Shape):
    """IntOrString, both."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class Strategy(shapes.Shape):
    """DeploymentStrategy."""

    type: str | None = None
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(shapes.Shape):
    """The template stays bytes: it rarely changes and is costly to read."""

    template: Raw = Raw()
    replicas: int | None = None
    paused: bool | None = None
    min_ready_seconds: int | None = None
    progress_deadline_seconds: int | None = None
    strategy: Strategy | None = None


class DeploymentStatus(shapes.Shape):
    """Counters that are 0 are left out by the server."""

    observed_generation: int | None = None
    replicas: int | None = None
    updated_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    terminating_replicas: int | None = None
    conditions: list[shapes.Condition] | None = None


class Deployment(shapes.Shape, tag_field="kind", tag="Deployment"):
    """apps/v1 Deployment; that of a bookmark may lack its spec."""

    metadata: Meta
    spec: DeploymentSpec | None = None
    status: DeploymentStatus | None = None


class ReplicaSetSpec(shapes.Shape):
    """As a Deployment's spec."""

    template: Raw = Raw()
    replicas: int | None = None
    min_ready_seconds: int | None = None


class ReplicaSet(shapes.Shape, tag_field="kind", tag="ReplicaSet"):
    """apps/v1 ReplicaSet."""

    metadata: Meta
    spec: ReplicaSetSpec | None = None
    status: DeploymentStatus | None = None


def build_deployment(found: Deployment) -> deployment_objects.Deployment:
    """Build an apps/v1 Deployment."""
    meta, spec = found.metadata, found.spec or DeploymentSpec()
    status = found.status or DeploymentStatus()
    deadline = spec.progress_deadline_seconds
    recreate = spec.strategy is not None and spec.strategy.type == "Recreate"
    surge, unavailable = ("0", "0") if recreate else _steps(spec.strategy)
    return deployment_objects.Deployment(
        ref=deployment_objects.deployment_ref(build.line(meta.namespace), build.line(meta.name)),
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
        template=build.template(bytes(spec.template), _HASH_LABEL),
        observed_generation=status.observed_generation or 0,
        status_replicas=status.replicas or 0,
        updated_replicas=status.updated_replicas or 0,
        ready_replicas=status.ready_replicas or 0,
        available_replicas=status.available_replicas or 0,
        terminating_replicas=status.terminating_replicas,
        conditions=build.conditions(status.conditions),
    )


def _steps(strategy: Strategy | None) -> tuple[str, str]:
    steps = (strategy or Strategy()).rolling_update or RollingUpdate()
    return _int_or_percent(steps.max_surge), _int_or_percent(steps.max_unavailable)


def _int_or_percent(value: int | str | None) -> str:
    return _DEFAULT_STEP if value is None else clean_line(str(value))


def build_replica_set(found: ReplicaSet) -> deployment_objects.ReplicaSet:
    """Build an apps/v1 ReplicaSet."""
    meta, spec = found.metadata, found.spec or ReplicaSetSpec()
    status = found.status or DeploymentStatus()
    return deployment_objects.ReplicaSet(
        name=build.line(meta.name),
        namespace=build.line(meta.namespace),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        owner_uid=build.owner_uid(meta),
        revision=_revision(meta),
        deleting=meta.deletion_timestamp is not None,
        created_at=build.line(meta.creation_timestamp),
        change_cause=build.line((meta.annotations or Annotations()).change_cause),
        replicas=1 if spec.replicas is None else spec.replicas,
        template=build.template(bytes(spec.template), _HASH_LABEL),
        observed_generation=status.observed_generation or 0,
        status_replicas=status.replicas or 0,
        ready_replicas=status.ready_replicas or 0,
        available_replicas=status.available_replicas or 0,
        conditions=build.conditions(status.conditions),
        generation=meta.generation,
        min_ready_seconds=spec.min_ready_seconds or 0,
        label_value=build.line((meta.labels or Labels()).pod_template_hash),
        earlier_revisions=_earlier_revisions(meta),
    )


def _revision(meta: Meta) -> int | None:
    return build.number((meta.annotations or Annotations()).revision)


def _earlier_revisions(meta: Meta) -> tuple[int, ...]:
    text = (meta.annotations or Annotations()).revision_history or ""
    found = map(build.number, text[:_LONGEST_HISTORY].split(","))
    return tuple(number for number in found if number is not None)


REPLICA_SET: Final = WatchedKind(
    deployment_objects.REPLICA_SET,
    "apps/v1",
    ReplicaSet,
    deployment_objects.ReplicaSet,
    build_replica_set,
)
WORKLOAD: Final = WorkloadFormat(
    WatchedKind(
        deployment_objects.DEPLOYMENT,
        "apps/v1",
        Deployment,
        deployment_objects.Deployment,
        build_deployment,
        RecordedFields(
            entered=frozenset({"strategy", "rollingUpdate"}),
            kept=frozenset({"maxSurge", "maxUnavailable"}),
            annotations=frozenset(
                f"deployment.kubernetes.io/{name}"
                for name in ("revision", "revision-history", "desired-replicas", "max-replicas")
            ),
        ),
    ),
    children=(REPLICA_SET,),
    header_key="deployment",
)
