"""apps/v1 StatefulSet: its JSON, and the core's value of it."""

from __future__ import annotations

from typing import Final

from msgspec import Raw
from msgspec.json import Decoder

from gate.core.kinds.stateful_set import objects as core
from gate.core.model.objects import Ref
from gate.wire import build, shapes
from gate.wire.kinds.controller_revision import CONTROLLER_REVISION, HASH_LABEL
from gate.wire.kinds.kind import RecordedFields, WatchedKind, WorkloadFormat
from gate.wire.untrusted import clean_line

_DEFAULT_UNAVAILABLE: Final = "1"
_DEFAULT_GRACE_SECONDS: Final = 30
_ON_DELETE: Final = "OnDelete"
_PARALLEL: Final = "Parallel"
_DELETE: Final = "Delete"


class RollingUpdate(shapes.Shape):
    """RollingUpdateStatefulSetStrategy; `maxUnavailable` is an IntOrString."""

    partition: int | None = None
    max_unavailable: int | str | None = None


class Strategy(shapes.Shape):
    """StatefulSetUpdateStrategy."""

    type: str | None = None
    rolling_update: RollingUpdate | None = None


class Ordinals(shapes.Shape):
    """StatefulSetOrdinals."""

    start: int | None = None


class Retention(shapes.Shape):
    """StatefulSetPersistentVolumeClaimRetentionPolicy."""

    when_scaled: str | None = None


class ClaimMeta(shapes.Shape):
    """ObjectMeta, of a template of claims."""

    name: str | None = None


class Claim(shapes.Shape):
    """An entry of `volumeClaimTemplates`."""

    metadata: ClaimMeta | None = None


class Spec(shapes.Shape):
    """The template stays bytes: it rarely changes and is costly to read."""

    template: Raw = Raw()
    replicas: int | None = None
    min_ready_seconds: int | None = None
    pod_management_policy: str | None = None
    update_strategy: Strategy | None = None
    ordinals: Ordinals | None = None
    volume_claim_templates: list[Claim] | None = None
    persistent_volume_claim_retention_policy: Retention | None = None


class Status(shapes.Shape):
    """Counters that are 0 are left out by the server."""

    observed_generation: int | None = None
    replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    updated_replicas: int | None = None
    current_revision: str | None = None
    update_revision: str | None = None
    conditions: list[shapes.Condition] | None = None


class StatefulSet(shapes.Shape, tag_field="kind", tag="StatefulSet"):
    """apps/v1 StatefulSet; that of a bookmark may lack its spec."""

    metadata: shapes.Meta
    spec: Spec | None = None
    status: Status | None = None


class _GraceSpec(shapes.Shape):
    termination_grace_period_seconds: int | None = None


class _Template(shapes.Shape):
    spec: _GraceSpec | None = None


_TEMPLATE: Final = Decoder(_Template)


def build_stateful_set(found: StatefulSet) -> core.StatefulSet:
    """Build an apps/v1 StatefulSet."""
    meta, spec = found.metadata, found.spec or Spec()
    status = found.status or Status()
    strategy = spec.update_strategy or Strategy()
    rolling = strategy.rolling_update or RollingUpdate()
    unavailable = rolling.max_unavailable
    names = [(one.metadata or ClaimMeta()).name for one in spec.volume_claim_templates or ()]
    retention = spec.persistent_volume_claim_retention_policy or Retention()
    template = bytes(spec.template)
    return core.StatefulSet(
        ref=Ref(
            core.API_VERSION, core.STATEFUL_SET, build.line(meta.namespace), build.line(meta.name)
        ),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        generation=meta.generation or 0,
        revision=None,
        deleting=meta.deletion_timestamp is not None,
        paused=False,
        replicas=core.DEFAULT_REPLICAS if spec.replicas is None else spec.replicas,
        min_ready_seconds=spec.min_ready_seconds or 0,
        is_parallel=spec.pod_management_policy == _PARALLEL,
        on_delete=strategy.type == _ON_DELETE,
        partition=rolling.partition or 0,
        max_unavailable=_DEFAULT_UNAVAILABLE
        if unavailable is None
        else clean_line(str(unavailable)),
        first_ordinal=(spec.ordinals or Ordinals()).start or 0,
        grace_seconds=_grace_seconds(template),
        claims=tuple(map(build.line, names)),
        deletes_scaled_claims=retention.when_scaled == _DELETE,
        template=build.template(template, HASH_LABEL),
        observed_generation=status.observed_generation or 0,
        status_replicas=status.replicas or 0,
        ready_replicas=status.ready_replicas or 0,
        available_replicas=status.available_replicas or 0,
        updated_replicas=status.updated_replicas or 0,
        current_revision=build.line(status.current_revision),
        update_revision=build.line(status.update_revision),
        conditions=build.conditions(status.conditions),
    )


def _grace_seconds(template: bytes) -> int:
    found = _TEMPLATE.decode(template).spec if template else None
    seconds = found.termination_grace_period_seconds if found is not None else None
    return _DEFAULT_GRACE_SECONDS if seconds is None else seconds


WORKLOAD: Final = WorkloadFormat(
    WatchedKind(
        core.STATEFUL_SET,
        "apps/v1",
        StatefulSet,
        core.StatefulSet,
        build_stateful_set,
        RecordedFields(
            entered=frozenset(
                {
                    *("updateStrategy", "rollingUpdate", "ordinals", "volumeClaimTemplates"),
                    "persistentVolumeClaimRetentionPolicy",
                }
            ),
            kept=frozenset(
                {
                    *("maxUnavailable", "podManagementPolicy", "serviceName", "whenScaled"),
                    *("whenDeleted", "currentRevision", "updateRevision"),
                }
            ),
        ),
    ),
    children=(CONTROLLER_REVISION,),
)
