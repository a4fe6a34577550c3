"""What keeps the controllers from rolling out: no ReplicaSet created, pods denied.

Each has its own grace, counted from when it was first seen after our write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gate.core.model.objects import Condition, Deployment
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import NEVER, Cause
from gate.core.rollout.policy import FailFast
from gate.core.rollout.progress import Progress
from gate.core.rollout.snapshot import Snapshot

_UNREACHABLE_WEBHOOK = ("failed calling webhook", "failed to call webhook")


@dataclass(frozen=True, slots=True)
class Hindrances:
    """Since when the ReplicaSet of the live template cannot be created."""

    create_error_since: float | None = None

    def fold(self, at: float, live: Deployment) -> Hindrances:
        """Return what hinders after `live` was seen."""
        if create_error(live) is None:
            return Hindrances()
        return self if self.create_error_since is not None else Hindrances(at)

    def fatal(self, live: Deployment, limits: FailFast, now: float) -> Cause | None:
        """Return a create error past its grace; it may show before our generation is observed."""
        erring = create_error(live)
        if erring is None or now < self.create_error_ripe_at(limits):
            return None
        return Cause(Reason.REPLICA_SET_CREATE_ERROR, erring.message)

    def create_error_ripe_at(self, limits: FailFast) -> float:
        """Return when a ReplicaSet that cannot be created is beyond hope."""
        grace = limits.replica_set_create_seconds
        if self.create_error_since is None or grace is None:
            return NEVER
        return self.create_error_since + grace

    def causes(self, snapshot: Snapshot) -> Iterator[Cause]:
        """Iterate what hinders now."""
        failure, live = denial(snapshot), snapshot.live
        if failure is not None:
            yield Cause(Reason.POD_CREATE_DENIED, failure.message)
        erring = create_error(live) if live is not None else None
        if erring is not None:
            yield Cause(Reason.REPLICA_SET_CREATE_ERROR, erring.message)


def create_error(live: Deployment) -> Condition | None:
    """Return the condition that says that the new ReplicaSet cannot be created.

    The deployment controller writes it without raising `observedGeneration`.
    """
    found = live.condition("Progressing")
    return found if found is not None and found.reason == "ReplicaSetCreateError" else None


def denial(snapshot: Snapshot) -> Condition | None:
    """Return what keeps the ReplicaSet of the live template from creating pods."""
    current = snapshot.current()
    return current.failure if current is not None else None


def is_quota(failure: Condition) -> bool:
    """Tell whether a quota denies: normal while old pods still count, so no evidence by itself."""
    return "exceeded quota" in failure.message


def denial_grace(failure: Condition, limits: FailFast) -> tuple[float | None, bool]:
    """Return how long a `ReplicaFailure` may last, and whether progress restarts that time.

    Quotas and unreachable webhooks recover by themselves, so only a standstill counts against them.
    """
    if is_quota(failure):
        return limits.denied_by_quota_seconds, True
    if any(sign in failure.message for sign in _UNREACHABLE_WEBHOOK):
        return limits.denied_by_webhook_seconds, True
    return limits.denied_by_policy_seconds, False


def denial_ripe_at(snapshot: Snapshot, progress: Progress, limits: FailFast) -> float:
    """Return when the denial of the live template's pods is beyond hope."""
    failure = denial(snapshot)
    if failure is None:
        return NEVER
    grace, progress_counts = denial_grace(failure, limits)
    since = snapshot.denied_since[snapshot.current_uid]
    if progress_counts:
        since = max(since, progress.last_clock)
    return NEVER if grace is None else since + grace


def fatal_denial(
    snapshot: Snapshot, progress: Progress, limits: FailFast, now: float
) -> Cause | None:
    """Return the denial of pods once it is past its grace, None before."""
    failure = denial(snapshot)
    if failure is None or now < denial_ripe_at(snapshot, progress, limits):
        return None
    return Cause(Reason.POD_CREATE_DENIED, failure.message)
