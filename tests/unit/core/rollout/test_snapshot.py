"""What is known of a Deployment: a fold; what served before, and which old pods are fresh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.checks.old_pods import OldPods
from gate.core.kinds.deployment.objects import (
    DEPLOYMENT,
    REPLICA_SET,
    Deployment,
    ReplicaSet,
    deployment_ref,
)
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.objects import Watched
from gate.core.rollout.baseline import Baseline, baseline_of, find_beside
from gate.core.rollout.event_history import MOST_EVENTS
from gate.core.rollout.fresh_pods import has_old_pods, sort_old_pods
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.snapshot import Snapshot
from tests.table import each
from tests.unit.core.kinds.test_stateful_set import BEFORE, DB, NOW, member, revision, stateful_set
from tests.unit.core.kinds.test_stateful_set import NEW as DB_NEW
from tests.unit.core.kinds.test_stateful_set import OLD as DB_OLD
from tests.unit.core.world import (
    AVAILABLE,
    NAMESPACE,
    SUCCEEDED,
    WEB,
    condition,
    container,
    crashing,
    deployment,
    later,
    old_replica_set,
    pod,
    replica_set,
    snapshot_of,
    template,
    waiting,
    warning,
)


def seen(*things: Watched) -> Snapshot:
    """Return what is known after these were seen at 1 s."""
    return snapshot_of(WEB, *things, at=1.0)


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


def served(web: Deployment, *sets: ReplicaSet) -> Fact[Baseline]:
    """Return what is known to have served before a write."""
    return baseline_of(snapshot_of(WEB, web, *sets))


@pytest.mark.contract("B121")
def test_baseline_is_what_serves_whatever_its_revision() -> None:
    """Template, ReplicaSet and revision of the version that owns the available pods."""
    found = served(deployment(), old_replica_set(revision=7), replica_set())
    assert isinstance(found, Known)
    assert (found.value.revision_name, found.value.revision) == ("web-2", 2)
    assert found.value.template == template()


@pytest.mark.contract("B4")
@pytest.mark.parametrize(("own", "known"), [(7, 7), (None, 2)])
def test_the_revision_is_the_replica_sets_own(own: int | None, known: int) -> None:
    """That of the Deployment, where its ReplicaSet says none."""
    found = served(deployment(revision=2), replica_set(revision=own))
    assert isinstance(found, Known)
    assert found.value.revision == known


UNAVAILABLE = condition("Available", "False", "MinimumReplicasUnavailable")
ROLLED_OUT = deployment(conditions=(UNAVAILABLE, SUCCEEDED))
STARTING = deployment(
    conditions=(UNAVAILABLE, condition("Progressing", "True", "ReplicaSetUpdated"))
)
NONE_UP = deployment(max_unavailable="100%", available_replicas=0, conditions=(AVAILABLE,))
ONE_UP, ONE_BESIDE = replica_set(available_replicas=1), old_replica_set(replicas=1)


@pytest.mark.contract("B122", "B1750")
@each(
    ("case", "web", "sets", "serves"),
    [
        (
            "a pod is missing",
            deployment(available_replicas=3),
            [replica_set(available_replicas=3)],
            True,
        ),
        (
            "between two sizes",
            deployment(replicas=6, available_replicas=4),
            [replica_set(replicas=6)],
            True,
        ),
        ("available, without a pod", NONE_UP, [replica_set(available_replicas=0)], False),
        ("half-way between two versions", deployment(), [replica_set(), ONE_BESIDE], False),
        ("a first rollout half-way", STARTING, [ONE_UP], False),
        ("rolled out and scaled up since", ROLLED_OUT, [ONE_UP], True),
        ("so, without a pod", ROLLED_OUT, [replica_set(available_replicas=0)], False),
        ("so, beside another version", ROLLED_OUT, [ONE_UP, ONE_BESIDE], False),
    ],
)
def test_what_serves_alone_with_the_pods_that_it_has_is_a_baseline(
    case: str, web: Deployment, sets: list[ReplicaSet], *, serves: bool
) -> None:
    """Whatever its size; of two versions nobody knows which one is good.

    With maxUnavailable 100 % a Deployment of no pod is available. The controller keeps the reason
    of a completed rollout while it scales.
    """
    found = served(web, *sets)
    assert isinstance(found, Known) if serves else found == Absent(), case


@pytest.mark.contract("B115")
def test_unread_is_not_absent() -> None:
    """What nobody could read may serve all the same; what is not there does not."""
    assert isinstance(baseline_of(unseen(WEB)), Unknown)
    gone = unseen(WEB).fold(Listed(0.0, DEPLOYMENT, WEB, ()))
    assert baseline_of(gone) == Absent()


def at(seconds: int) -> str:
    """Return the time so many seconds after noon."""
    return f"2026-11-21T12:{seconds // 60:02}:{seconds % 60:02}Z"


def aged(*ages: tuple[int, str, str]) -> Snapshot:
    """Return a Deployment with pods: a number, whose they are, and when they were created."""
    there = []
    for number, owner, created_at in ages:
        about = {"name": f"{owner}-{number}", "uid": f"{number}", "owner_uid": f"{owner}-uid"}
        there.append(pod(number, created_at=created_at, **about))
    return seen(deployment(), old_replica_set(), replica_set(), *there)


OLD, NEW = old_replica_set().name, replica_set().name
DB_NOW = "db-now"


@pytest.mark.contract("B1206")
@each(
    ("created_at", "is_fresh"),
    [
        (at(600), True),
        (at(660), True),
        (at(661), False),
        (at(540), True),
        (at(539), False),
        ("", False),
        ("yesterday", False),
    ],
)
def test_a_pod_is_fresh_within_a_minute_of_a_new_one(created_at: str, is_fresh: bool) -> None:
    """Before or after; a time that is not known makes nothing fresh."""
    found = sort_old_pods(aged((1, OLD, created_at), (2, NEW, at(600)), (3, NEW, "")), OLD)
    names = frozenset({f"{OLD}-1"})
    fresh = OldPods(fresh=names, are_there=True)
    assert found == (fresh if is_fresh else OldPods(others=names))


@pytest.mark.contract("B1165")
def test_pods_of_the_old_version_are_there_until_they_are_deleted() -> None:
    """Those of the new version are none of them."""
    both = aged((1, OLD, at(1)), (2, NEW, at(1)))
    assert has_old_pods(both, OLD)
    assert not has_old_pods(both, NEW)
    assert not has_old_pods(both, "web-0")
    assert not has_old_pods(aged((2, NEW, at(1))), OLD)


@pytest.mark.contract("B1206")
def test_without_a_version_there_are_no_pods_of_it() -> None:
    """Neither before a new pod exists, nor where the old version is gone or the same."""
    assert sort_old_pods(aged((1, OLD, at(1))), OLD) == OldPods(others=frozenset({f"{OLD}-1"}))
    assert sort_old_pods(aged((1, OLD, at(1)), (2, NEW, at(1))), "web-0") == OldPods()
    assert sort_old_pods(aged((1, OLD, at(1)), (2, NEW, at(1))), NEW) == OldPods()


@pytest.mark.contract("B1206")
def test_a_pod_of_a_partition_that_restarts_with_the_new_ones_is_fresh() -> None:
    """Of a StatefulSet, whose pods know their revision by a label."""
    found = snapshot_of(
        DB,
        stateful_set(partition=2),
        revision(DB_OLD, 1, BEFORE),
        revision(DB_NEW, 2, NOW),
        member(0, DB_OLD, created_at=at(10)),
        member(1, DB_OLD, created_at=at(590)),
        member(2, DB_NEW, created_at=at(600)),
    )
    sorted_pods = sort_old_pods(found, DB_OLD)
    assert sorted_pods == OldPods(frozenset({"db-1"}), frozenset({"db-0"}), are_there=True)


@pytest.mark.contract("B1539")
@each(
    ("pods", "changes", "beside"),
    [
        ((DB_OLD, DB_NOW, DB_NOW), {"partition": 1}, DB_OLD),
        ((DB_OLD, DB_NOW, DB_NOW), {"partition": 2}, DB_NOW),
        ((DB_NOW, DB_OLD, DB_OLD), {"partition": 1}, DB_NOW),
        ((DB_OLD, DB_NOW, DB_NOW), {}, DB_NOW),
        ((DB_OLD, DB_OLD, DB_NOW), {}, DB_OLD),
        ((DB_OLD, DB_OLD, DB_NOW), {"on_delete": True}, DB_OLD),
    ],
)
def test_what_serves_beside_a_new_version_is_what_the_strategy_holds(
    pods: tuple[str, ...], changes: dict[str, Any], beside: str
) -> None:
    """Not a canary that makes room for another one; without a hold it is what most pods run."""
    members = [member(ordinal, name) for ordinal, name in enumerate(pods)]
    revisions = (revision(DB_OLD, 1, BEFORE), revision(DB_NOW, 2, NOW))
    found = snapshot_of(DB, stateful_set(update_revision=DB_NOW), *revisions, *members)
    served = find_beside(found, f"{DB_NEW}-uid", stateful_set(**changes))
    assert served is not None
    assert served.name == beside


@pytest.mark.contract("B1206")
def test_what_is_gone_stays_fresh_until_its_name_is_another_pods() -> None:
    """Its last events are still read."""
    known = OldPods(frozenset({"db-0", "db-1"}))
    now = OldPods(frozenset({"db-2"}), frozenset({"db-1"}))
    assert known.after(now) == OldPods(frozenset({"db-0", "db-2"}), frozenset({"db-1"}))
