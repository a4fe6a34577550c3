"""batch/v1 Job: its JSON, and the core's value of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Raw, Struct

from gate.core.kinds.job import objects as job_objects
from gate.core.model.run_annotations import REPLACE_FAILED
from gate.wire import build, shapes
from gate.wire.kinds.kind import RecordedFields, WatchedKind, WorkloadFormat


class FailureRule(shapes.Shape):
    """PodFailurePolicyRule; what it applies to is not needed."""

    action: str | None = None


class FailurePolicy(shapes.Shape):
    """PodFailurePolicy."""

    rules: list[FailureRule] | None = None


class JobSpec(shapes.Shape):
    """The template stays bytes: it is costly to read."""

    template: Raw = Raw()
    parallelism: int | None = None
    completions: int | None = None
    active_deadline_seconds: int | None = None
    suspend: bool | None = None
    ttl_seconds_after_finished: int | None = None
    pod_failure_policy: FailurePolicy | None = None


class JobStatus(shapes.Shape):
    """Counters that are 0 are left out by the server."""

    start_time: str | None = None
    active: int | None = None
    ready: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    terminating: int | None = None
    conditions: list[shapes.Condition] | None = None


class Annotations(Struct, rename={"replace_failed": REPLACE_FAILED}, gc=False):
    """The one annotation that is read."""

    replace_failed: str | None = None


class Meta(shapes.Meta):
    """ObjectMeta, with how it runs again after a failure."""

    generate_name: str | None = None
    annotations: Annotations | None = None


class Job(shapes.Shape, tag_field="kind", tag="Job"):
    """batch/v1 Job; that of a bookmark may lack its spec."""

    metadata: Meta
    spec: JobSpec | None = None
    status: JobStatus | None = None


def build_job(found: Job) -> job_objects.Job:
    """Build a batch/v1 Job."""
    meta, spec = found.metadata, found.spec or JobSpec()
    status = found.status or JobStatus()
    generation = meta.generation or 0
    rules = (spec.pod_failure_policy or FailurePolicy()).rules or ()
    return job_objects.Job(
        ref=job_objects.job_ref(build.line(meta.namespace), build.line(meta.name)),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        generation=generation,
        observed_generation=generation,
        revision=None,
        deleting=meta.deletion_timestamp is not None,
        paused=bool(spec.suspend),
        replicas=1 if spec.parallelism is None else spec.parallelism,
        template=build.template(bytes(spec.template)),
        conditions=build.conditions(status.conditions),
        completions=spec.completions,
        active_deadline_seconds=spec.active_deadline_seconds,
        created_at=build.line(meta.creation_timestamp),
        started_at=build.line(status.start_time),
        active=status.active or 0,
        ready_pods=status.ready or 0,
        succeeded=status.succeeded or 0,
        failed=status.failed or 0,
        terminating=status.terminating or 0,
        ignores_failures=any(rule.action == "Ignore" for rule in rules),
        ended_at=build.line(next(_end_times(status), None)),
        has_generated_name=bool(meta.generate_name),
        may_be_replaced=(meta.annotations or Annotations()).replace_failed == "true",
        has_time_to_live=spec.ttl_seconds_after_finished is not None,
    )


def _end_times(status: JobStatus) -> Iterator[str | None]:
    """Yield since when it is over, by the condition that says so (`IsJobFinished`)."""
    for one in status.conditions or ():
        if one.type in ("Complete", "Failed") and one.status == "True":
            yield one.last_transition_time


WORKLOAD: Final = WorkloadFormat(
    WatchedKind(
        job_objects.JOB,
        "batch/v1",
        Job,
        job_objects.Job,
        build_job,
        RecordedFields(
            entered=frozenset({"podFailurePolicy", "rules", "onExitCodes", "successPolicy"}),
            kept=frozenset(
                {"completionMode", "podReplacementPolicy", "completionTime", "managedBy"}
            ),
            annotations=frozenset({REPLACE_FAILED}),
        ),
    )
)
