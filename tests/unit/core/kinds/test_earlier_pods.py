"""What pods tell of a version before its Deployment was scaled up, where no condition does."""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import ReplicaSet
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Known
from gate.core.model.objects import Pod
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.observations import Observed
from tests.unit.core.world import WEB, condition, deployment, old_replica_set, pod, replica_set

UNAVAILABLE = condition("Available", "False", "MinimumReplicasUnavailable")
DENIED = condition("ReplicaFailure", "True", "FailedCreate")


def _pod(number: int, born: str, start_seconds: float | None = None) -> Pod:
    """Return a pod that was created at a time of day; without a time to start it is not ready."""
    created_at = f"2026-11-21T{born}Z" if born else ""
    is_ready = start_seconds is not None
    return pod(number, ready=is_ready, start_seconds=start_seconds, created_at=created_at)


OLD = _pod(0, "12:00:00", 5.0)
SERVES = (OLD, _pod(1, "12:00:00", 9.0))


@pytest.mark.contract("B1750")
@pytest.mark.parametrize(
    ("pods", "serves"),
    [
        ((*SERVES, _pod(2, "12:01:00"), _pod(3, "12:01:01")), True),
        ((*SERVES, _pod(2, "12:01:00", 8.0), _pod(3, "12:01:01")), True),
        (SERVES, True),
        ((*SERVES, _pod(2, "12:00:00"), _pod(3, "12:00:00")), False),
        ((*SERVES, _pod(2, "12:00:09"), _pod(3, "12:00:09")), False),
        ((OLD, _pod(1, "12:00:00"), _pod(2, "12:01:00"), _pod(3, "12:01:00")), False),
        ((*SERVES, _pod(2, "12:01:00"), _pod(3, "")), False),
        ((), False),
    ],
    ids=[
        "later-pods",
        "one-of-the-later-pods-is-ready",
        "later-pods-are-not-created-yet",
        "all-created-together",
        "created-before-the-others-were-ready",
        "one-of-the-first-pods-is-not-ready",
        "a-pod-of-no-known-age",
        "pods-are-not-known",
    ],
)
def test_pods_tell_that_others_served_before_them(pods: tuple[Pod, ...], serves: bool) -> None:
    """No condition tells that the version was ever rolled out."""
    assert _serves(replica_set(available_replicas=2), *pods) is serves


@pytest.mark.contract("B1750")
def test_pods_that_cannot_be_created_are_no_later_ones() -> None:
    """A first rollout that a quota holds back lacks pods as well."""
    assert not _serves(replica_set(available_replicas=2, conditions=(DENIED,)), *SERVES)


@pytest.mark.contract("B1750")
def test_pods_tell_nothing_beside_those_of_another_version() -> None:
    """That one is being replaced, well or not."""
    other = old_replica_set(replicas=1, available_replicas=0)
    later = _pod(2, "12:01:00")
    assert not _serves(replica_set(available_replicas=2), *SERVES, later, beside=(other,))


def _serves(live: ReplicaSet, *pods: Pod, beside: tuple[ReplicaSet, ...] = ()) -> bool:
    found = unseen(WEB).fold(Observed(0.0, deployment(conditions=(UNAVAILABLE,))))
    for one in (live, *beside):
        found = found.fold(Observed(0.0, one))
    for each in pods:
        found = found.fold(Observed(0.0, each))
    return isinstance(baseline_of(found), Known)
