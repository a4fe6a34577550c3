"""What the judge asks of a kind of workload: the one interface between both.

A kind has no memory and no effects. Each answer follows from its arguments: `view` is what is
known of one workload, `live` the workload itself as it is known to exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from gate.core.checks.query_variables import WorkloadVariables
from gate.core.frozen import dataclass
from gate.core.model.fact import Fact
from gate.core.model.objects import (
    CleanText,
    Condition,
    Pod,
    Ref,
    Revision,
    Workload,
)
from gate.core.model.outcome import AnyReason
from gate.core.rollout.causes import Trouble
from gate.core.rollout.controller_faults import Fault
from gate.core.rollout.event_history import Events
from gate.core.rollout.node_history import Nodes
from gate.core.rollout.observations import Kind
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast, Policy

R_co = TypeVar("R_co", bound=Revision, covariant=True)
R_contra = TypeVar("R_contra", bound=Revision, contravariant=True)
W = TypeVar("W", bound=Workload)


@dataclass(frozen=True, slots=True)
class PodCounts:
    """How many pods of one revision are wanted, exist, are ready, and are available."""

    wanted: int = 0
    created: int = 0
    ready: int = 0
    available: int = 0


@dataclass(frozen=True, slots=True)
class StatusCounts:
    """How many pods a workload's own status counts; `updated` are those of its template."""

    total: int
    updated: int
    ready: int
    available: int


@dataclass(frozen=True, slots=True)
class ProgressMarks:
    """How far a rollout is: pods of the current revision, and how many the others are to have."""

    created: int
    ready: int
    available: int
    old: int


@dataclass(frozen=True, slots=True)
class LastWords:
    """The container whose log explains a failure best."""

    pod: str
    container: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader has to know of a workload beside its verdict, as what was not counted.

    `text` is a sentence about it; `about` are the objects that it concerns, as `node/n2`.
    """

    text: CleanText
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockingPod:
    """A pod of another revision that its controller does not replace, so that no new one can come.

    `trouble` is what is wrong with it, None if it is not known. `obstacle` says why it may not be
    replaced, "" if it may. `is_taken_back` is whether a way back, or an undo, takes its version
    back, and the controller leaves the pod to others whatever becomes of it. `is_last` is whether
    nothing else is left to do: every other pod is as it should be, or is left as well.
    """

    pod: Pod
    trouble: Trouble | None = None
    obstacle: str = ""
    is_taken_back: bool = False
    is_last: bool = False


class View(Protocol[R_co]):
    """What a kind may look at: one workload with its revisions, pods and events."""

    @property
    def ref(self) -> Ref:
        """The workload's identity."""

    @property
    def live(self) -> Workload | None:
        """The workload, if it is known to exist."""

    @property
    def current_uid(self) -> str:
        """The uid of the revision of the live template, "" if none was seen."""

    @property
    def current_key(self) -> str:
        """What the pods of the live template have in common, "" while unknown."""

    @property
    def taken_back(self) -> str:
        """What the pods of the version that is taken back have in common, "" without one."""

    @property
    def pods(self) -> Mapping[str, PodTrack]:
        """All pods of the namespace that were seen, by uid."""

    @property
    def nodes(self) -> Nodes:
        """The nodes, for a kind that looks at them."""

    @property
    def events(self) -> Events:
        """The latest warnings."""

    @property
    def denied_since(self) -> Mapping[str, float]:
        """When each revision (by uid) began to say that its pods cannot be created."""

    def current(self) -> R_co | None:
        """Return the revision of the live template."""

    def list_owned(self) -> tuple[R_co, ...]:
        """Return the revisions whose controller is this workload."""

    def has_moved(self, pod: Pod, key: str) -> bool:
        """Tell whether a pod is of a version that its predecessor was not, before the attempt."""

    def starts_to_go(self, pod: Pod) -> bool:
        """Tell whether a pod is being deleted, and was not yet as the attempt began."""


CURRENT: Final = "current"
"""What `status` calls what is of the live template, whoever wrote that."""


def call_others(which: str) -> str:
    """Return what the pods of other versions are called beside those that are called `which`.

    "new" are those of the version that an attempt rolls out, "old" of the one that it goes back to,
    CURRENT of the live template, whoever wrote it and wherever it goes, "" where nothing changed.
    """
    return {"new": "old", "old": "new"}.get(which, "other")


class WorkloadKind(Protocol[W, R_contra]):
    """One kind of workload, of which `gate.core.kinds` has the implementations."""

    # -- what it is --------------------------------------------------------------------------------

    @property
    def api_version(self) -> str:
        """The group and version of its objects."""

    @property
    def name(self) -> Kind:
        """The kind of its objects, as in a manifest."""

    @property
    def revision_kind(self) -> Kind:
        """The kind of the objects that keep its revisions."""

    @property
    def reasons(self) -> Iterable[AnyReason]:
        """The reasons that it alone gives, beside those of `Reason`."""

    @property
    def looks_at_nodes(self) -> bool:
        """Whether its verdict depends on which nodes are ready."""

    @property
    def variables(self) -> WorkloadVariables | None:
        """The names by which queries of checks ask for it and its revisions.

        None if checks are not about it: nothing of it serves that could be measured.
        """

    # -- its revisions and their pods --------------------------------------------------------------

    def own_revisions(self, live: W, owned: tuple[R_contra, ...]) -> tuple[Revision, ...]:
        """Return its revisions, of the watched objects that it owns.

        A kind without such objects returns itself as its only revision; its `revision_kind` is its
        own name.
        """

    def find_current(self, live: W, revisions: Iterable[R_contra]) -> str:
        """Return the uid of the revision of the live template, "" if it was not seen."""

    def current_key(self, live: W, current: R_contra | None) -> str:
        """Return the key of the revision that is rolled out, "" while there is none."""

    def key_of_revision(self, revision: R_contra) -> str:
        """Return what the pods of a revision have in common."""

    def key_of_pod(self, pod: Pod) -> str:
        """Return the key of the revision that a pod is of; the pod itself has to bear it."""

    def place_of_pod(self, pod: Pod) -> str:
        """Return what another pod takes over from one that it replaces, "" if nothing.

        A pod without a place counts as one that this attempt's versions have moved.
        """

    def count_pods(self, view: View[R_contra], revision: R_contra) -> PodCounts:
        """Count the pods of a revision."""

    def status_counts(self, live: W) -> StatusCounts:
        """Return the counters of its status."""

    def find_serving(self, view: View[R_contra], live: W) -> Fact[Revision]:
        """Return the current revision if it serves, and no other does: a rollback's target.

        Unknown, with why, if nobody can tell whether it ever served.
        """

    def falls_short(self, live: W) -> bool:
        """Tell whether fewer pods are available than its strategy keeps up, by its status."""

    # -- when it is done ---------------------------------------------------------------------------

    def completion(self, view: View[R_contra], live: W, policy: Policy) -> AnyReason | None:
        """Return why nothing is left to wait for, None if something is.

        The caller has checked that the controller observed our generation.
        """

    def is_rolled_out(self, view: View[R_contra], live: W) -> bool:
        """Tell whether no pod is left to replace or to add, however few of them a policy needs."""

    def has_ended(self, live: W) -> bool:
        """Tell whether it has ended for good: that it is deleted then changes nothing."""

    def failure(self, live: W) -> str:
        """Say why it has failed for good, so that applying it again would run nothing, or ""."""

    def is_stopping(self, live: W) -> bool:
        """Tell whether it has failed for good, and what it runs is still being stopped."""

    def describe_counts(self, view: View[R_contra], live: W, which: str = CURRENT) -> str:
        """Describe the progress in one line; `which` names the pods, as in `call_others`."""

    def describe_lag(self, view: View[R_contra], live: W) -> str:
        """Say what the controller has yet to write or to wait for, as ", ...", "" if nothing."""

    def remarks(self, view: View[R_contra], live: W) -> tuple[Remark, ...]:
        """Return what a reader has to know beside the verdict, good or bad; usually nothing."""

    # -- what blocks it ----------------------------------------------------------------------------

    def fail_fast(self, limits: FailFast) -> FailFast:
        """Return which of a policy's limits hold for its pods."""

    def faults(self, view: View[R_contra], live: W, limits: FailFast) -> tuple[Fault, ...]:
        """Return what keeps the controller from rolling out, the first to decide first."""

    def find_blocking_pod(
        self, view: View[R_contra], live: W, limits: FailFast
    ) -> BlockingPod | None:
        """Return the pod of another revision that has to go next, None without one.

        It is one at which the controller stops or, of a version that is taken back, one that the
        controller leaves as it is. What it leaves so is not complete.
        """

    def find_left_pods(self, view: View[R_contra], live: W) -> tuple[BlockingPod, ...]:
        """Return the pods of the version that is taken back that the controller leaves in `live`.

        That may be what a write is going to make of it.
        """

    def is_evidence(self, view: View[R_contra], pod: Pod) -> bool:
        """Tell whether what is wrong with a pod speaks against its version, not against a node."""

    def last_words(self, view: View[R_contra], live: W) -> LastWords | None:
        """Return whose log explains its own failure, None if that of a pod in trouble does."""

    def may_fail_fast(self, view: View[R_contra], doomed: Collection[Pod], count: int) -> bool:
        """Tell whether doomed pods, which are evidence, condemn the version of `count` pods."""

    def sign_of_idleness(self, view: View[R_contra], live: W, ready_pods: int) -> str:
        """Return what shows that controllers do not act, "" if nothing does.

        `ready_pods` are those of the current revision.
        """

    def controller_counters(self, view: View[R_contra], live: W) -> tuple[int, ...]:
        """Return numbers that controllers write: while any of them changes, they act."""

    @property
    def pods_show_progress(self) -> bool:
        """Whether `progress_marks` and `completion` depend on pods, not on status alone."""

    def progress_marks(self, view: View[R_contra], live: W) -> ProgressMarks:
        """Return how far the rollout is."""

    # -- its clocks --------------------------------------------------------------------------------

    def deadline_seconds(self, live: W, policy: Policy) -> float:
        """Return how long nothing may move, infinite for no limit."""

    def exceeded_deadline(self, live: W) -> Condition | None:
        """Return the controller's own condition that the deadline has passed, None without one."""

    def busy_until(self, view: View[R_contra], live: W) -> float:
        """Return until when something is under way that shows no progress, -inf for nothing.

        The time is that of `PodTrack`.
        """

    def least_steps(self, live: W, pods_before: int) -> int:
        """Return how many steps, one after another, a new template takes at least.

        `pods_before` are those that run an older one. What its controller does not do by itself is
        no step.
        """

    def step_seconds(self, live: W) -> float:
        """Return the shortest time in which a new pod can count as available, by its spec."""

    def without_rolling_update(self, live: W) -> W:
        """Return it without the parameters of a rolling update: its pods are replaced otherwise."""

    def longest_legal_seconds(self, live: W, policy: Policy) -> float:
        """Return how long the rollout can legally take: the total budget `auto`."""

    # -- its way back ------------------------------------------------------------------------------

    @property
    def has_way_back(self) -> bool:
        """Whether a failure can return it to an earlier version; what others did stays."""

    @property
    def default_replicas(self) -> int | None:
        """The `spec.replicas` that the server sets where nobody does, None without that field."""

    def count_kept(self, before: W, live: W) -> int:
        """Return how many pods it is to have after a write that names no number of them.

        The write made `live` of `before`. 0 if what else it says may leave no pod, and for a kind
        that runs once.
        """

    @property
    def pause_field(self) -> str:
        """The boolean of `spec` that holds its rollout, "" if it cannot be paused."""

    @property
    def pause_word(self) -> str:
        """What people call it while its pause holds it, as "paused"; "" if it cannot be."""

    def lasting_effect(self, view: View[R_contra], live: W) -> str:
        """Return what of it stays although it goes back, as `the data in its volumes`, else ""."""

    @property
    def bookkeeping(self) -> frozenset[str]:
        """The annotations that its controller writes into it, which make no other version."""


AnyKind: TypeAlias = WorkloadKind[Any, Any]
"""A kind as the judge holds it: with the workloads that it recognises."""
