"""Nodes that join, leave and die: what their pods do then, and where pods are put."""

from __future__ import annotations

import pytest

from sandbox.json import JSON
from sandbox.kubelet.nodes import node
from sandbox.kubelet.requests import ReportStatus
from sandbox.storage.store import Key
from tests.unit.sandbox.bed import TEAM, Bed
from tests.unit.sandbox.kubelet.stage import Stage, asking, condition, deleted, pod

TAINT: JSON = {"key": "pool", "value": "batch", "effect": "NoSchedule"}


def made_for(name: str) -> JSON:
    """Return the affinity that a DaemonSet's controller gives to the pod of one node."""
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_a_pod_made_for_a_node_waits_for_it() -> None:
    """It is bound there and nowhere else, taints or not, as soon as the node is played."""
    stage = Stage().run(pod("1", affinity=made_for("a")), seconds=9)
    assert not stage.binds()
    stage.workers.see_node(node("a", taints=[TAINT], asked="ready"))
    stage.run(pod("2"), pod("3"), seconds=1)
    assert stage.binds() == [("1", "a"), ("2", "rig-0"), ("3", "rig-0")]
    assert stage.states()[-1] == "ready"


def test_a_node_that_nobody_asks_to_play_is_let_be() -> None:
    """Its pods are another kubelet's."""
    stage = Stage()
    stage.workers.see_node(node("a"))
    assert not stage.run(pod("1", nodeName="a"), seconds=9).requests


def test_a_dead_node_says_nothing_until_it_is_back() -> None:
    """No restart is reported and no pod goes; then all that was missed is made up for.

    That a pod is still ready is said again: a node controller has said otherwise meanwhile.
    """
    crashing, going = pod("1", asked="crash=1", nodeName="a"), pod("2", nodeName="a")
    stage = Stage()
    stage.workers.see_node(node("a", asked="ready"))
    stage.run(pod("0", nodeName="a"), crashing, going)
    stage.workers.see_node(node("a", asked="dead"))
    sent = len(stage.requests)
    stage.run(deleted(going), pod("3", nodeName="a"), asking(crashing, "never-ready"), seconds=60)
    assert len(stage.requests) == sent
    stage.workers.see_node(node("a", asked="ready"))
    stage.run(seconds=5)
    assert [name for _, name in stage.removals()] == ["2"]
    again = [
        each.pod.name for _, each, _ in stage.requests[sent:] if isinstance(each, ReportStatus)
    ]
    assert sorted(again) == ["0", "1", "3"]


def test_a_pod_that_a_node_controller_calls_unready_is_reported_again() -> None:
    """The kubelet knows better, once the node is heard of."""
    item, stage = pod(), Stage()
    stage.run(item, seconds=1)
    called = {"type": "Ready", "status": "False"}
    stage.run({**item, "status": {"conditions": [called]}}, seconds=1)
    assert [condition(each, "Ready")["status"] for _, each in stage.statuses()] == ["True"] * 2


def test_a_node_that_is_not_ready_starts_nothing() -> None:
    """Pods are bound to it and wait; what runs there goes on, and what is deleted goes."""
    stage = Stage()
    stage.workers.see_node(node("a", asked="ready"))
    first = pod("1", nodeName="a")
    stage.run(first)
    stage.workers.see_node(node("a", asked="not-ready"))
    stage.run(pod("2", affinity=made_for("a")), seconds=9)
    assert (stage.binds(), len(stage.statuses())) == ([("2", "a")], 1)
    stage.run(deleted(first), seconds=1)
    assert [name for _, name in stage.removals()] == ["1"]
    stage.workers.see_node(node("a", asked="ready"))
    assert len(stage.run(seconds=1).statuses()) == 2


def test_a_node_that_has_gone_takes_no_more_pods() -> None:
    """Its pods fall silent, and new ones go to the others."""
    stage = Stage(nodes=())
    for name in ("a", "b"):
        stage.workers.see_node(node(name, asked="ready"))
    stage.workers.lose_node(node("a"))
    assert stage.run(pod("1"), pod("2")).binds() == [("1", "b"), ("2", "b")]


def test_a_behaviour_can_be_that_of_one_node() -> None:
    """`node=b` is for the pods there; the others are well."""
    stage = Stage(nodes=("a", "b"))
    asked = "never-ready;node=b"
    stage.run(pod("1", asked=asked, nodeName="a"))
    assert stage.states() == ["ready"]
    stage.run(pod("2", asked=asked, nodeName="b"))
    assert stage.states()[-1] == "running"


def test_each_revision_of_an_owner_has_its_first_pods() -> None:
    """`only=1` counts again for the next revision of the same StatefulSet."""
    stage, states = Stage(), []
    for name, revision in (("1", "a"), ("2", "a"), ("3", "b")):
        item = pod(name, asked="never-ready;only=1")
        item["metadata"]["labels"] = {"controller-revision-hash": revision}
        states.append(stage.run(item).trail()[-1][1])
    assert states == ["running", "ready", "running"]


@pytest.mark.parametrize(
    ("asked", "ready"), [("ready", "True"), ("not-ready", "False"), ("dead", None)]
)
def test_a_node_that_joins_reports_what_it_is_asked_to(
    bed: Bed, asked: str, ready: str | None
) -> None:
    """In the sandbox, too: its own taints stay, and that of admission while it is not ready."""
    bed.api.create("nodes", "", node("a", taints=[TAINT], asked=asked), TEAM)
    bed.run(1)
    found = bed.api.get(Key("nodes", "", "a"))
    conditions = found.get("status", {}).get("conditions", [])
    assert [each["status"] for each in conditions] == ([ready] if ready else [])
    assert (found["spec"]["taints"] == [TAINT]) == (asked == "ready")
