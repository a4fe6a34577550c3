"""The Job as a kind of workload.

It succeeds by the condition `Complete` alone, and fails as soon as its controller has decided that
(`FailureTarget`). Its revision is itself, and it has no way back: what it did stays.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import ClassVar, Final

from gate.core.checks.query_variables import WorkloadVariables
from gate.core.frozen import dataclass
from gate.core.kinds.job import descriptions
from gate.core.kinds.job.faults import faults
from gate.core.kinds.job.objects import API_VERSION, JOB, SUSPEND_FIELD, Job
from gate.core.kinds.job.reasons import JobReason
from gate.core.model.fact import Absent
from gate.core.model.objects import Condition, Pod, Revision
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.controller_faults import Fault
from gate.core.rollout.observations import Kind
from gate.core.rollout.policy import FailFast, Policy
from gate.core.rollout.workload_kind import (
    CURRENT,
    BlockingPod,
    LastWords,
    PodCounts,
    ProgressMarks,
    Remark,
    StatusCounts,
    View,
)

SHORTEST_TOTAL_SECONDS = 900.0
AFTER_DEADLINE_SECONDS = 60.0
"""How much longer than its own deadline a Job may take: its pods end with a grace."""
UNSTARTED: Final = "the controller has not started the Job"


@dataclass(frozen=True, slots=True)
class JobKind:
    """What `WorkloadKind` asks, for Jobs; the key of its pods is its uid."""

    api_version: ClassVar[str] = API_VERSION
    name: ClassVar[Kind] = JOB
    revision_kind: ClassVar[Kind] = JOB
    pods_show_progress: ClassVar[bool] = False
    looks_at_nodes: ClassVar[bool] = False
    has_way_back: ClassVar[bool] = False
    default_replicas: ClassVar[int | None] = None
    pause_field: ClassVar[str] = SUSPEND_FIELD
    pause_word: ClassVar[str] = "suspended"
    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    variables: ClassVar[WorkloadVariables | None] = None
    reasons: ClassVar[tuple[AnyReason, ...]] = tuple(JobReason)

    # -- its revisions and their pods --------------------------------------------------------------

    def own_revisions(self, live: Job, owned: tuple[Revision, ...]) -> tuple[Revision, ...]:
        """Return the Job itself."""
        return (live.as_revision(),)

    def find_current(self, live: Job, revisions: Iterable[Revision]) -> str:
        """Return its own uid."""
        return live.uid

    def current_key(self, live: Job, current: Revision | None) -> str:
        """Return its own uid."""
        return live.uid

    def key_of_revision(self, revision: Revision) -> str:
        """Return the Job's uid, which its pods name as their owner."""
        return revision.uid

    def key_of_pod(self, pod: Pod) -> str:
        """Return the uid of a pod's Job."""
        return pod.owner_uid

    def place_of_pod(self, pod: Pod) -> str:
        """Return "": any pod may replace any other."""
        return ""

    def count_pods(self, view: View[Revision], revision: Revision) -> PodCounts:
        """Count the pods that run now."""
        pods = [track.pod for track in view.pods.values() if track.pod.owner_uid == revision.uid]
        there = [pod for pod in pods if pod.phase not in ("Succeeded", "Failed")]
        ready = sum(pod.ready for pod in there)
        return PodCounts(len(there), len(there), ready, ready)

    def status_counts(self, live: Job) -> StatusCounts:
        """Return the counters of its status: what has succeeded counts as available."""
        total = live.active + live.succeeded
        return StatusCounts(total, total, live.ready_pods, live.succeeded)

    def find_serving(self, view: View[Revision], live: Job) -> Absent:
        """Return nothing: nothing returns to a Job."""
        return Absent()

    def falls_short(self, live: Job) -> bool:
        """Return False: it has no strategy."""
        return False

    # -- when it is done ---------------------------------------------------------------------------

    def completion(self, view: View[Revision], live: Job, policy: Policy) -> Reason | None:
        """Return `Complete` for its condition, and for nothing else.

        `SuccessCriteriaMet` comes before it while pods still terminate, and `succeeded` counts pods
        of a Job that may yet fail. One that no pod was to complete has run none: `Vacuous`.
        """
        if live.complete is None:
            return None
        return Reason.COMPLETE if live.wanted or live.succeeded else Reason.VACUOUS

    def is_rolled_out(self, view: View[Revision], live: Job) -> bool:
        """Tell whether it is complete: nothing resumes one that is."""
        return live.complete is not None

    def has_ended(self, live: Job) -> bool:
        """Tell whether it is over: `ttlSecondsAfterFinished` deletes it then, and says nothing."""
        return live.is_over

    def failure(self, live: Job) -> str:
        """Say why it has failed, "" if it has not."""
        found = live.failure
        return "" if found is None else descriptions.describe_condition(found)

    def count_kept(self, before: Job, live: Job) -> int:
        """Return 0: only a deletion or a suspension of the Job takes its pods away."""
        return 0

    def is_stopping(self, live: Job) -> bool:
        """Tell whether it has failed, and pods of it still terminate."""
        return live.failure is not None and not live.is_over

    def describe_counts(self, view: View[Revision], live: Job, which: str = CURRENT) -> str:
        """Describe how far it is in one line."""
        return descriptions.describe_counts(live)

    def describe_lag(self, view: View[Revision], live: Job) -> str:
        """Say that it has succeeded, and only the condition is not there yet, "" otherwise."""
        done = live.complete is None and live.succeeded >= live.wanted and not live.active
        return ", not yet Complete by its conditions" if done else ""

    def remarks(self, view: View[Revision], live: Job) -> tuple[Remark, ...]:
        """Return nothing: its verdict says it all."""
        return ()

    # -- what blocks it ----------------------------------------------------------------------------

    def fail_fast(self, limits: FailFast) -> FailFast:
        """Return the limits without crashes: `backoffLimit` says how often its pods may fail."""
        return replace(limits, crash_restarts=None, readiness_losses=None)

    def faults(self, view: View[Revision], live: Job, limits: FailFast) -> tuple[Fault, ...]:
        """Return that it has failed, or what keeps it from its end."""
        return tuple(faults(view, live, limits))

    def last_words(self, view: View[Revision], live: Job) -> LastWords | None:
        """Return whose log explains its failure."""
        return descriptions.last_words(view, live)

    def find_blocking_pod(
        self, view: View[Revision], live: Job, limits: FailFast
    ) -> BlockingPod | None:
        """Return None: it has pods of one template alone."""
        return None

    def find_left_pods(self, view: View[Revision], live: Job) -> tuple[BlockingPod, ...]:
        """Return nothing: it has pods of one template alone."""
        return ()

    def is_evidence(self, view: View[Revision], pod: Pod) -> bool:
        """Tell that each pod counts: the scheduler chose its node."""
        return True

    def may_fail_fast(self, view: View[Revision], doomed: Collection[Pod], count: int) -> bool:
        """Tell whether any pod cannot recover: the others wait for it, or share its template."""
        return bool(doomed)

    def sign_of_idleness(self, view: View[Revision], live: Job, ready_pods: int) -> str:
        """Return that the controller has not started it, "" if it has."""
        return "" if live.started_at or live.paused or live.conditions else UNSTARTED

    def controller_counters(self, view: View[Revision], live: Job) -> tuple[int, ...]:
        """Return what the controller counts: a change shows that it acts."""
        return (live.active, live.ready_pods, live.succeeded, live.failed, live.terminating)

    def progress_marks(self, view: View[Revision], live: Job) -> ProgressMarks:
        """Return how far it is, by its status."""
        created = live.active + live.succeeded + live.failed
        return ProgressMarks(created, live.ready_pods, live.succeeded, 0)

    # -- its clocks --------------------------------------------------------------------------------

    def deadline_seconds(self, live: Job, policy: Policy) -> float:
        """Return infinity: its controller keeps its deadline, `activeDeadlineSeconds`."""
        return math.inf

    def exceeded_deadline(self, live: Job) -> Condition | None:
        """Return None: a deadline that has passed is a failure of the Job."""
        return None

    def busy_until(self, view: View[Revision], live: Job) -> float:
        """Return that nothing is: no clock of its progress runs."""
        return -math.inf

    def least_steps(self, live: Job, pods_before: int) -> int:
        """Return one, if it may run any pod: all that it lets run at once."""
        return min(1, live.replicas)

    def step_seconds(self, live: Job) -> float:
        """Return 0: how long its pods run is not in its spec."""
        return 0.0

    def without_rolling_update(self, live: Job) -> Job:
        """Return it as it is."""
        return live

    def longest_legal_seconds(self, live: Job, policy: Policy) -> float:
        """Return its own deadline with time to end, but at least 15 minutes."""
        own = live.active_deadline_seconds
        if own is None:
            return SHORTEST_TOTAL_SECONDS
        return max(SHORTEST_TOTAL_SECONDS, own + AFTER_DEADLINE_SECONDS)

    # -- its way back ------------------------------------------------------------------------------

    def lasting_effect(self, view: View[Revision], live: Job) -> str:
        """Return what it did, or does while it runs: nobody can undo that. "" before it ran."""
        if not descriptions.may_have_run(view, live):
            return ""
        return "what the Job did" if live.is_over else "what the Job does"
