"""apps/v1 DaemonSet: its JSON, and the core's value of it."""

from __future__ import annotations

from typing import Final

from msgspec import Raw, Struct

from gate.core.kinds.daemon_set import objects as daemon_set_objects
from gate.wire import build, shapes
from gate.wire.kinds.controller_revision import CONTROLLER_REVISION
from gate.wire.kinds.kind import RecordedFields, WatchedKind, WorkloadFormat
from gate.wire.untrusted import clean_line

_DEFAULT_UNAVAILABLE: Final = 1
_DEFAULT_SURGE: Final = 0


class RollingUpdate(shapes.Shape):
    """IntOrString, both."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class UpdateStrategy(shapes.Shape):
    """DaemonSetUpdateStrategy."""

    type: str | None = None
    rolling_update: RollingUpdate | None = None


class DaemonSetSpec(shapes.Shape):
    """The template stays bytes: it rarely changes and is costly to read."""

    template: Raw = Raw()
    min_ready_seconds: int | None = None
    update_strategy: UpdateStrategy | None = None


class DaemonSetStatus(shapes.Shape):
    """Counters that are 0 may be left out by the server."""

    observed_generation: int | None = None
    desired_number_scheduled: int | None = None
    current_number_scheduled: int | None = None
    number_misscheduled: int | None = None
    updated_number_scheduled: int | None = None
    number_ready: int | None = None
    number_available: int | None = None
    conditions: list[shapes.Condition] | None = None


_NAMES: Final = {"template_generation": daemon_set_objects.TEMPLATE_GENERATION}


class Annotations(Struct, rename=_NAMES, gc=False):
    """The one annotation that is read; the server counts it up."""

    template_generation: str | None = None


class Meta(shapes.Meta):
    """ObjectMeta, with what the server writes into it."""

    annotations: Annotations | None = None


class DaemonSet(shapes.Shape, tag_field="kind", tag="DaemonSet"):
    """apps/v1 DaemonSet; that of a bookmark may lack its spec."""

    metadata: Meta
    spec: DaemonSetSpec | None = None
    status: DaemonSetStatus | None = None


def build_daemon_set(found: DaemonSet) -> daemon_set_objects.DaemonSet:
    """Build an apps/v1 DaemonSet; nothing pauses one."""
    meta, spec = found.metadata, found.spec or DaemonSetSpec()
    status = found.status or DaemonSetStatus()
    strategy = spec.update_strategy or UpdateStrategy()
    steps = strategy.rolling_update or RollingUpdate()
    ref = daemon_set_objects.daemon_set_ref(build.line(meta.namespace), build.line(meta.name))
    return daemon_set_objects.DaemonSet(
        ref=ref,
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        generation=meta.generation or 0,
        revision=None,
        deleting=meta.deletion_timestamp is not None,
        paused=False,
        replicas=status.desired_number_scheduled or 0,
        min_ready_seconds=spec.min_ready_seconds or 0,
        on_delete=strategy.type == "OnDelete",
        max_surge=_int_or_percent(steps.max_surge, _DEFAULT_SURGE),
        max_unavailable=_int_or_percent(steps.max_unavailable, _DEFAULT_UNAVAILABLE),
        template=build.template(bytes(spec.template)),
        observed_generation=status.observed_generation or 0,
        current=status.current_number_scheduled or 0,
        misscheduled=status.number_misscheduled or 0,
        updated=status.updated_number_scheduled or 0,
        ready=status.number_ready or 0,
        available=status.number_available or 0,
        conditions=build.conditions(status.conditions),
        template_generation=build.number((meta.annotations or Annotations()).template_generation),
    )


def _int_or_percent(value: int | str | None, default: int) -> str:
    return clean_line(str(default if value is None else value))


WORKLOAD: Final = WorkloadFormat(
    WatchedKind(
        daemon_set_objects.DAEMON_SET,
        daemon_set_objects.API_VERSION,
        DaemonSet,
        daemon_set_objects.DaemonSet,
        build_daemon_set,
        RecordedFields(
            entered=frozenset({"updateStrategy", "rollingUpdate"}),
            kept=frozenset({"maxSurge", "maxUnavailable"}),
            annotations=daemon_set_objects.BOOKKEEPING,
        ),
    ),
    children=(CONTROLLER_REVISION,),
)
