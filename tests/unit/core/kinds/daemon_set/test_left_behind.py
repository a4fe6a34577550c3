"""Which pod of a DaemonSet goes next, where a restored `OnDelete` would leave it."""

from __future__ import annotations

import pytest

from gate.core.kinds.daemon_set.objects import DaemonSet
from gate.core.model.objects import Watched
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import BlockingPod
from tests.unit.core.kinds.daemon_set.test_daemon_set import agent, node, pod, revision, seen

pytestmark = pytest.mark.contract("B1105")


def back(*, created: int, available: int) -> DaemonSet:
    """Return a DaemonSet for two nodes whose first version is restored, with `OnDelete`."""
    return agent(
        1,
        strategy={"type": "OnDelete"},
        desired=2,
        current=created,
        ready=created,
        updated=0,
        available=available,
    )


def find(live: DaemonSet, *things: Watched) -> BlockingPod | None:
    """Return the pod to replace next where the second version is taken back."""
    snapshot = seen(live, revision(1, 3), revision(2, 2), *things).take_back("ds/hash-2")
    return snapshot.kind.find_blocking_pod(snapshot, live, FailFast())


def test_a_pod_that_lingers_on_a_node_that_is_gone_stands_for_no_other() -> None:
    """Of two nodes `b` has no pod yet: what works on `a` stays, whoever else is listed."""
    live = back(created=1, available=1)
    there = (node("a"), node("b"), pod("a"))
    assert find(live, *there) is None
    assert find(live, *there, pod("gone")) is None


def test_a_pod_on_a_node_that_is_gone_holds_up_nothing() -> None:
    """Both nodes that are there have an available pod."""
    live = back(created=2, available=2)
    found = find(live, node("a"), node("b"), pod("a"), pod("b"), pod("gone"))
    assert found is not None
    assert found.pod.node == "a"


def test_a_pod_that_is_ready_but_not_available_yet_holds_up_the_next() -> None:
    """It has not been ready for `minReadySeconds`, which the status alone knows."""
    there = (node("a"), node("b"), pod("a"), pod("b"))
    assert find(back(created=2, available=1), *there) is None
