"""What a report counts of a Deployment that somebody deleted in mid-flight."""

from __future__ import annotations

import pytest

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.daemon_set.objects import daemon_set_ref
from gate.core.kinds.registry import unseen
from gate.core.model.objects import Revision
from gate.core.rollout.observations import Observed
from gate.report.document.deletion import count_left
from gate.report.document.document import document
from gate.report.schema.result import DeletionResult
from gate.wire.decode import decode_watched
from tests.cluster.kubelet.api import JSON
from tests.unit.core.world import later, pod, replica_set
from tests.unit.report.endings import ReportPlayer, going_back, run_of, under_way


def show_orphans(player: ReportPlayer) -> None:
    """Show the ReplicaSets as `--cascade=orphan` leaves them: it takes their owner out first."""
    for one in player.server.parts(player.web)[0]:
        player.hear(Observed(player.attempt.now, later(one, 999999, owner_uid="")))


def deleted(player: ReportPlayer) -> DeletionResult:
    """Delete the Deployment without its pods, and return what the report says of it."""
    player.lose_deployment()
    found = document(player.attempt, run_of(player))["workloads"][0]["deletion"]
    assert found is not None
    return found


@pytest.mark.contract("B770")
def test_pods_of_a_replica_set_that_never_was_its_own_are_not_counted() -> None:
    """Somebody's own ReplicaSet, without an owner from the first: only the template tells."""
    player = under_way()
    theirs = replica_set("debug", owner_uid="")
    for one in (theirs, pod(9, owner_uid=theirs.uid)):
        player.hear(Observed(player.attempt.now, one))
    show_orphans(player)
    snapshot = player.attempt.workloads.rollouts[player.web].snapshot
    assert len(snapshot.pods_of(snapshot.revisions[theirs.uid])) == 1
    found = deleted(player)
    assert (found["done"], found["pods"]) == (True, 5)


@pytest.mark.contract("B770")
def test_pods_that_are_being_deleted_are_not_counted() -> None:
    """They end by themselves: nobody has to look for them."""
    player = under_way()
    for one in player.pods():
        if one.name.startswith("web-1-"):
            player.hear(Observed(player.attempt.now, later(one, 999999, deleting=True)))
    assert deleted(player)["pods"] == 2


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
    player = going_back()
    pods = player.pods()
    show_orphans(player)
    assert deleted(player)["pods"] == len(pods) == 5
