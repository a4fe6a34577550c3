"""What a report counts of a Deployment that somebody deleted in mid-flight."""

from __future__ import annotations

import pytest

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.daemon_set.objects import daemon_set_ref
from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.kinds.registry import unseen
from gate.core.model.objects import Revision
from gate.core.plan.leg import Leg
from gate.core.rollout.observations import Observed, Vanished
from gate.report.document.deletion import count_left
from gate.report.document.document import document
from gate.report.schema.result import DeletionResult
from gate.wire.decode import decode_watched
from tests.cluster.kubelet.api import JSON
from tests.decoded import decode_pod, decode_replica_set
from tests.unit.report.cluster import NOT_READY, Workload
from tests.unit.report.endings import applying, crashed
from tests.unit.report.stage import Stage, run_of


def rolling() -> tuple[Stage, Workload]:
    """Return an apply under way: three old pods, and two of the new version."""
    stage, web = applying()
    web.rolling("shop/web:2", NOT_READY, NOT_READY)
    web.drop("shop/web:1", 3)
    stage.show(2.0)
    return stage, web


def show_orphans(stage: Stage, web: Workload) -> None:
    """Show the ReplicaSets as `--cascade=orphan` leaves them: it takes their owner out first."""
    for body in web.sets.values():
        metadata = {key: body["metadata"][key] for key in body["metadata"]}
        del metadata["ownerReferences"]
        shown = {**body, "metadata": {**metadata, "resourceVersion": "999999"}}
        stage.hear(Observed(stage.attempt.now, decode_replica_set(shown)))


def deleted(stage: Stage, web: Workload) -> DeletionResult:
    """Delete the Deployment, and return what the report says of it."""
    stage.hear(Vanished(stage.attempt.now + 1.0, DEPLOYMENT, web.uid))
    stage.wait_out()
    found = document(stage.attempt, run_of(stage))["workloads"][0]["deletion"]
    assert found is not None
    return found


@pytest.mark.contract("B770")
def test_pods_of_a_replica_set_that_never_was_its_own_are_not_counted() -> None:
    """Somebody's own ReplicaSet, without an owner from the first: only the template tells."""
    stage, web = rolling()
    web.replica_set("shop/debug:1", 3, 1, 0)
    theirs = web.sets["shop/debug:1"]["metadata"]
    theirs.update(name="debug", uid="uid-debug")
    web.pod("shop/debug:1", "p0", NOT_READY)
    show_orphans(stage, web)
    for body in web.pods.values():
        stage.hear(Observed(stage.attempt.now, decode_pod(body)))
    snapshot = stage.attempt.workloads.rollouts[web.ref].snapshot
    assert len(snapshot.pods_of(snapshot.revisions["uid-debug"])) == 1
    found = deleted(stage, web)
    assert (found["done"], found["pods"]) == (True, 5)


@pytest.mark.contract("B770")
def test_pods_that_are_being_deleted_are_not_counted() -> None:
    """They end by themselves: nobody has to look for them."""
    stage, web = rolling()
    for name, body in web.pods.items():
        if name.startswith("web-1-"):
            body["metadata"]["deletionTimestamp"] = "2026-11-21T12:00:02Z"
    stage.show(1.0)
    assert deleted(stage, web)["pods"] == 2


def agent_object(name: str, kind: str, owner: str, **body: object) -> JSON:
    """Return what belongs to the DaemonSet `agent`, or is an orphan of it without an owner."""
    owners = [{"kind": "DaemonSet", "uid": owner, "controller": True}] if owner else []
    meta = {
        "name": name,
        "namespace": "shop",
        "uid": name,
        "ownerReferences": owners,
        "labels": {"controller-revision-hash": "a1"},
    }
    version = "v1" if kind == "Pod" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": meta, **body}


@pytest.mark.contract("B1064")
@pytest.mark.parametrize("owner_of_version", ["uid-agent", ""])
@pytest.mark.parametrize("owner_of_pod", ["uid-agent", ""])
@pytest.mark.parametrize(("is_known", "pods"), [(True, 2), (False, None)])
def test_orphans_are_counted_whoever_lost_the_owner_first(
    owner_of_version: str, owner_of_pod: str, *, is_known: bool, pods: int | None
) -> None:
    """The watches of pods and of their versions have no common order; never is it none."""
    version = decode_watched(agent_object("agent-a1", "ControllerRevision", owner_of_version))
    assert isinstance(version, ControllerRevision)
    snapshot = unseen(daemon_set_ref("shop", "agent"))
    for body in (
        agent_object("a", "Pod", owner_of_pod),
        agent_object("b", "Pod", ""),
        agent_object("theirs", "Pod", "uid-other"),
    ):
        snapshot = snapshot.fold(Observed(0.0, decode_watched(body)))
    own: list[Revision] = [version] if is_known else []
    if not is_known and owner_of_pod:
        pods = 1
    assert count_left(snapshot, own, {"uid-agent"}) == pods


@pytest.mark.contract("B1064")
def test_orphans_of_the_version_that_goes_back_are_counted() -> None:
    """Their version has no owner any more, and was not there before this run."""
    stage = crashed()
    (web,) = stage.workloads.values()
    assert stage.attempt.course.leg is Leg.BACK
    show_orphans(stage, web)
    assert deleted(stage, web)["pods"] == len(web.pods)
