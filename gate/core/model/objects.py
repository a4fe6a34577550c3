"""The parts of Kubernetes objects that a rollout is judged by, as values.

Field names follow the API (apps/v1, v1); counters that the server omits are 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NewType

from gate.core.frozen import dataclass
from gate.core.model.body import Body
from gate.core.model.outcome import AnyReason, Reason
from gate.core.model.remedy import Remedy

CleanText = NewType("CleanText", str)
"""External text without control characters, escapes and bidi marks, as `gate.wire` cleans it."""

LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
"""The name of a namespace: a DNS label (RFC 1123)."""

SUBDOMAIN: Final = re.compile(
    r"(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
"""The name of a workload, and of most other objects: a DNS subdomain (RFC 1123)."""


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """The identity of an object within one cluster; `namespace` is "" for cluster-scoped kinds."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __hash__(self) -> int:
        """Hash by name, as a string caches its hash: refs are looked up more than anything else."""
        return hash(self.name)

    def __str__(self) -> str:
        """Return what people call it, as in `deployment/web`."""
        return f"{self.kind.lower()}/{self.name}"


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a pod template; `init` is true of init containers and native sidecars."""

    name: str
    image: CleanText
    init: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """`spec.template` without its `pod-template-hash` label, so that owner and owned compare."""

    body: Body
    containers: tuple[Container, ...]

    def images(self) -> tuple[str, ...]:
        """Return the images of the containers that run side by side, in order."""
        return tuple(container.image for container in self.containers if not container.init)


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `status.conditions`; `updated_at` is RFC 3339, "" where it has no such time."""

    type: str
    status: str
    reason: str
    message: CleanText
    updated_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """An object whose rollout is judged: the part that all kinds of workload have.

    `replicas` is how many pods are wanted. `revision` is the number that the controller gave to
    its present template, None if it gave none.
    """

    ref: Ref
    uid: str
    resource_version: str
    generation: int
    observed_generation: int
    deleting: bool
    paused: bool
    replicas: int
    revision: int | None
    template: Template
    conditions: tuple[Condition, ...]

    @property
    def has_deadline(self) -> bool:
        """Whether its controller has a progress deadline, and says when that has passed."""
        return False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What in its spec does less, or more, than it seems to."""
        return ()

    @property
    def loses_by_scaling_down(self) -> bool:
        """Whether data would be deleted if it had fewer pods."""
        return False

    @property
    def claims_of_pods(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the volume claims that its controller makes for each pod, by pod."""
        return {}

    @property
    def leaves_old_pods(self) -> bool:
        """Whether its controller replaces no pod of an older version by itself."""
        return False

    def holds_pod(self, _pod: Pod) -> bool:
        """Tell whether its controller leaves a pod as it is, whatever its version."""
        return self.leaves_old_pods

    @property
    def old_pods_kept(self) -> int:
        """How many pods of an older version its controller leaves, by its spec."""
        return self.replicas if self.leaves_old_pods else 0

    @property
    def overlaps_versions(self) -> bool:
        """Whether pods of the old version serve beside those of the new one while it rolls."""
        return True

    @property
    def run_times(self) -> tuple[str, str]:
        """When it began and ended, of what runs once, RFC 3339; "" for not yet or not known."""
        return "", ""

    @property
    def goes_after_end(self) -> bool:
        """Whether it is deleted some time after its end, without anybody asking for it."""
        return False

    @property
    def remedy(self) -> Remedy:
        """What brings its pods to the live template where its controller replaces none."""
        return Remedy.DELETE_POD if self.leaves_old_pods else Remedy.NONE

    def strategy_put_back(self, failed: Workload) -> str:
        """Name what of its strategy keeps pods of `failed` from being replaced, "" if nothing.

        That is where a return from `failed` to it puts such a strategy back.
        """
        return "OnDelete" if self.leaves_old_pods and not failed.leaves_old_pods else ""

    @property
    def updates_all_pods(self) -> bool:
        """Whether its controller brings each pod to a new version by itself."""
        return not self.leaves_old_pods

    @property
    def holds_last_complete(self) -> bool:
        """Whether a pod that its strategy holds comes back at the version that all pods ran last.

        That is so whatever its template is.
        """
        return False

    @property
    def when_empty(self) -> str:
        """What is to be said of it where no pod is wanted, and none is there."""
        return "0 replicas are wanted, and no pod runs"

    @property
    def reason_if_emptied(self) -> AnyReason:
        """Why it wants no pod any more, where it was to have some."""
        return Reason.SCALED_TO_ZERO

    def describe_emptied(self, count: int) -> str:
        """Say that it wants no pod any more, of `count` that it was to have."""
        return f"it was scaled from {count} to 0 replicas"

    def condition(self, condition_type: str) -> Condition | None:
        """Return the condition of that type, if the status has one."""
        for condition in self.conditions:
            if condition.type == condition_type:
                return condition
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """An object that keeps one pod template of a workload: a ReplicaSet or a ControllerRevision.

    `owner_uid` is that of its controller, "" without one. `revision` is its number.
    `earlier_revisions` are the numbers that it had before it was used again. `label_value` is that
    of the label by which metrics tell versions apart, "" without one.
    """

    name: str
    namespace: str
    uid: str
    resource_version: str
    owner_uid: str
    revision: int | None
    deleting: bool
    created_at: str
    change_cause: CleanText
    template: Template
    label_value: str = ""
    earlier_revisions: tuple[int, ...] = ()

    @property
    def failure(self) -> Condition | None:
        """What keeps pods of this revision from being created, if the object says so itself."""
        return None


@dataclass(frozen=True, slots=True)
class Termination:
    """How a container ended; `at` is RFC 3339 as the kubelet wrote it."""

    reason: CleanText
    exit_code: int
    message: CleanText
    at: str


@dataclass(frozen=True, slots=True)
class ContainerStatus:
    """One entry of `status.containerStatuses` or `initContainerStatuses`."""

    name: str
    init: bool
    ready: bool
    restarts: int
    running: bool
    waiting_reason: CleanText
    waiting_message: CleanText
    terminated: Termination | None
    last_terminated: Termination | None
    image_id: CleanText


@dataclass(frozen=True, slots=True)
class PodDeletion:
    """How a pod is being deleted: it may take `grace_seconds` to end, and stays for `finalizers`.

    Its kubelet sets the first to 0 once its containers have ended; with a forced deletion it is 0
    at once, and they run on.
    """

    grace_seconds: float = 0.0
    finalizers: tuple[CleanText, ...] = ()

    @property
    def is_held(self) -> bool:
        """Whether nothing but finalizers keeps it: nobody knows for how long."""
        return bool(self.finalizers) and not self.grace_seconds


@dataclass(frozen=True, slots=True)
class Pod:
    """A v1 Pod; `unschedulable` is the message of `PodScheduled=False`, "" otherwise.

    `node_silent` is whether its node no longer reports: the node lifecycle controller has marked
    the pod not ready, and left its containers' states as the kubelet wrote them
    (`MarkPodsNotReady`). `start_seconds` is how long a ready pod took from `status.startTime` to
    its latest readiness, both by its kubelet's clock; None if it does not tell. `revision_label` is
    its label `controller-revision-hash`, for kinds whose revisions own no pods; "" without one.
    `deletion` is None if it is not being deleted.
    `node` is the name of the node that it is on or, for a pod of a DaemonSet that nobody has placed
    yet, is made for; "" while that is open. `created_at` is RFC 3339, by the API server's clock.
    """

    name: str
    namespace: str
    uid: str
    resource_version: str
    owner_uid: str
    deleting: bool
    phase: str
    reason: CleanText
    ready: bool
    unschedulable: CleanText
    containers: tuple[ContainerStatus, ...]
    node_silent: bool = False
    start_seconds: float | None = None
    revision_label: str = ""
    deletion: PodDeletion | None = None
    node: str = ""
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A v1 Node; `ready` is `Ready=True`: its kubelet reports, and can run pods."""

    name: str
    uid: str
    resource_version: str
    ready: bool


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A v1 Event; `at` is its last time, RFC 3339."""

    uid: str
    resource_version: str
    about_kind: str
    about_name: str
    about_uid: str
    type: str
    reason: CleanText
    message: CleanText
    count: int
    at: str


Watched = Workload | Revision | Pod | ClusterEvent | Node
