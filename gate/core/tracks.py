"""The history of pods since we look: since when each waits and for what, how often it failed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gate.core.body import FrozenMap
from gate.core.objects import Pod

_PULL_WAITING = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable"}
)
_NEVER_VALID = frozenset({"InvalidImageName", "ErrImageNeverPull"})
_CONFIG_WAITING = frozenset(
    {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)


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

    `waiting_since` is when it began to wait for `waiting` (monotonic seconds; kept while a pull
    error and its back-off alternate), `pull_message` the last message that names a cause.
    """

    restarts_before: int
    waiting: str = ""
    waiting_since: float = 0.0
    pull_message: str = ""


@dataclass(frozen=True, slots=True)
class PodTrack:
    """A pod and its history since we look."""

    pod: Pod
    seen_at: float
    containers: FrozenMap[str, ContainerTrack]
    readiness_losses: int = 0

    def begun(self) -> PodTrack:
        """Return the track with its history starting here, at our write."""
        containers = FrozenMap(
            (name, replace(kept, restarts_before=_restarts(self.pod, name)))
            for name, kept in self.containers.items()
        )
        return PodTrack(self.pod, self.seen_at, containers)

    def with_pull_message(self, message: str) -> PodTrack:
        """Take the cause of a failed pull from its event.

        `ImagePullBackOff` carries no cause before Kubernetes 1.32.
        """
        containers = {
            name: replace(kept, pull_message=message) if kept.waiting == "pull" else kept
            for name, kept in self.containers.items()
        }
        return replace(self, containers=FrozenMap(containers))

    def restarts(self, container: str) -> int:
        """Count the restarts of a container since our write."""
        before = self.containers[container].restarts_before
        for status in self.pod.containers:
            if status.name == container:
                return max(0, status.restarts - before)
        return 0


def _restarts(pod: Pod, container: str) -> int:
    return next((status.restarts for status in pod.containers if status.name == container), 0)


def first_track(at: float, pod: Pod, *, written: bool) -> PodTrack:
    """Start a history; a pod that came after our write had no restart before it."""
    containers = {}
    for status in pod.containers:
        before = 0 if written else status.restarts
        containers[status.name] = ContainerTrack(before)
    return next_track(at, PodTrack(pod, at, FrozenMap(containers)), pod)


def next_track(at: float, track: PodTrack, pod: Pod) -> PodTrack:
    """Go on with a history after the pod was seen again."""
    containers = {}
    for status in pod.containers:
        kept = track.containers.get(status.name) or ContainerTrack(0)
        waiting = waiting_class(status.waiting_reason)
        if waiting != kept.waiting:
            kept = replace(kept, waiting=waiting, waiting_since=at)
        if waiting == "pull" and status.waiting_reason != "ImagePullBackOff":
            kept = replace(kept, pull_message=status.waiting_message)
        containers[status.name] = kept
    lost = track.pod.ready and not pod.ready and not pod.deleting
    return PodTrack(
        pod,
        track.seen_at,
        FrozenMap(containers) if containers else track.containers,
        track.readiness_losses + lost,
    )
