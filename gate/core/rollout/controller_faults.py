"""What keeps controllers from rolling out, as faults with a grace each.

A grace counts from when its fault was first seen after our write. What the faults of a kind are,
the kind itself says (`WorkloadKind.faults`); how long pods may be denied is the same for all.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText, ClusterEvent, Pod
from gate.core.model.outcome import AnyReason, Reason
from gate.core.model.remedy import Remedy
from gate.core.rollout.causes import NEVER, Cause, Trouble
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast

_MOST_NAMED = 5
_OF_AN_EVENT = "Error creating: "
_UNREACHABLE_WEBHOOK = ("failed calling webhook", "failed to call webhook")


class Denier(enum.Enum):
    """What denies a pod, by the server's words."""

    FULL_QUOTA = enum.auto()
    """A quota has no room for it."""
    DEMANDING_QUOTA = enum.auto()
    """A quota asks for requests or limits that its containers leave out (`failed quota`)."""
    UNREACHABLE_WEBHOOK = enum.auto()
    OTHER = enum.auto()
    """A policy, a webhook, bounds of a LimitRange, a service account that is not there, ..."""

    @classmethod
    def of(cls, message: str) -> Denier:
        """Return what denies a pod with that message, which may stand in a longer one."""
        if "exceeded quota" in message:
            return cls.FULL_QUOTA
        if "failed quota" in message and "must specify" in message:
            return cls.DEMANDING_QUOTA
        if any(sign in message for sign in _UNREACHABLE_WEBHOOK):
            return cls.UNREACHABLE_WEBHOOK
        return cls.OTHER


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that keeps a controller from rolling out.

    It is unrecoverable after `grace_seconds`, None for never. They count from `since`, by the clock
    of `Blindness`; None: since it was first seen. `progress_restarts`: any progress restarts them.
    `shows_early`: it is about our version even before the controller reports our generation.
    `is_evidence`: it speaks against the version before its grace is over. `subject` is the one
    object that has to change or go before anything moves, as `pod/db-1`, "" if no single one does;
    `remedy` is what it takes, where that is to replace pods. `is_usual`: every rollout meets it, so
    that it is a cause only where a clock ends.
    """

    reason: AnyReason
    message: CleanText
    grace_seconds: float | None = None
    since: float | None = None
    progress_restarts: bool = False
    shows_early: bool = False
    is_evidence: bool = False
    subject: str = ""
    remedy: Remedy = Remedy.NONE
    is_usual: bool = False

    def cause(self) -> Cause:
        """Return it as a reader sees it."""
        return Cause(self.reason, self.message, subject=self.subject, remedy=self.remedy)


@dataclass(frozen=True, slots=True)
class Hindrances:
    """What keeps a controller from rolling out now; since when, where no object says that.

    `seen_since` has, by reason, when a fault with a grace was first seen.
    """

    faults: tuple[Fault, ...] = ()
    seen_since: FrozenMap[AnyReason, float] = field(default_factory=FrozenMap)

    def fold(self, at: float, faults: tuple[Fault, ...]) -> Hindrances:
        """Return it after `faults` were seen at `at`, which are all that hold now."""
        known = self.seen_since
        counting = (one for one in faults if one.grace_seconds is not None and one.since is None)
        reasons = {fault.reason for fault in counting}
        if reasons == known.keys():
            return self.with_faults(faults)
        since = FrozenMap((reason, known.get(reason, at)) for reason in reasons)
        return Hindrances(faults, since)

    def with_faults(self, faults: tuple[Fault, ...]) -> Hindrances:
        """Return it with the faults that hold now; no grace begins or ends by this."""
        return self if faults == self.faults else Hindrances(faults, self.seen_since)

    def fatal(self, progress_clock: float, now: float, *, observed: bool) -> Cause | None:
        """Return the first fault past its grace; `observed`: our generation is observed."""
        for fault in self.faults:
            if (observed or fault.shows_early) and now >= self._ripe_at(fault, progress_clock):
                return fault.cause()
        return None

    def ripe_times(self, progress_clock: float) -> Iterator[float]:
        """Iterate the times at which faults become unrecoverable."""
        return (self._ripe_at(fault, progress_clock) for fault in self.faults)

    def _ripe_at(self, fault: Fault, progress_clock: float) -> float:
        since = fault.since if fault.since is not None else self.seen_since.get(fault.reason)
        if since is None or fault.grace_seconds is None:
            return NEVER
        if fault.progress_restarts:
            since = max(since, progress_clock)
        return since + fault.grace_seconds


def name_with_revision(pod: Pod, alike: Iterable[Pod]) -> str:
    """Name a pod and its revision, and those out of `alike` that are of the same one."""
    label = pod.revision_label
    others = sorted(one.name for one in alike if one != pod and one.revision_label == label)
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    also = f" (also {', '.join(others[:_MOST_NAMED])}{more})" if others else ""
    return f"{pod.name} of revision {label or 'unknown'}{also}"


def cause_of_pod_left(pod: Pod, alike: Iterable[Pod], trouble: Trouble | None = None) -> Cause:
    """Return that by OnDelete a pod stays as it is until a person deletes it; `alike` as above."""
    said = f": {trouble.message}" if trouble is not None else ""
    stays = f"{name_with_revision(pod, alike)} stays until somebody deletes it"
    message = CleanText(f"{stays}: the strategy is OnDelete{said}")
    subject, remedy = f"pod/{pod.name}", Remedy.DELETE_POD
    return Cause(Reason.BLOCKED_BY_POD, message, subject=subject, remedy=remedy)


def find_ending_pods(tracks: Iterable[PodTrack], is_new: Callable[[Pod], bool]) -> Iterator[Fault]:
    """Yield why no other takes the place of pods that are being deleted; each reason once for all.

    They stay for their finalizers, or are old and have not ended. The clocks decide: whoever set
    the finalizers may remove them at any time.
    """
    ending = [one for one in tracks if one.pod.deleting]
    if not ending:
        return
    if len(ending) > 1:
        ending.sort(key=lambda one: one.pod.name)
    held: list[Pod] = []
    unheld: list[Pod] = []
    for one in ending:
        (held if one.is_held else unheld).append(one.pod)
    if held:
        message = f"pod/{held[0].name} is {describe_deletion(held[0])}{_and_more(held)}"
        subject = f"pod/{held[0].name}"
        yield Fault(Reason.BLOCKED_BY_FINALIZER, CleanText(message), subject=subject)
    old = [pod for pod in unheld if not is_new(pod)]
    if old:
        message = f"{_describe_termination(old[0])}{_and_more(old)}"
        subject = f"pod/{old[0].name}"
        yield Fault(
            Reason.BLOCKED_BY_TERMINATION, CleanText(message), subject=subject, is_usual=True
        )


def _and_more(pods: Sequence[Pod]) -> str:
    return f", and {len(pods) - 1} more" if len(pods) > 1 else ""


def _describe_termination(pod: Pod) -> str:
    """Say that a pod has not ended, where, and how long it may take."""
    where = f" on node/{pod.node}" if pod.node else ""
    seconds = pod.deletion.grace_seconds if pod.deletion is not None else 0.0
    limit = f" (it may take {seconds:.0f} s)" if seconds else ""
    return f"pod/{pod.name}{where} is being deleted, and has not ended{limit}"


def describe_deletion(pod: Pod) -> str:
    """Say that a pod is being deleted, and what keeps it where that is nothing but finalizers."""
    if pod.deletion is None or not pod.deletion.is_held:
        return "being deleted"
    names, several = ", ".join(pod.deletion.finalizers), len(pod.deletion.finalizers) > 1
    what = f"its finalizers {names} are" if several else f"its finalizer {names} is"
    return f"being deleted, and stays until {what} removed"


def find_denial(denials: Iterable[ClusterEvent], pods: Iterable[PodTrack]) -> ClusterEvent | None:
    """Return the latest event that a pod of an owner could not be created, None without one.

    Events outlive what they report: none counts once a pod of the owner was created, of its `pods`.
    """
    latest = max(denials, key=lambda event: event.at, default=None)
    if latest is None or any(track.pod.created_at >= latest.at for track in pods):
        return None
    return latest


def denial_of_pods(message: str, since: float | None, limits: FailFast) -> Fault:
    """Return that pods are denied, with the grace for what denies them; `since` as of a `Fault`.

    `message` is that of a condition or an event: of the latter the server's words count.

    Full quotas and unreachable webhooks recover by themselves, so only a standstill counts against
    them. A full quota also denies while old pods still count, so it is no evidence by itself.
    """
    message = message.rpartition(_OF_AN_EVENT)[2]
    denier = Denier.of(message)
    grace_seconds = {
        Denier.FULL_QUOTA: limits.denied_by_quota_seconds,
        Denier.UNREACHABLE_WEBHOOK: limits.denied_by_webhook_seconds,
    }.get(denier, limits.denied_by_policy_seconds)
    return Fault(
        Reason.POD_CREATE_DENIED,
        CleanText(message),
        grace_seconds,
        since,
        progress_restarts=denier in (Denier.FULL_QUOTA, Denier.UNREACHABLE_WEBHOOK),
        is_evidence=denier is not Denier.FULL_QUOTA,
    )
