"""The StatefulSet as a kind of workload."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar, Final

from gate.core.checks.query_variables import WorkloadVariables
from gate.core.frozen import dataclass
from gate.core.kinds.controller_revision import (
    CONTROLLER_REVISION,
    ControllerRevision,
    find_newest,
)
from gate.core.kinds.lasting import UntimedKind
from gate.core.kinds.stateful_set import blocking, clocks, completion, faults, idleness, left_behind
from gate.core.kinds.stateful_set.objects import (
    API_VERSION,
    DEFAULT_REPLICAS,
    STATEFUL_SET,
    StatefulSet,
)
from gate.core.kinds.stateful_set.reasons import StatefulSetReason
from gate.core.model.fact import Fact
from gate.core.model.objects import CleanText, Pod, Revision
from gate.core.model.outcome import AnyReason
from gate.core.rollout.controller_faults import Fault, describe_deletion
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

VARIABLES: Final = WorkloadVariables(
    "statefulset", "controllerrevision", "controller_revision_hash"
)


@dataclass(frozen=True, slots=True)
class StatefulSetKind(UntimedKind[StatefulSet, ControllerRevision]):
    """What `WorkloadKind` asks, for StatefulSets.

    A revision is a ControllerRevision. Its key is its name, which pods carry as the label
    `controller-revision-hash`.
    """

    api_version: ClassVar[str] = API_VERSION
    name: ClassVar[Kind] = STATEFUL_SET
    revision_kind: ClassVar[Kind] = CONTROLLER_REVISION
    looks_at_nodes: ClassVar[bool] = False
    default_replicas: ClassVar[int] = DEFAULT_REPLICAS
    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    variables: ClassVar[WorkloadVariables] = VARIABLES
    reasons: ClassVar[tuple[AnyReason, ...]] = tuple(StatefulSetReason)

    # -- its revisions and their pods --------------------------------------------------------------

    def find_current(self, live: StatefulSet, revisions: Iterable[ControllerRevision]) -> str:
        """Return the uid of the revision of the live template, "" if it was not seen.

        The status names it once the live generation is observed. Before that it is the newest with
        the live template: what a status of an earlier generation names was the one before.
        """
        if live.is_observed:
            found = [one for one in revisions if one.name == live.update_revision]
        else:
            found = [one for one in revisions if one.template.body == live.template.body]
        newest = find_newest(found)
        return "" if newest is None else newest.uid

    def current_key(self, live: StatefulSet, current: ControllerRevision | None) -> str:
        """Return the name of the revision that is rolled out, "" while unknown.

        The status may name it before the revision itself was seen.
        """
        if live.is_observed:
            return live.update_revision
        return "" if current is None else current.name

    def key_of_revision(self, revision: ControllerRevision) -> str:
        """Return the revision's name."""
        return revision.name

    def key_of_pod(self, pod: Pod) -> str:
        """Return the name of a pod's revision."""
        return pod.revision_label

    def place_of_pod(self, pod: Pod) -> str:
        """Return its name: the pod that replaces it has the same."""
        return pod.name

    def count_pods(self, view: View[ControllerRevision], revision: ControllerRevision) -> PodCounts:
        """Return the pods of a revision; the status counts those of the new one alone."""
        pods = [
            track.pod
            for track in view.pods.values()
            if track.pod.revision_label == revision.name and track.counts
        ]
        ready = sum(pod.ready for pod in pods)
        live = view.live
        wanted = len(pods)
        if isinstance(live, StatefulSet) and revision.name == view.current_key:
            wanted = completion.count_wanted(view, live) if live.to_update else len(pods)
        return PodCounts(wanted, len(pods), ready, ready)

    def status_counts(self, live: StatefulSet) -> StatusCounts:
        """Return the counters of its status."""
        return StatusCounts(
            live.status_replicas,
            live.updated_replicas,
            live.ready_replicas,
            live.available_replicas,
        )

    def find_serving(self, view: View[ControllerRevision], live: StatefulSet) -> Fact[Revision]:
        """Return the current revision if it serves, and no other does where it should."""
        return completion.find_serving(view, live)

    # -- when it is done ---------------------------------------------------------------------------

    def completion(
        self, view: View[ControllerRevision], live: StatefulSet, policy: Policy
    ) -> AnyReason | None:
        """Return why nothing is left to wait for, None if something is."""
        return completion.completion(view, live, policy)

    def is_rolled_out(self, view: View[ControllerRevision], live: StatefulSet) -> bool:
        """Tell whether no pod is left to replace or to add, however few of them a policy needs."""
        return completion.is_rolled_out(view, live)

    def describe_counts(
        self, view: View[ControllerRevision], live: StatefulSet, which: str = CURRENT
    ) -> str:
        """Describe the progress in one line whose numbers agree with each other."""
        return completion.describe_counts(view, live, which)

    def describe_lag(self, view: View[ControllerRevision], live: StatefulSet) -> str:
        """Name a pod that terminates, for which the controller waits, "" for none."""
        return completion.describe_lag(view, live)

    def progress_marks(self, view: View[ControllerRevision], live: StatefulSet) -> ProgressMarks:
        """Return how far the rollout is, by its pods; those that terminate are still there."""
        own, key = live.own_pods(view.pods.values()), view.current_key
        new = [one for one in own if one.counts and one.pod.revision_label == key]
        old = sum(one.pod.revision_label != key or live.index_of(one.pod) is None for one in own)
        ready = sum(one.pod.ready for one in new)
        available = completion.count_new_available(view, live) if live.is_observed else 0
        return ProgressMarks(len(new), ready, available, old)

    def remarks(self, view: View[ControllerRevision], live: StatefulSet) -> tuple[Remark, ...]:
        """Name each pod that nobody waits for, since its finalizers keep it."""
        return tuple(
            Remark(CleanText(f"a pod is {describe_deletion(pod)}"), (f"pod/{pod.name}",))
            for pod in completion.find_held(view, live)
        )

    # -- what blocks it ----------------------------------------------------------------------------

    def faults(
        self, view: View[ControllerRevision], live: StatefulSet, limits: FailFast
    ) -> tuple[Fault, ...]:
        """Return what keeps the controller from rolling out."""
        return faults.faults(view, live, limits)

    def find_blocking_pod(
        self, view: View[ControllerRevision], live: StatefulSet, limits: FailFast
    ) -> BlockingPod | None:
        """Return the pod of another revision at which the controller stops, None without one."""
        return blocking.find_blocking_pod(view, live, limits)

    def find_left_pods(
        self, view: View[ControllerRevision], live: StatefulSet
    ) -> tuple[BlockingPod, ...]:
        """Return the pods of a version that is taken back, of places that the strategy holds."""
        return left_behind.find_left_pods(view, live)

    def sign_of_idleness(
        self, view: View[ControllerRevision], live: StatefulSet, ready_pods: int
    ) -> str:
        """Return what shows that the controller does not act, "" if nothing does."""
        return idleness.sign_of_idleness(view, live)

    def controller_counters(
        self, view: View[ControllerRevision], live: StatefulSet
    ) -> tuple[int, ...]:
        """Return what the controller counts: a change shows that it acts."""
        return idleness.controller_counters(live)

    # -- its clocks --------------------------------------------------------------------------------

    def busy_until(self, view: View[ControllerRevision], live: StatefulSet) -> float:
        """Return until when its pods may still terminate."""
        return clocks.busy_until(view, live)

    def least_steps(self, live: StatefulSet, pods_before: int) -> int:
        """Count the steps that replace pods, and those that add them one by one."""
        return clocks.least_steps(live, pods_before)

    def step_seconds(self, live: StatefulSet) -> float:
        """Return its `minReadySeconds`."""
        return float(live.min_ready_seconds)

    def without_rolling_update(self, live: StatefulSet) -> StatefulSet:
        """Return it as the strategy `OnDelete` has it."""
        return replace(live, on_delete=True, partition=0, max_unavailable="1")

    def longest_legal_seconds(self, live: StatefulSet, policy: Policy) -> float:
        """Return how long the rollout can legally take."""
        return clocks.longest_legal_seconds(live, policy)

    # -- its way back ------------------------------------------------------------------------------

    def lasting_effect(self, view: View[ControllerRevision], live: StatefulSet) -> str:
        """Return the data of its claims, which no older template brings back."""
        return f"the data in its volumes ({', '.join(live.claims)})" if live.claims else ""
