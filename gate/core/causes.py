"""What is wrong with pods and ReplicaSets, why, and when it is beyond hope.

A `Trouble` is one pod's or ReplicaSet's; a `Cause` is what a reader is told, most telling
first. Only containers of the Deployment's own template can doom a pod: an injected sidecar is
reported and left to the clocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gate.core.objects import CleanText, Condition, ContainerStatus, Template
from gate.core.outcome import Reason
from gate.core.policy import FailFast
from gate.core.tracks import PodTrack

_MOST_TELLING = (
    Reason.OUT_OF_MEMORY,
    Reason.CRASH_LOOP,
    Reason.IMAGE_PULL,
    Reason.CONTAINER_CONFIG,
    Reason.POD_CREATE_DENIED,
    Reason.REPLICA_SET_CREATE_ERROR,
    Reason.UNSCHEDULABLE,
    Reason.READINESS_LOST,
    Reason.CONTROLLER_NOT_OBSERVING,
    Reason.CONFLICT,
    Reason.NOT_READY,
)
NEVER = math.inf
"""A trouble that only the clocks decide."""
ALREADY = -math.inf
"""A trouble that is beyond hope whatever the time."""

_REFUSED_PULL = (
    "not found",
    "manifest unknown",
    "name unknown",
    "repository does not exist",
    "unauthorized",
    "denied",
    "forbidden",
    "no basic auth credentials",
    "authorization failed",
    "no match for platform",
    "invalid reference format",
)
"""What registries and runtimes (containerd, CRI-O, Docker) say when trying again is no use."""

_UNREACHABLE_WEBHOOK = ("failed calling webhook", "failed to call webhook")


@dataclass(frozen=True, slots=True)
class Cause:
    """What was wrong underneath; `pods` counts the pods it holds for, 0 where it is of none."""

    reason: Reason
    message: CleanText
    pods: int = 0


@dataclass(frozen=True, slots=True)
class Trouble:
    """One pod's trouble; beyond hope from `ripe_at` (monotonic seconds) on.

    `cause` says what is wrong, `rule` what the verdict's reason becomes, `container` is "" where
    the pod as a whole is meant.
    """

    cause: Reason
    rule: Reason
    message: CleanText
    pod: str
    container: str
    ripe_at: float


def trouble_of(track: PodTrack, template: Template, limits: FailFast) -> Trouble | None:
    """Return the most telling trouble of a pod, None for one that is ready and was never lost."""
    own = {container.name: container.image for container in template.containers}
    found = [
        trouble
        for status in track.pod.containers
        if (trouble := _container_trouble(track, status, own, limits)) is not None
    ]
    found.extend(_pod_troubles(track, limits))
    return min(found, key=lambda t: (t.ripe_at == NEVER, _rank(t.cause)), default=None)


def _container_trouble(
    track: PodTrack, status: ContainerStatus, own: Mapping[str, str], limits: FailFast
) -> Trouble | None:
    image = own.get(status.name, status.name)
    trouble = _waiting_trouble(track, status, image, limits) or _crash_trouble(track, status, limits)
    if trouble is None or status.name in own:
        return trouble
    message = CleanText(f"{trouble.message} (injected, not in the template)")
    return Trouble(
        trouble.cause, trouble.rule, message, trouble.pod, trouble.container, ripe_at=NEVER
    )


def _waiting_trouble(
    track: PodTrack, status: ContainerStatus, image: str, limits: FailFast
) -> Trouble | None:
    kept = track.containers[status.name]
    if not kept.waiting:
        return None
    if kept.waiting == "config":
        message = CleanText(f"{status.name}: {status.waiting_message or status.waiting_reason}")
        return _waiting(
            track, status, Reason.CONTAINER_CONFIG, message, limits.container_config_seconds
        )
    said = kept.pull_message or status.waiting_message or status.waiting_reason
    grace = limits.image_invalid_seconds if kept.waiting == "invalid" else _pull_grace(said, limits)
    message = CleanText(f"{image}: {_gist(said)}")
    return _waiting(track, status, Reason.IMAGE_PULL, message, grace)


def _gist(said: str) -> str:
    """Return what a pull failed of: the last clause of a runtime's chain of errors.

    containerd wraps the registry's answer four times, the image's name in each.
    """
    return said.rstrip(". ").rpartition(": ")[2] or said


def _waiting(
    track: PodTrack,
    status: ContainerStatus,
    reason: Reason,
    message: CleanText,
    grace_seconds: float | None,
) -> Trouble:
    since = track.containers[status.name].waiting_since
    ripe_at = NEVER if grace_seconds is None else since + grace_seconds
    return Trouble(reason, reason, message, track.pod.name, status.name, ripe_at)


def _pull_grace(said: str, limits: FailFast) -> float | None:
    lowered = said.lower()
    if any(sign in lowered for sign in _REFUSED_PULL):
        return limits.image_refused_seconds
    return limits.image_unclear_seconds


def _crash_trouble(track: PodTrack, status: ContainerStatus, limits: FailFast) -> Trouble | None:
    """Return a crash: trouble while it lasts, and for good from the third restart on."""
    restarts = track.restarts(status.name)
    limit = limits.crash_restarts
    doomed = limit is not None and restarts >= limit
    ended = status.terminated or status.last_terminated
    failing = not status.running and ended is not None and ended.exit_code != 0
    if not doomed and not failing:
        return None
    reason_text = ended.reason if ended is not None else ""
    exit_code = f"exit code {ended.exit_code}" if ended is not None else "exit code unknown"
    said = f": {ended.message}" if ended is not None and ended.message else ""
    times = "1 restart" if restarts == 1 else f"{restarts} restarts"
    name = f"init container {status.name}" if status.init else status.name
    message = CleanText(f"{name}: {reason_text or 'Error'}, {exit_code}, {times}{said}")
    cause = Reason.OUT_OF_MEMORY if reason_text == "OOMKilled" else Reason.CRASH_LOOP
    ripe_at = ALREADY if doomed else NEVER
    return Trouble(cause, Reason.CRASH_LOOP, message, track.pod.name, status.name, ripe_at)


def _pod_troubles(track: PodTrack, limits: FailFast) -> Iterable[Trouble]:
    pod = track.pod
    if pod.unschedulable:
        reason = Reason.UNSCHEDULABLE
        yield Trouble(reason, reason, pod.unschedulable, pod.name, "", NEVER)
    limit = limits.readiness_losses
    if limit is not None and track.readiness_losses >= limit:
        message = CleanText(f"readiness lost {track.readiness_losses} times")
        reason = Reason.READINESS_LOST
        yield Trouble(reason, reason, message, pod.name, "", ALREADY)
    if not pod.ready:
        message = CleanText("running, but not ready" if _runs(track) else "not started yet")
        yield Trouble(Reason.NOT_READY, Reason.NOT_READY, message, pod.name, "", NEVER)


def _runs(track: PodTrack) -> bool:
    return any(status.running and not status.init for status in track.pod.containers)


def denial_grace(failure: Condition, limits: FailFast) -> tuple[float | None, bool]:
    """Return how long a `ReplicaFailure` may stand, and whether progress starts it anew.

    Quota denials are normal while old pods still count, so only standing still is evidence.
    """
    if "exceeded quota" in failure.message:
        return limits.denied_by_quota_seconds, True
    if any(sign in failure.message for sign in _UNREACHABLE_WEBHOOK):
        return limits.denied_by_webhook_seconds, False
    return limits.denied_by_policy_seconds, False


def _rank(reason: Reason) -> int:
    return _MOST_TELLING.index(reason) if reason in _MOST_TELLING else len(_MOST_TELLING)


def summed(troubles: Iterable[Trouble], new_pods: int) -> tuple[Cause, ...]:
    """Sum troubles up, most telling first, then by the number of pods.

    The message is that of the first pod by name, with the share of the new pods.
    """
    by_reason: dict[Reason, list[Trouble]] = {}
    for trouble in troubles:
        by_reason.setdefault(trouble.cause, []).append(trouble)
    return tuple(
        _cause(reason, by_reason[reason], new_pods) for reason in sorted(by_reason, key=_rank)
    )


def _cause(reason: Reason, troubles: list[Trouble], new_pods: int) -> Cause:
    pods = len({trouble.pod for trouble in troubles})
    first = min(troubles, key=lambda trouble: trouble.pod)
    message = CleanText(f"{first.message} ({pods} of {new_pods} new pods)")
    return Cause(reason, message, pods)


def ordered(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Order causes, most telling first."""
    return tuple(sorted(causes, key=lambda cause: _rank(cause.reason)))
