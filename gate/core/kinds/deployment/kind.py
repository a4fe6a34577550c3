"""The Deployment as a kind of workload."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar, Final

from gate.core.checks.query_variables import WorkloadVariables
from gate.core.frozen import dataclass
from gate.core.kinds.deployment import clocks, completion, faults, idleness, serving
from gate.core.kinds.deployment.objects import (
    API_VERSION,
    BOOKKEEPING,
    DEFAULT_REPLICAS,
    DEPLOYMENT,
    NO_DEADLINE_SECONDS,
    PAUSE_FIELD,
    REPLICA_SET,
    Deployment,
    ReplicaSet,
)
from gate.core.kinds.deployment.reasons import DeploymentReason
from gate.core.kinds.lasting import LastingKind
from gate.core.model.fact import Fact
from gate.core.model.objects import Condition, Pod, Revision
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.controller_faults import Fault
from gate.core.rollout.observations import Kind
from gate.core.rollout.policy import FailFast, Policy
from gate.core.rollout.workload_kind import (
    CURRENT,
    BlockingPod,
    PodCounts,
    ProgressMarks,
    Remark,
    StatusCounts,
    View,
)

VARIABLES: Final = WorkloadVariables("deployment", "replicaset", "pod_template_hash")


@dataclass(frozen=True, slots=True)
class DeploymentKind(LastingKind[Deployment, ReplicaSet]):
    """What `WorkloadKind` asks, for Deployments; a revision is a ReplicaSet, its key the uid."""

    api_version: ClassVar[str] = API_VERSION
    name: ClassVar[Kind] = DEPLOYMENT
    revision_kind: ClassVar[Kind] = REPLICA_SET
    pods_show_progress: ClassVar[bool] = False
    looks_at_nodes: ClassVar[bool] = False
    default_replicas: ClassVar[int] = DEFAULT_REPLICAS
    pause_field: ClassVar[str] = PAUSE_FIELD
    pause_word: ClassVar[str] = "paused"
    bookkeeping: ClassVar[frozenset[str]] = BOOKKEEPING
    variables: ClassVar[WorkloadVariables | None] = VARIABLES
    reasons: ClassVar[tuple[AnyReason, ...]] = tuple(DeploymentReason)

    # -- its revisions and their pods --------------------------------------------------------------

    def find_current(self, live: Deployment, revisions: Iterable[ReplicaSet]) -> str:
        """Return the uid of the ReplicaSet of the live template, "" if it was not seen.

        Found by owner and template, never by hash or revision: hashes collide and revisions are
        renumbered. Of several the oldest counts, as for the deployment controller
        (FindNewReplicaSet).
        """
        same = [one for one in revisions if one.template.body == live.template.body]
        return min(same, key=lambda one: (one.created_at, one.name)).uid if same else ""

    def current_key(self, live: Deployment, current: ReplicaSet | None) -> str:
        """Return the uid of the ReplicaSet that is rolled out, "" while there is none."""
        return "" if current is None else current.uid

    def key_of_revision(self, revision: ReplicaSet) -> str:
        """Return the uid that the pods of a ReplicaSet name as their owner."""
        return revision.uid

    def key_of_pod(self, pod: Pod) -> str:
        """Return the uid of a pod's ReplicaSet."""
        return pod.owner_uid

    def count_pods(self, view: View[ReplicaSet], revision: ReplicaSet) -> PodCounts:
        """Return the pods of a ReplicaSet as its own status counts them."""
        return PodCounts(
            revision.replicas,
            revision.status_replicas,
            revision.ready_replicas,
            revision.available_replicas,
        )

    def status_counts(self, live: Deployment) -> StatusCounts:
        """Return the counters of its status."""
        return StatusCounts(
            live.status_replicas,
            live.updated_replicas,
            live.ready_replicas,
            live.available_replicas,
        )

    def find_serving(self, view: View[ReplicaSet], live: Deployment) -> Fact[Revision]:
        """Return the current ReplicaSet if it serves, and no other does; Unknown if unclear."""
        return serving.find_serving(view, live)

    def falls_short(self, live: Deployment) -> bool:
        """Tell whether it is not `Available`: it was scaled up a moment before, or lost pods."""
        return not live.available

    # -- when it is done ---------------------------------------------------------------------------

    def completion(self, view: View[ReplicaSet], live: Deployment, policy: Policy) -> Reason | None:
        """Return why nothing is left to wait for, None if something is."""
        return completion.completion(view, live, policy)

    def is_rolled_out(self, view: View[ReplicaSet], live: Deployment) -> bool:
        """Tell whether no pod is left to replace or to add, however few of them a policy needs."""
        return completion.is_rolled_out(view, live)

    def describe_counts(
        self, view: View[ReplicaSet], live: Deployment, which: str = CURRENT
    ) -> str:
        """Describe the progress in one line whose numbers agree with each other."""
        return completion.describe_counts(view, live, which)

    def describe_lag(self, view: View[ReplicaSet], live: Deployment) -> str:
        """Say that only the Deployment's own counters are not there yet, "" otherwise."""
        return completion.describe_lag(view, live)

    def progress_marks(self, view: View[ReplicaSet], live: Deployment) -> ProgressMarks:
        """Return how far the rollout is, by the status of the ReplicaSets."""
        current = view.current()
        old = sum(one.replicas for one in view.list_owned() if one.uid != view.current_uid)
        if current is None:
            return ProgressMarks(0, 0, 0, old)
        return ProgressMarks(
            current.status_replicas, current.ready_replicas, current.available_replicas, old
        )

    def remarks(self, view: View[ReplicaSet], live: Deployment) -> tuple[Remark, ...]:
        """Return nothing: its verdict says it all."""
        return ()

    # -- what blocks it ----------------------------------------------------------------------------

    def faults(
        self, view: View[ReplicaSet], live: Deployment, limits: FailFast
    ) -> tuple[Fault, ...]:
        """Return what keeps the controllers from rolling out."""
        return faults.faults(view, live, limits)

    def find_blocking_pod(
        self, view: View[ReplicaSet], live: Deployment, limits: FailFast
    ) -> BlockingPod | None:
        """Return None: a new pod waits for no old one to become available."""
        return None

    def sign_of_idleness(self, view: View[ReplicaSet], live: Deployment, ready_pods: int) -> str:
        """Return what shows that controllers do not act, "" if nothing does."""
        return idleness.sign_of_idleness(view, live, ready_pods)

    def controller_counters(self, view: View[ReplicaSet], live: Deployment) -> tuple[int, ...]:
        """Return what controllers count: a change shows that they act."""
        return idleness.controller_counters(view, live)

    # -- its clocks --------------------------------------------------------------------------------

    def deadline_seconds(self, live: Deployment, policy: Policy) -> float:
        """Return its progress deadline, infinite if that is switched off."""
        seconds = live.progress_deadline_seconds
        return math.inf if seconds >= NO_DEADLINE_SECONDS else float(seconds)

    def exceeded_deadline(self, live: Deployment) -> Condition | None:
        """Return `Progressing=False` with reason `ProgressDeadlineExceeded`, None without it."""
        return live.condition("Progressing") if live.deadline_exceeded else None

    def busy_until(self, view: View[ReplicaSet], live: Deployment) -> float:
        """Return that nothing is: its controller's own deadline counts all of it."""
        return -math.inf

    def least_steps(self, live: Deployment, pods_before: int) -> int:
        """Count the steps that replace pods; where none run, all come at once."""
        return clocks.least_steps(live, pods_before)

    def step_seconds(self, live: Deployment) -> float:
        """Return its `minReadySeconds`."""
        return float(live.min_ready_seconds)

    def without_rolling_update(self, live: Deployment) -> Deployment:
        """Return it as the strategy `Recreate` has it."""
        return replace(live, recreate=True, max_surge="0", max_unavailable="0")

    def longest_legal_seconds(self, live: Deployment, policy: Policy) -> float:
        """Return how long the rollout can legally take."""
        return clocks.longest_legal_seconds(live)

    # -- its way back ------------------------------------------------------------------------------

    def lasting_effect(self, view: View[ReplicaSet], live: Deployment) -> str:
        """Return nothing: it keeps no data of its own."""
        return ""
