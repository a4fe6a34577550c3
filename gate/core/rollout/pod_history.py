"""The history of pods since we watch: how long each waits and for what, how often it failed."""

from __future__ import annotations

import math
from dataclasses import replace

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import ContainerStatus, Pod

_PULL_WAITING = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable"}
)
_NEVER_VALID = frozenset({"InvalidImageName", "ErrImageNeverPull"})
_CONFIG_WAITING = frozenset(
    {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)
_OVER = ("Failed", "Succeeded")


def waiting_class(waiting_reason: str) -> str:
    """Return the class of a container's `waiting.reason`: invalid, pull, config or ""."""
    if waiting_reason in _NEVER_VALID:
        return "invalid"
    if waiting_reason in _PULL_WAITING:
        return "pull"
    return "config" if waiting_reason in _CONFIG_WAITING else ""


@dataclass(frozen=True, slots=True)
class ContainerTrack:
    """The history of one container of a pod.

    `restarts_before` are those from before our last write, `restarts_unseen` those from before it
    was first seen. `waiting_since` is when it began to wait for `waiting` (monotonic seconds; kept
    while a pull error and its back-off alternate), `pull_message` the last message that names a
    cause, from a status or an event, forgotten once the container runs.
    """

    restarts_before: int
    waiting: str = ""
    waiting_since: float = 0.0
    pull_message: str = ""
    restarts_unseen: int = 0

    def with_all_restarts(self) -> ContainerTrack:
        """Return it with the restarts from before our write counted as well."""
        return replace(self, restarts_before=0)


@dataclass(frozen=True, slots=True)
class PodTrack:
    """A pod and its history since we watch.

    `start_seconds` is how long it took to get ready, None until then; it is what was seen of that
    or what the pod itself says, whichever is longer. `unready_since` is when its kubelet began to
    say that it is not ready, `deleting_since` when its deletion was first seen, -inf before.
    """

    pod: Pod
    seen_at: float
    containers: FrozenMap[str, ContainerTrack]
    readiness_losses: int = 0
    start_seconds: float | None = None
    unready_since: float = 0.0
    deleting_since: float = -math.inf

    @property
    def counts(self) -> bool:
        """Whether it is evidence: not on its way out, not evicted or rejected by its node."""
        return not self.pod.deleting and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether its containers have ended for good."""
        return self.pod.phase in _OVER

    @property
    def has_served(self) -> bool:
        """Whether it was ready and should be still: it counts, and its node still reports."""
        return self.start_seconds is not None and self.counts and not self.pod.node_silent

    @property
    def terminates_by(self) -> float:
        """When its time to terminate is over, -inf if it is not being deleted.

        By the gate's own clock: the deletion's time is the server's.
        """
        deletion = self.pod.deletion
        return self.deleting_since + (deletion.grace_seconds if deletion is not None else 0.0)

    @property
    def is_held(self) -> bool:
        """Whether it is being deleted, and nothing but its finalizers keeps it."""
        return self.pod.deletion is not None and self.pod.deletion.is_held

    def with_all_restarts(self) -> PodTrack:
        """Return the track with the restarts from before our write counted as well."""
        containers = ((name, one.with_all_restarts()) for name, one in self.containers.items())
        return replace(self, containers=FrozenMap(containers))

    def with_history_from(self, at: float) -> PodTrack:
        """Return the track with its history starting `at`, the moment of our write."""
        restarts = {status.name: status.restarts for status in self.pod.containers}
        containers = FrozenMap(
            (
                name,
                replace(
                    kept,
                    restarts_before=restarts.get(name, kept.restarts_before),
                    waiting_since=at,
                ),
            )
            for name, kept in self.containers.items()
        )
        start_seconds = _start_seconds(self.pod, 0.0) if self.pod.ready else None
        return PodTrack(
            self.pod,
            self.seen_at,
            containers,
            start_seconds=start_seconds,
            deleting_since=self.deleting_since,
        )

    def with_pull_message(self, message: str) -> PodTrack:
        """Take the cause of a failed pull from its event, which often comes before the status.

        `ImagePullBackOff` carries no cause before Kubernetes 1.32.
        """
        running = {status.name for status in self.pod.containers if status.running}
        containers = FrozenMap(
            (name, kept if name in running else replace(kept, pull_message=message))
            for name, kept in self.containers.items()
        )
        return replace(self, containers=containers)

    def restarts(self, status: ContainerStatus) -> int:
        """Count the restarts of a container since our write."""
        return max(0, status.restarts - self.containers[status.name].restarts_before)

    def restarts_seen(self, status: ContainerStatus) -> int:
        """Count the restarts of a container since the run saw it first, on either leg."""
        return max(0, status.restarts - self.containers[status.name].restarts_unseen)


def first_track(at: float, pod: Pod, *, written: bool) -> PodTrack:
    """Start a history; a pod that came after our write had no restart before it."""
    unseen = {status.name: 0 if written else status.restarts for status in pod.containers}
    containers = FrozenMap(
        (name, ContainerTrack(count, restarts_unseen=count)) for name, count in unseen.items()
    )
    return next_track(at, PodTrack(pod, at, containers), pod)


def next_track(at: float, track: PodTrack, pod: Pod) -> PodTrack:
    """Continue a history after the pod was seen again."""
    containers = track.containers
    for status in pod.containers:
        kept = containers.get(status.name)
        after = _next_container(at, kept or ContainerTrack(0), status)
        if after is not kept:
            containers = containers.put(status.name, after)
    losses = track.readiness_losses + _readiness_lost(track.pod, pod)
    start_seconds = track.start_seconds
    if start_seconds is None and pod.ready:
        start_seconds = _start_seconds(pod, at - track.seen_at)
    since = at if _is_lost(pod) and not _is_lost(track.pod) else track.unready_since
    deleting_since = track.deleting_since
    if pod.deleting and math.isinf(deleting_since):
        deleting_since = at
    return PodTrack(pod, track.seen_at, containers, losses, start_seconds, since, deleting_since)


def _start_seconds(pod: Pod, seen_seconds: float) -> float:
    """Return how long a pod took to get ready: as seen, or as it says itself if that is longer."""
    return max(seen_seconds, pod.start_seconds or 0.0)


def _is_lost(pod: Pod) -> bool:
    """Tell whether a pod's own kubelet says that it is not ready."""
    return not pod.ready and not pod.node_silent


def _readiness_lost(before: Pod, after: Pod) -> bool:
    """Tell whether a probe fails again; a crash counts as a restart instead."""
    if not before.ready or after.ready or after.deleting:
        return False
    restarts = {status.name: status.restarts for status in before.containers}
    return all(
        status.init or (status.running and status.restarts == restarts.get(status.name))
        for status in after.containers
    )


def _next_container(at: float, kept: ContainerTrack, status: ContainerStatus) -> ContainerTrack:
    waiting = waiting_class(status.waiting_reason)
    message = "" if status.running else kept.pull_message
    if waiting == "pull" and status.waiting_reason != "ImagePullBackOff":
        message = status.waiting_message or message
    if waiting == kept.waiting and message == kept.pull_message:
        return kept
    since = kept.waiting_since if waiting == kept.waiting else at
    return replace(kept, waiting=waiting, waiting_since=since, pull_message=message)
