"""What is known of a Deployment: a fold that takes what is about it and bounds what it keeps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.kinds.deployment.objects import DEPLOYMENT, REPLICA_SET, deployment_ref
from gate.core.kinds.registry import unseen
from gate.core.model.objects import Watched
from gate.core.rollout.event_history import MOST_EVENTS
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.snapshot import Snapshot
from tests.unit.core.world import (
    NAMESPACE,
    WEB,
    condition,
    container,
    crashing,
    deployment,
    later,
    old_replica_set,
    pod,
    replica_set,
    waiting,
    warning,
)


def seen(*things: Watched) -> Snapshot:
    """Return what is known after these were seen at 1 s."""
    snapshot = unseen(WEB)
    for thing in things:
        snapshot = snapshot.fold(Observed(1.0, thing))
    return snapshot


def test_what_is_not_about_it_is_left_out() -> None:
    """Another Deployment, another namespace, a list made for another one."""
    base = seen(deployment(), replica_set(), pod())
    other = deployment_ref(NAMESPACE, "api")
    for event in (
        Observed(2.0, deployment(ref=other, uid="api-uid")),
        Observed(2.0, replica_set(namespace="elsewhere", uid="x")),
        Observed(2.0, pod(namespace="elsewhere", uid="x")),
        Listed(2.0, Kind.POD, other, ()),
        Vanished(2.0, Kind.POD, "unknown"),
        Vanished(2.0, DEPLOYMENT, "unknown"),
    ):
        assert base.fold(event) is base


def test_older_versions_are_not_taken() -> None:
    """Neither of a ReplicaSet nor of a pod; where versions are no numbers, the latest word is."""
    base = seen(deployment(), later(replica_set(), 200), later(pod(), 200))
    for late in (later(replica_set(), 150, replicas=1), later(pod(), 150, ready=False)):
        assert base.fold(Observed(2.0, late)) is base
    opaque = seen(deployment(resource_version="abc"))
    web = deployment(resource_version="abb", replicas=9)
    assert opaque.fold(Observed(2.0, web)).live == web


def test_a_list_is_all_there_is() -> None:
    """What it no longer has is gone; ReplicaSets take their denial with them."""
    denied = condition("ReplicaFailure", "True", "FailedCreate", "no")
    base = seen(deployment(), replica_set(conditions=(denied,)), old_replica_set(), pod())
    assert set(base.denied_since) == {"web-2-uid"}
    listed = base.fold(Listed(2.0, REPLICA_SET, WEB, (old_replica_set(),)))
    assert (set(listed.revisions), set(listed.denied_since)) == ({"web-1-uid"}, set())
    assert listed.current() is None
    assert not base.fold(Listed(2.0, Kind.POD, WEB, ())).pods
    gone = base.fold(Vanished(2.0, REPLICA_SET, "web-2-uid"))
    assert (set(gone.revisions), set(gone.denied_since)) == ({"web-1-uid"}, set())


def test_warnings_are_kept_and_bounded() -> None:
    """Normal events tell nothing; of many warnings the latest stay."""
    event = warning(pod(), "BackOff", "again")
    assert not seen(replace(event, type="Normal")).events.latest
    snapshot = seen(*(replace(event, uid=f"e{number}") for number in range(MOST_EVENTS + 2)))
    assert len(snapshot.events.latest) == MOST_EVENTS
    assert "e0" not in snapshot.events.latest
    assert f"e{MOST_EVENTS + 1}" in snapshot.events.latest


@pytest.mark.contract("B90")
@pytest.mark.parametrize(
    ("reason", "message", "is_kept"),
    [
        ("Failed", "Failed to pull image x: not found", True),
        ("Failed", "Error: ErrImagePull", False),
        ("BackOff", "Back-off pulling image x", False),
    ],
)
def test_only_the_event_that_names_a_cause_tells_of_a_pull(
    reason: str, message: str, is_kept: bool
) -> None:
    """Kubelets write three events a failed pull; one has the registry's words."""
    starved = pod(0, waiting("ImagePullBackOff"), container("side"))
    snapshot = seen(starved, warning(starved, reason, message))
    tracks = snapshot.pods[starved.uid].containers
    assert tracks["web"].pull_message == (message if is_kept else "")
    assert tracks["side"].pull_message == ""


@pytest.mark.contract("B83")
def test_history_begins_at_the_write() -> None:
    """Restarts, lost readiness and waiting of before do not count; later pods start at none."""
    flapped = seen(deployment(), pod(0, crashing(5)), later(pod(0, crashing(5)), 200, ready=True))
    flapped = flapped.fold(Observed(2.0, later(pod(0, container(ready=False)), 300)))
    begun = flapped.begin(10.0)
    after = begun.fold(Observed(11.0, pod(1, crashing(2))))
    old, new = after.pods["p0-uid"], after.pods["p1-uid"]
    assert (old.readiness_losses, old.restarts(old.pod.containers[0])) == (0, 0)
    assert new.restarts(new.pod.containers[0]) == 2
    assert old.containers["web"].waiting_since == 10.0


def test_a_pod_without_statuses_keeps_what_was_counted_of_it() -> None:
    """A kubelet that forgets for a moment does not turn old restarts into new ones."""
    bare = replace(pod(0), containers=(), resource_version="200")
    begun = seen(pod(0, crashing(5)), bare).begin(10.0)
    back = begun.fold(Observed(11.0, later(pod(0, crashing(6)), 300)))
    track = back.pods["p0-uid"]
    assert track.restarts(track.pod.containers[0]) == 1
