"""Builds the values that a rollout is judged by, each with the defaults of a healthy one.

`Scene` is a Deployment `web` with its ReplicaSets and pods as one value: a test says what differs
from a complete rollout and asks for the rollout, its verdict, or its snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from gate.core.attempt.contact import REFUSED_SECONDS
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet, deployment_ref
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body
from gate.core.model.objects import (
    CleanText,
    ClusterEvent,
    Condition,
    Container,
    ContainerStatus,
    Pod,
    Ref,
    Template,
    Termination,
    Watched,
)
from gate.core.model.outcome import Reason
from gate.core.protocol.events import AccessRefused
from gate.core.rollout.applied import Applied
from gate.core.rollout.judge import Rollout, Verdict
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Policy
from gate.core.rollout.snapshot import Snapshot

NAMESPACE = "shop"
WEB = deployment_ref(NAMESPACE, "web")
BOUND_SECONDS = 600
"""progressDeadlineSeconds, as the API defaults it."""


OWNED: dict[str, Any] = {
    "f:spec": {"f:containers": {'k:{"name":"web"}': {"f:image": {}, "f:name": {}}}}
}
"""What an apply that sets the container's image owns of the pod template."""


def template(
    image: str = "shop/web:2", *, inits: Iterable[str] = (), beside: Iterable[str] = (), **more: Any
) -> Template:
    """Make a pod template with the container `web`; `more` goes into its metadata."""
    side = [Container(name, CleanText(image)) for name in ("web", *beside)]
    first = [Container(name, CleanText(image), init=True) for name in inits]
    spec = {
        "containers": [{"name": one.name, "image": image} for one in side],
        "initContainers": [{"name": one.name, "image": image} for one in first],
    }
    return Template(Body.of({"metadata": more, "spec": spec}), (*first, *side))


def condition(kind: str, status: str, reason: str, message: str = "") -> Condition:
    """Make a condition."""
    return Condition(kind, status, reason, CleanText(message))


AVAILABLE = condition("Available", "True", "MinimumReplicasAvailable")
DEADLINE_EXCEEDED = condition(
    "Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "web-2" has timed out.'
)
SUCCEEDED = condition("Progressing", "True", "NewReplicaSetAvailable")


def deployment(**changes: Any) -> Deployment:
    """Make a Deployment of 4 pods that is complete; counters follow `replicas`."""
    replicas = changes.get("replicas", 4)
    complete = Deployment(
        ref=WEB,
        uid="web-uid",
        resource_version="100",
        generation=2,
        revision=2,
        deleting=False,
        paused=False,
        replicas=replicas,
        min_ready_seconds=0,
        progress_deadline_seconds=BOUND_SECONDS,
        recreate=False,
        max_surge="25%",
        max_unavailable="25%",
        template=template(),
        observed_generation=changes.get("generation", 2),
        status_replicas=replicas,
        updated_replicas=replicas,
        ready_replicas=replicas,
        available_replicas=replicas,
        terminating_replicas=0,
        conditions=(AVAILABLE, SUCCEEDED),
    )
    return replace(complete, **changes)


def replica_set(name: str = "web-2", **changes: Any) -> ReplicaSet:
    """Make a ReplicaSet of `web` whose pods, 4 or `replicas`, are all available."""
    replicas = changes.get("replicas", 4)
    complete = ReplicaSet(
        name=name,
        namespace=NAMESPACE,
        uid=f"{name}-uid",
        resource_version="100",
        owner_uid="web-uid",
        revision=2,
        deleting=False,
        created_at="2026-11-21T12:00:00Z",
        change_cause=CleanText(""),
        replicas=replicas,
        template=template(),
        observed_generation=1,
        status_replicas=replicas,
        ready_replicas=replicas,
        available_replicas=replicas,
        conditions=(),
        generation=1,
        min_ready_seconds=0,
    )
    return replace(complete, **changes)


def old_replica_set(**changes: Any) -> ReplicaSet:
    """Make the ReplicaSet of the version before, scaled to zero."""
    defaults: dict[str, Any] = {
        "replicas": 0,
        "revision": 1,
        "template": template("shop/web:1"),
        "created_at": "2026-11-21T11:00:00Z",
    }
    return replica_set("web-1", **{**defaults, **changes})


def container(name: str = "web", **changes: Any) -> ContainerStatus:
    """Make the status of a container that runs and is ready."""
    running = ContainerStatus(
        name=name,
        init=False,
        ready=True,
        restarts=0,
        running=True,
        waiting_reason=CleanText(""),
        waiting_message=CleanText(""),
        terminated=None,
        last_terminated=None,
        image_id=CleanText(""),
    )
    return replace(running, **changes)


def waiting(reason: str, message: str = "", name: str = "web", **changes: Any) -> ContainerStatus:
    """Make the status of a container that waits."""
    changes = {"ready": False, "running": False, **changes}
    return container(
        name, waiting_reason=CleanText(reason), waiting_message=CleanText(message), **changes
    )


def terminated(reason: str = "Error", exit_code: int = 1, message: str = "") -> Termination:
    """Make the end of a container."""
    return Termination(CleanText(reason), exit_code, CleanText(message), "2026-11-21T12:00:00Z")


def crashing(restarts: int = 3, name: str = "web", **changes: Any) -> ContainerStatus:
    """Make the status of a container between two crashes."""
    changes = {"last_terminated": terminated(), "restarts": restarts, **changes}
    return waiting("CrashLoopBackOff", "back-off 10s", name, **changes)


def pod(number: int = 0, *containers: ContainerStatus, **changes: Any) -> Pod:
    """Make a pod of `web-2`; it is ready if its containers are."""
    statuses = containers or (container(),)
    running = Pod(
        name=f"web-2-p{number}",
        namespace=NAMESPACE,
        uid=f"p{number}-uid",
        resource_version="100",
        owner_uid="web-2-uid",
        deleting=False,
        phase="Running",
        reason=CleanText(""),
        ready=all(status.ready for status in statuses if not status.init),
        unschedulable=CleanText(""),
        containers=statuses,
    )
    return replace(running, **changes)


def pods(count: int, *containers: ContainerStatus, first: int = 0, **changes: Any) -> list[Pod]:
    """Make that many pods alike."""
    return [pod(number, *containers, **changes) for number in range(first, first + count)]


def warning(about: Pod, reason: str, message: str, uid: str = "event") -> ClusterEvent:
    """Make a warning about a pod."""
    return ClusterEvent(
        uid=uid,
        resource_version="100",
        about_kind="Pod",
        about_name=about.name,
        about_uid=about.uid,
        type="Warning",
        reason=CleanText(reason),
        message=CleanText(message),
        count=1,
        at="2026-11-21T12:00:00Z",
    )


def config_ref(name: str = "settings") -> Ref:
    """Name a ConfigMap."""
    return Ref("v1", "ConfigMap", NAMESPACE, name)


@dataclass(frozen=True)
class Scene:
    """What runs at some time after our write of `made` at 0 s.

    `owned` are our fields of its template, `before` is what was seen before the write.
    """

    web: Deployment = field(default_factory=deployment)
    sets: tuple[ReplicaSet, ...] = field(default_factory=lambda: (replica_set(),))
    pods: tuple[Pod, ...] = ()
    policy: Policy = field(default_factory=Policy)
    owned: dict[str, Any] | None = None
    before: tuple[Watched, ...] = ()
    total_seconds: float = 900.0
    deadline_decides: bool = True
    spec_changed: bool = True
    found: bool = False
    made: Template = field(default_factory=template)

    def rollout(self) -> Rollout:
        """Return the rollout at our write, before it has heard of anything after it."""
        snapshot = snapshot_of(WEB, replace(self.web, resource_version="1"), *self.before)
        applied = Applied(
            uid="web-uid",
            generation=2,
            template=self.made,
            owned=Body.of(self.owned) if self.owned is not None else None,
            at=0.0,
            new_template=True,
            spec_changed=self.spec_changed,
            replicas=self.web.replicas,
            found=self.found,
        )
        return Rollout.start(
            applied,
            snapshot,
            self.policy,
            total_seconds=self.total_seconds,
            deadline_decides=self.deadline_decides,
        )

    def seen(self, at: float = 1.0) -> Rollout:
        """Return the rollout after everything of the scene was seen at `at`."""
        return after(self.rollout(), at, self.web, *self.sets, *self.pods)

    def verdict(self, at: float = 1.0, *, seen_at: float | None = None) -> Verdict:
        """Return what stands at `at`, everything being seen then or at `seen_at`."""
        return self.seen(at if seen_at is None else seen_at).verdict(at)


def snapshot_of(ref: Ref, *things: Watched, at: float = 0.0) -> Snapshot:
    """Return what is known of a workload after these objects were seen."""
    snapshot = unseen(ref)
    for thing in things:
        snapshot = snapshot.fold(Observed(at, thing))
    return snapshot


def refusals(at: float, reason: Reason = Reason.FORBIDDEN, why: str = "forbidden") -> list[Any]:
    """Return what is heard of access that stays refused, for long enough from `at` on."""
    times = (at, at + REFUSED_SECONDS / 2, at + REFUSED_SECONDS)
    return [AccessRefused(one, f"{NAMESPACE}/Pod", why, reason) for one in times]


def after(rollout: Rollout, at: float, *things: Watched) -> Rollout:
    """Return the rollout after it has seen `things` at `at`."""
    for thing in things:
        rollout = rollout.observe(Observed(at, thing))
    return rollout


def later(thing: Any, version: int, **changes: Any) -> Any:
    """Return a later version of an object."""
    return replace(thing, resource_version=str(version), **changes)
