"""The DaemonSet as a kind of workload."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import ClassVar, Final

from gate.core.checks.query_variables import WorkloadVariables
from gate.core.frozen import dataclass
from gate.core.kinds.controller_revision import CONTROLLER_REVISION, ControllerRevision
from gate.core.kinds.daemon_set import completion, faults, idleness, left_behind
from gate.core.kinds.daemon_set.current_revision import find_current_revision
from gate.core.kinds.daemon_set.objects import API_VERSION, BOOKKEEPING, DAEMON_SET, DaemonSet
from gate.core.kinds.daemon_set.placement import (
    is_new,
    key_of,
    list_dead_nodes,
    own_pods,
)
from gate.core.kinds.daemon_set.reasons import DaemonSetReason
from gate.core.kinds.lasting import ENOUGH_DOOMED_PODS, UntimedKind
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.objects import Pod, Revision
from gate.core.model.outcome import AnyReason
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

VARIABLES: Final = WorkloadVariables("daemonset", "controllerrevision", "controller_revision_hash")
SHORTEST_TOTAL_SECONDS: Final = 900.0
LONGEST_TOTAL_SECONDS: Final = 7200.0


@dataclass(frozen=True, slots=True)
class DaemonSetKind(UntimedKind[DaemonSet, ControllerRevision]):
    """What `WorkloadKind` asks, for DaemonSets; a revision is a ControllerRevision.

    Its key is the label of its pods, with the DaemonSet's uid.
    """

    api_version: ClassVar[str] = API_VERSION
    name: ClassVar[Kind] = DAEMON_SET
    revision_kind: ClassVar[Kind] = CONTROLLER_REVISION
    looks_at_nodes: ClassVar[bool] = True
    default_replicas: ClassVar[None] = None
    bookkeeping: ClassVar[frozenset[str]] = BOOKKEEPING
    variables: ClassVar[WorkloadVariables] = VARIABLES
    reasons: ClassVar[tuple[AnyReason, ...]] = tuple(DaemonSetReason)

    # -- its revisions and their pods --------------------------------------------------------------

    def find_current(self, live: DaemonSet, revisions: Iterable[ControllerRevision]) -> str:
        """Return the uid of the revision of the live template, "" before it was seen."""
        found = find_current_revision(live, revisions)
        return "" if found is None else found.uid

    def current_key(self, live: DaemonSet, current: ControllerRevision | None) -> str:
        """Return the key of the revision that is rolled out, "" while there is none."""
        return "" if current is None else self.key_of_revision(current)

    def key_of_revision(self, revision: ControllerRevision) -> str:
        """Return what the pods of a revision have in common."""
        return f"{revision.owner_uid}/{revision.label_value}"

    def key_of_pod(self, pod: Pod) -> str:
        """Return the key of the revision that a pod is of."""
        return key_of(pod)

    def place_of_pod(self, pod: Pod) -> str:
        """Return its node: the pod that replaces it runs there."""
        return pod.node

    def count_pods(self, view: View[ControllerRevision], revision: ControllerRevision) -> PodCounts:
        """Count the pods of a revision; which of them are available, the status alone knows.

        It counts those of all revisions together: at least what the others cannot be is of this.
        """
        live, key = view.live, self.key_of_revision(revision)
        if not isinstance(live, DaemonSet):
            return PodCounts()
        mine = [pod for pod in own_pods(view, live) if key_of(pod) == key]
        others = [pod for pod in own_pods(view, live) if key_of(pod) != key]
        ready = sum(pod.ready for pod in mine)
        available = min(ready, max(0, live.available - sum(pod.ready for pod in others)))
        wanted = live.replicas if key == view.current_key else 0
        return PodCounts(wanted, len(mine), ready, available)

    def status_counts(self, live: DaemonSet) -> StatusCounts:
        """Return the counters of its status."""
        return StatusCounts(live.current, live.updated, live.ready, live.available)

    def find_serving(self, view: View[ControllerRevision], live: DaemonSet) -> Fact[Revision]:
        """Return the current revision if pods of it are available, and of no other one ready.

        One missing pod does not disqualify it, nor does one on a node that is not ready.
        """
        current = view.current()
        if current is None or live.available < 1:
            return Absent()
        if any(pod.ready and not is_new(view, pod) for pod in own_pods(view, live)):
            return Absent()
        return Known(current)

    # -- when it is done ---------------------------------------------------------------------------

    def completion(
        self, view: View[ControllerRevision], live: DaemonSet, policy: Policy
    ) -> AnyReason | None:
        """Return why nothing is left to wait for, None if something is."""
        return completion.completion(view, live, policy)

    def is_rolled_out(self, view: View[ControllerRevision], live: DaemonSet) -> bool:
        """Tell whether no pod is left to replace or to add on a node that could run it."""
        return completion.is_rolled_out(view, live)

    def describe_counts(
        self, view: View[ControllerRevision], live: DaemonSet, which: str = CURRENT
    ) -> str:
        """Describe the progress in one line, with the nodes that do not count or may not."""
        return completion.describe_counts(view, live, which)

    def describe_lag(self, view: View[ControllerRevision], live: DaemonSet) -> str:
        """Say that only the DaemonSet's own counters are not there yet, "" otherwise."""
        return completion.describe_lag(view, live)

    def progress_marks(self, view: View[ControllerRevision], live: DaemonSet) -> ProgressMarks:
        """Return how far the rollout is, by its pods."""
        current = view.current()
        mine = PodCounts() if current is None else self.count_pods(view, current)
        old = sum(not is_new(view, pod) for pod in own_pods(view, live))
        return ProgressMarks(mine.created, mine.ready, mine.available, old)

    def remarks(self, view: View[ControllerRevision], live: DaemonSet) -> tuple[Remark, ...]:
        """Name the nodes of whose pods the verdict says nothing."""
        return completion.remarks(view, live)

    def count_kept(self, before: DaemonSet, live: DaemonSet) -> int:
        """Return how many nodes were to run a pod, unless the write says itself which ones are."""
        return before.replicas if live.is_placed_as(before) else 0

    # -- what blocks it ----------------------------------------------------------------------------

    def faults(
        self, view: View[ControllerRevision], live: DaemonSet, limits: FailFast
    ) -> tuple[Fault, ...]:
        """Return what keeps the controller from rolling out."""
        return tuple(faults.faults(view, live, limits))

    def find_blocking_pod(
        self, view: View[ControllerRevision], live: DaemonSet, limits: FailFast
    ) -> BlockingPod | None:
        """Return a pod of a version that is taken back, if its controller leaves it by OnDelete.

        Otherwise it replaces pods that are not available first, and no pod is in its way.
        """
        return left_behind.find_blocking_pod(view, live, limits)

    def find_left_pods(
        self, view: View[ControllerRevision], live: DaemonSet
    ) -> tuple[BlockingPod, ...]:
        """Return the pods of a version that is taken back, by OnDelete."""
        return left_behind.find_left_pods(view, live)

    def is_evidence(self, view: View[ControllerRevision], pod: Pod) -> bool:
        """Tell that a node was ready at our write, and is still there; unknown nodes are held so.

        One that is not ready now counts: a version may be what took its node down.
        """
        nodes = view.nodes
        if not nodes.are_known or not pod.node:
            return True
        return pod.node in nodes.present and nodes.was_ready_at_start(pod.node)

    def may_fail_fast(
        self, view: View[ControllerRevision], doomed: Collection[Pod], count: int
    ) -> bool:
        """Tell whether two pods cannot recover, or the only one, where another revision worked.

        A single node says as much about itself, unless a pod of another revision was ready there
        right before. Pods that are no evidence do not count.
        """
        if len(doomed) >= ENOUGH_DOOMED_PODS:
            return True
        tracks = (track for track in view.pods.values() if is_new(view, track.pod) and track.counts)
        there = sum(self.is_evidence(view, track.pod) for track in tracks)
        key = view.current_key
        return there == 1 and all(view.nodes.has_run_others(pod.node, key) for pod in doomed)

    def sign_of_idleness(
        self, view: View[ControllerRevision], live: DaemonSet, ready_pods: int
    ) -> str:
        """Return what shows that the controller does not act, "" if nothing does."""
        return idleness.sign_of_idleness(view, live)

    def controller_counters(
        self, view: View[ControllerRevision], live: DaemonSet
    ) -> tuple[int, ...]:
        """Return what the controller counts: a change shows that it acts."""
        return idleness.controller_counters(live)

    # -- its clocks --------------------------------------------------------------------------------

    def busy_until(self, view: View[ControllerRevision], live: DaemonSet) -> float:
        """Return until when its pods may still terminate; nobody ends those of a dead node."""
        own = (track for track in view.pods.values() if track.pod.owner_uid == live.uid)
        ending = [track for track in own if track.terminates_by > -math.inf]
        dead = list_dead_nodes(view, live) if ending else ()
        ends = (track.terminates_by for track in ending if track.pod.node not in dead)
        return max(ends, default=-math.inf)

    def least_steps(self, live: DaemonSet, pods_before: int) -> int:
        """Count the steps that replace pods; nodes without a pod all get theirs at once."""
        replaced = 0 if live.on_delete else min(pods_before, live.replicas)
        return max(math.ceil(replaced / live.step), int(live.replicas > pods_before))

    def step_seconds(self, live: DaemonSet) -> float:
        """Return its `minReadySeconds`."""
        return float(live.min_ready_seconds)

    def without_rolling_update(self, live: DaemonSet) -> DaemonSet:
        """Return it as the strategy `OnDelete` has it."""
        return replace(live, on_delete=True, max_surge="0", max_unavailable="0")

    def longest_legal_seconds(self, live: DaemonSet, policy: Policy) -> float:
        """Return how long the rollout can legally take: the total budget `auto`.

        Steps x (progress deadline + minReadySeconds), between 15 minutes and 2 hours.
        """
        steps = math.ceil(max(1, live.replicas) / live.step)
        a_step = policy.budgets.progress_deadline_seconds + live.min_ready_seconds
        return min(LONGEST_TOTAL_SECONDS, max(SHORTEST_TOTAL_SECONDS, steps * a_step))

    # -- its way back ------------------------------------------------------------------------------

    def lasting_effect(self, view: View[ControllerRevision], live: DaemonSet) -> str:
        """Return nothing: it keeps no data of its own."""
        return ""
