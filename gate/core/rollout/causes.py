"""What is wrong with pods, why, and when it is unrecoverable.

A `Trouble` is one pod's; a `Cause` is what a reader sees, of pods or of a controller, most
telling first. Only containers of the workload's own template can doom a pod: an injected sidecar is
reported and left to the clocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText, ContainerStatus, Template, Termination
from gate.core.model.outcome import LESS_TELLING, MORE_TELLING, AnyReason, Reason
from gate.core.model.remedy import Remedy
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast

_RANK_OF_KINDS = len(MORE_TELLING)
"""The rank of what a kind of workload brings."""
_RANK: Mapping[AnyReason, int] = {
    **{reason: rank for rank, reason in enumerate(MORE_TELLING)},
    **{reason: rank for rank, reason in enumerate(LESS_TELLING, _RANK_OF_KINDS + 1)},
}
NEVER = math.inf
"""A trouble that only the clocks decide."""
ALREADY = -math.inf
"""A trouble that is unrecoverable at any time."""

_NO_REFERENCE = "invalid reference format"
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
    _NO_REFERENCE,
)
"""What registries and runtimes (containerd, CRI-O, Docker) say when trying again is no use."""

_PASSING_PULL = (
    "toomanyrequests",
    "too many requests",
    "rate limit",
    "quota exceeded",
    "timeout",
    "timed out",
    "deadline exceeded",
    "internal server error",
    "bad gateway",
    "service unavailable",
)
"""What they say when it may well help; it comes first, as a registry's 429 can say `denied` too."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The container that a message says has ended.

    `has_last_words` if the message contains what the container left as its termination message;
    the share of the pods may follow.
    """

    container: str
    is_init: bool
    has_last_words: bool


@dataclass(frozen=True, slots=True)
class Cause:
    """What was wrong underneath; `pods` counts the affected pods, 0 if it is not about pods.

    `subject` is the one object that has to change or go, as `pod/db-1`; "" if no single one does.
    `remedy` is what it takes, where that is to replace pods. `check` is the name of the health
    check that says it, "" for none. `seen` is the reason of what was found before an interruption.
    `crash` is the container that ended, where the message is about one that did.
    """

    reason: AnyReason
    message: CleanText
    pods: int = 0
    subject: str = ""
    remedy: Remedy = Remedy.NONE
    check: str = ""
    seen: AnyReason | None = None
    crash: Crash | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """One pod's trouble; unrecoverable from `ripe_at` (monotonic seconds) on.

    `cause` says what is wrong, `rule` what the verdict's reason becomes, `container` is "" if the
    pod as a whole is meant. `own` is false for containers that the template does not name.
    """

    cause: Reason
    rule: Reason
    message: CleanText
    pod: str
    container: str
    ripe_at: float
    own: bool = True
    crash: Crash | None = None


def trouble_of(track: PodTrack, template: Template, limits: FailFast) -> Trouble | None:
    """Return the trouble that dooms a pod first, or the most telling one; None if it is well.

    A pod is well if it is ready, its containers run, and it did not lose its readiness too often.
    """
    found = [
        trouble
        for status in track.pod.containers
        if (trouble := _container_trouble(track, status, template, limits)) is not None
    ]
    found.extend(_pod_troubles(track, limits))
    if len(found) <= 1:
        return found[0] if found else None
    return min(found, key=lambda trouble: (trouble.ripe_at, _rank(trouble.cause)))


def crash_of(track: PodTrack, template: Template) -> Trouble | None:
    """Return the crash of a container of the template since our write that is not ready again.

    Unlike a trouble, this still holds at the moment when the kubelet has restarted the container.
    """
    return next(
        (
            _describe_crash(track, status, status.last_terminated, NEVER)
            for status in track.pod.containers
            if not status.ready
            and track.restarts(status) > 0
            and status.last_terminated is not None
            and status.last_terminated.exit_code != 0
            and _image_of(template, status.name) is not None
        ),
        None,
    )


def _container_trouble(
    track: PodTrack, status: ContainerStatus, template: Template, limits: FailFast
) -> Trouble | None:
    if status.running and not status.restarts:
        return None
    image = _image_of(template, status.name)
    trouble = _waiting_trouble(track, status, image or status.name, limits)
    trouble = trouble or _crash_trouble(track, status, limits)
    if trouble is None or image is not None:
        return trouble
    message = CleanText(f"{trouble.message} (injected, not in the template)")
    return replace(trouble, message=message, ripe_at=NEVER, own=False)


def _image_of(template: Template, container_name: str) -> str | None:
    for container in template.containers:
        if container.name == container_name:
            return container.image
    return None


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
    """Return why a pull failed: the last clause of a runtime's chain of errors.

    containerd wraps the registry's answer four times, each time with the image's name. A kubelet
    says behind `invalid reference format` what of the name is invalid.
    """
    if (at := said.find(_NO_REFERENCE)) >= 0:
        return said[at:].rstrip(". ")
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
    """Tell a refusal from a passing error by the words around the image's name, not by the name."""
    words = " ".join(word for word in said.lower().split() if "/" not in word)
    if any(sign in words for sign in _PASSING_PULL):
        return limits.image_unclear_seconds
    if any(sign in words for sign in _REFUSED_PULL):
        return limits.image_refused_seconds
    return limits.image_unclear_seconds


def _crash_trouble(track: PodTrack, status: ContainerStatus, limits: FailFast) -> Trouble | None:
    """Return a crash: trouble while it lasts, unrecoverable from restart `crash_restarts` on."""
    restarts = track.restarts(status)
    limit = limits.crash_restarts
    doomed = limit is not None and restarts >= limit
    ended = status.terminated or status.last_terminated
    failing = not status.running and ended is not None and ended.exit_code != 0
    if not doomed and not failing:
        return None
    return _describe_crash(track, status, ended, ALREADY if doomed else NEVER)


def _describe_crash(
    track: PodTrack, status: ContainerStatus, ended: Termination | None, ripe_at: float
) -> Trouble:
    reason_text = ended.reason if ended is not None else ""
    exit_code = f"exit code {ended.exit_code}" if ended is not None else "exit code unknown"
    said = f": {ended.message}" if ended is not None and ended.message else ""
    times = _times(track.restarts_seen(status), status.restarts)
    name = f"init container {status.name}" if status.init else status.name
    message = CleanText(f"{name}: {reason_text or 'Error'}, {exit_code}, {times}{said}")
    cause = Reason.OUT_OF_MEMORY if reason_text == "OOMKilled" else Reason.CRASH_LOOP
    crash = Crash(status.name, status.init, bool(said))
    pod = track.pod.name
    return Trouble(cause, Reason.CRASH_LOOP, message, pod, status.name, ripe_at, crash=crash)


def _times(seen: int, of: int) -> str:
    """Say that a container restarted `of` times, `seen` of these while this run watched."""
    if not of:
        return "not restarted yet"
    said = "1 restart" if of == 1 else f"{of} restarts"
    if seen == of:
        return said
    return f"{said}, {seen or 'none'} of them while this run watched"


def _pod_troubles(track: PodTrack, limits: FailFast) -> Iterator[Trouble]:
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
        reason, text = _describe_unready(track)
        yield Trouble(reason, reason, CleanText(text), pod.name, "", NEVER)


def _describe_unready(track: PodTrack) -> tuple[Reason, str]:
    """Say how far a pod that is not ready has come: only what has run can be blamed for it."""
    own = [status for status in track.pod.containers if not status.init]
    if any(status.running for status in own):
        return Reason.NOT_READY, "running, but not ready"
    if any(status.restarts or status.terminated or status.last_terminated for status in own):
        return Reason.NOT_READY, "its containers have ended, and it is not ready"
    return Reason.NOT_STARTED, "not started yet"


def _rank(reason: AnyReason) -> int:
    rank = _RANK.get(reason)
    if rank is not None:
        return rank
    return len(_RANK) + 1 if isinstance(reason, Reason) else _RANK_OF_KINDS


def sum_up_troubles(troubles: Iterable[Trouble], new_pods: int) -> tuple[Cause, ...]:
    """Sum up the troubles of pods, one each, most telling first.

    Each message is that of the pod that is unrecoverable first, of several the first by name, with
    the share of the new pods.
    """
    first: dict[Reason, Trouble] = {}
    pods: dict[Reason, int] = {}
    for trouble in troubles:
        cause = trouble.cause
        known = first.get(cause)
        if known is None or (trouble.ripe_at, trouble.pod) < (known.ripe_at, known.pod):
            first[cause] = trouble
        pods[cause] = pods.get(cause, 0) + 1
    if not first:
        return ()
    return tuple(
        _cause_of(first[cause], pods[cause], new_pods) for cause in sorted(first, key=_rank)
    )


def _cause_of(trouble: Trouble, pods: int, new_pods: int) -> Cause:
    message = CleanText(f"{trouble.message} ({pods} of {new_pods} created pods)")
    return Cause(trouble.cause, message, pods, crash=trouble.crash)


def order_causes(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Order causes, most telling first."""
    return tuple(sorted(causes, key=lambda cause: _rank(cause.reason)))
