"""Jobs as values.

Field names follow the API (batch/v1); counters that the server omits are 0.
"""

from __future__ import annotations

from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText, Condition, Ref, Revision, Workload
from gate.core.model.remedy import Remedy
from gate.core.rollout.observations import Kind

API_VERSION: Final = "batch/v1"
JOB: Final = Kind("Job")
SUSPEND_FIELD: Final = "suspend"
"""The job controller creates no pod while it is true, and deletes those that run."""
PARKED: Final = "its parallelism is 0: no pod is created until somebody raises it"


def job_ref(namespace: str, name: str) -> Ref:
    """Name a Job."""
    return Ref(API_VERSION, JOB, namespace, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Workload):
    """A batch/v1 Job; `paused` is its `suspend`, `replicas` its `parallelism`.

    A Job's status has no `observedGeneration`: it counts as observed. `started_at` is its
    `startTime`, `ended_at` since when it is over, both RFC 3339, "" for not yet. `completions` is
    None if any pod's success is enough (a work queue). `active_deadline_seconds` is None without
    one. `ignores_failures` is whether its policy leaves failures of some pods uncounted.
    `has_time_to_live` is whether it has `ttlSecondsAfterFinished`, `has_generated_name` whether it
    has `metadata.generateName`, `may_be_replaced` whether an apply puts a new one in its place once
    it has failed (`run_annotations.REPLACE_FAILED`).
    """

    completions: int | None
    active_deadline_seconds: int | None
    created_at: str
    started_at: str
    active: int
    ready_pods: int
    succeeded: int
    failed: int
    terminating: int
    ignores_failures: bool = False
    has_time_to_live: bool = False
    has_generated_name: bool = False
    may_be_replaced: bool = False
    ended_at: str = ""

    @property
    def wanted(self) -> int:
        """How many pods have to succeed; at least one in a work queue."""
        return 1 if self.completions is None else self.completions

    @property
    def wanted_at_once(self) -> int:
        """How many pods are to run now (`manageJob`): fewer than `replicas` near its end.

        A work queue gets no more of them once one has succeeded.
        """
        if self.completions is None:
            return self.active if self.succeeded else self.replicas
        return min(self.replicas, self.completions - self.succeeded)

    @property
    def warnings(self) -> tuple[str, ...]:
        """That nothing of it is to run."""
        return (PARKED,) if self.is_parked else ()

    @property
    def is_parked(self) -> bool:
        """Whether it is to have no pod at a time, and so none at all (`parallelism` 0)."""
        return not (self.replicas or self.paused)

    @property
    def when_empty(self) -> str:
        """What is to be said of it where no pod was to succeed."""
        return "no completions were asked for, and no pod ran"

    @property
    def next_run(self) -> Remedy:
        """What it takes to run it again once it has failed."""
        if self.has_generated_name:
            return Remedy.RUN_AGAIN
        return Remedy.REPLACE if self.may_be_replaced else Remedy.RENAME

    @property
    def run_times(self) -> tuple[str, str]:
        """When its controller began it, and since when no pod of it runs."""
        return self.started_at, self.ended_at

    @property
    def goes_after_end(self) -> bool:
        """Whether the controller deletes it some time after its end."""
        return self.has_time_to_live

    @property
    def complete(self) -> Condition | None:
        """`Complete=True`: it has succeeded, and no pod of it runs any more."""
        return self._holding("Complete")

    @property
    def failure(self) -> Condition | None:
        """`FailureTarget=True` or `Failed=True`: it will not succeed any more.

        The job controller writes the first at once, the second when all pods have ended (from
        Kubernetes 1.31 on; earlier servers write `Failed` alone for most causes).
        """
        return self._holding("FailureTarget") or self._holding("Failed")

    @property
    def is_over(self) -> bool:
        """`Complete=True` or `Failed=True`: no pod of it runs or will be created."""
        return self.complete is not None or self._holding("Failed") is not None

    def _holding(self, condition_type: str) -> Condition | None:
        found = self.condition(condition_type)
        return found if found is not None and found.status == "True" else None

    def as_revision(self) -> Revision:
        """Return it as its own and only revision: its template cannot change."""
        return Revision(
            name=self.ref.name,
            namespace=self.ref.namespace,
            uid=self.uid,
            resource_version=self.resource_version,
            owner_uid=self.uid,
            revision=None,
            deleting=self.deleting,
            created_at=self.created_at,
            change_cause=CleanText(""),
            template=self.template,
            label_value=self.uid,
        )
