"""The workers: scheduling, ordinals, events that count up, deletion, and sources of wishes."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.kubelet.stage import Stage, deleted, pod


def test_pods_are_spread_over_the_nodes() -> None:
    """Each pod goes to the node with the fewest; a pod that goes makes room."""
    stage = Stage(nodes=("a", "b")).run(pod("1"), pod("2"), pod("3"))
    assert stage.binds() == [("1", "a"), ("2", "b"), ("3", "a")]
    stage.workers.lose(pod("1"))
    stage.workers.lose(pod("3"))
    stage.run(pod("4"))
    assert stage.binds()[-1] == ("4", "a")


def test_only_the_first_pods_of_a_replicaset_suffer() -> None:
    """`only=1` is for the first pod; its replacement comes later and is well."""
    stage = Stage().run(pod("1", asked="never-ready;only=1"), pod("2", asked="never-ready;only=1"))
    assert [told for _, told in stage.trail()] == ["running", "ready"]


@pytest.mark.parametrize(
    ("asked", "grace_seconds", "at"),
    [
        ("", 30, 5.03),
        ("", 0, 5.0),
        ("slow-termination=3", 30, 8.0),
        ("slow-termination=3m", 30, 35.0),
    ],
)
def test_a_deleted_pod_takes_its_time_within_its_grace(
    asked: str, grace_seconds: int, at: float
) -> None:
    """Deletion waits for the containers, at most for the grace period; the pod goes once."""
    item = pod(asked=asked)
    stage = Stage().run(item, seconds=5)
    stage.run(deleted(item, grace_seconds), deleted(item, grace_seconds), seconds=100)
    assert stage.removals() == [(at, "web-1")]


@pytest.mark.parametrize(
    ("asked", "said"),
    [("crush", "no such behaviour: crush"), ("crash;container=db", "no such container: db")],
)
def test_a_wish_that_makes_no_sense_is_said_once(asked: str, said: str) -> None:
    """The kubelet writes an event and leaves the pod as it is."""
    item = pod(asked=asked)
    stage = Stage().run(item, seconds=5)
    stage.workers.reconsider()
    [event] = stage.events()
    assert event.event["reason"] == "BadBehaviour"
    assert said in event.event["message"]
    assert not stage.binds()


def test_a_pod_is_evicted_on_demand() -> None:
    """A pod that is named fails as if memory were short; an unknown name changes nothing."""
    stage = Stage().run(pod(), seconds=1)
    stage.workers.evict("shop", "web-1")
    stage.workers.evict("shop", "web-2")
    assert stage.status()["reason"] == "Evicted"


def test_nothing_is_kept_of_pods_that_went() -> None:
    """A pod that went and one of its name that comes are two: events begin anew."""
    item = pod(asked="mount-error")
    stage = Stage().run(item)
    stage.workers.lose(item)
    stage.run(item)
    assert [event.again for event in stage.events()] == [False, False]
    assert stage.workers.log("shop", "web-1", "db") is None
