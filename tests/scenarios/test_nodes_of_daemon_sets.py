"""Nodes that join, leave, die or were never ready while a DaemonSet rolls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest
import yaml

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_verified,
    changes,
    images,
    warned,
)
from tests.bed.nodes import NodeState
from tests.bed.scene import Scene, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import condition
from tests.cluster.workloads import POOL, daemon_set
from tests.scenarios.agents import (
    IMPATIENT,
    LONG_SECONDS,
    NEW,
    OLD,
    WRITTEN,
    Agents,
    failed_at,
    said,
)
from tests.scenarios.killing import recover
from tests.scenarios.pod_replacement import waits
from tests.scenarios.test_what_is_said import report_forms
from tests.scenarios.versions import history_rows, one_line, screen

RULES: tuple[JSON, ...] = (
    {
        "apiGroups": ["apps"],
        "resources": ["daemonsets"],
        "verbs": ["get", "list", "watch", "patch", "create"],
    },
    {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
)
"""What an apply of a DaemonSet needs; nodes are not among it."""


@pytest.mark.contract("B945", "B1634", "B1643")
def test_no_node_is_vacuous(scene: Scene, audit: Trail) -> None:
    """Where no node is to run a pod, nothing was shown to work, and every report says why."""
    result = scene.apply(daemon_set(pool="nowhere"), flags=["--report", "json=run.json"])
    assert_verified(result, "Vacuous", running="none")
    text = screen(result)
    assert "--require-pods" not in text
    judging = "once it has nodes, judge it: rollout-gate verify daemonset/"
    assert judging in " ".join(text.split()), text
    assert said(result) == "no node is to run a pod, and none does"
    assert scene.objects.list_all("pods") == []
    assert changes(audit) == [WRITTEN]
    forms = report_forms(scene, "run.json")
    for form in ("text", "markdown", "html"):
        plain = forms[form].replace("\\", "")
        assert "no pod: without a node to run on" in one_line(plain), forms[form]
        assert "scaled to 0" not in plain, forms[form]


def lose_all_nodes(agents: Agents) -> None:
    """Move the nodes to another pool, and wait until the controller counts none, without a pod."""
    agents.nodes.move("elsewhere")
    agents.scene.objects.wait_for("daemonsets", "agent", has_no_node, LONG_SECONDS)
    agents.scene.objects.wait("pods", lambda pods: not pods)


def has_no_node(body: JSON) -> bool:
    """Tell whether no node is to run a pod, by a status of the DaemonSet as it is."""
    status = body["status"]
    is_observed = status.get("observedGeneration") == body["metadata"]["generation"]
    return bool(is_observed and status["desiredNumberScheduled"] == 0)


def apply_without_nodes(agents: Agents, body: JSON, line: str, *, dies: bool) -> Result:
    """Apply a version, and take all nodes away at a line: from the gate, or after its death.

    Returns how the attempt ended, by the gate that is left or by a recovery.
    """
    with agents.scene.applying(body) as running:
        running.wait_for_line(line)
        if dies:
            running.kill()
        lose_all_nodes(agents)
        return recover(agents.scene, "daemonset/agent") if dies else running.wait(LONG_SECONDS)


@pytest.mark.contract("B1683", "B701")
@pytest.mark.parametrize("dies", [False, True], ids=["lives", "dies"])
def test_what_loses_all_its_nodes_is_not_verified_and_no_failure_returns_to_it(
    agents: Agents, *, dies: bool
) -> None:
    """Three were to run it: that none is left shows nothing, and the version before stays known."""
    assert_verified(agents.apply(agents.version(1)))
    second = agents.version(2, behaviour="never-ready")
    result = apply_without_nodes(agents, second, "applied +daemonset/agent", dies=dies)
    assert_ended(result, 7, "inconclusive", "NoNode", running="none")
    assert said(result) == "no node is to run a pod any more; 3 were to"
    text = one_line(screen(result))
    assert "daemonset/agent has no node any more on which it could be judged" in text, text
    assert "once it has nodes, judge it: rollout-gate verify daemonset/agent" in text, text
    agents.nodes.move(agents.nodes.pool)
    failed = agents.apply(agents.version(3, behaviour="crash=0.1"), *IMPATIENT)
    assert_rolled_back(failed, "CrashLoop")
    assert {*agents.images().values()} == {OLD}


@pytest.mark.contract("B1684", "B701")
@pytest.mark.parametrize("dies", [False, True], ids=["lives", "dies"])
def test_a_way_back_without_a_node_is_not_called_scaled(agents: Agents, *, dies: bool) -> None:
    """Nobody scaled it: what was before is back, and has no node to run on."""
    agents.serve(behaviour="ready=3")
    bad = agents.version(2, behaviour="crash=0.1")
    result = apply_without_nodes(agents, bad, "restored +daemonset/agent", dies=dies)
    assert_ended(result, 4, "rolled-back", "CrashLoop", running="none")
    text = one_line(screen(result))
    assert "is back, without a node to run on; nothing serves" in text, text
    assert "replicas" not in text, text
    (live,) = agents.scene.objects.list_all("daemonsets")
    assert images(live) == [OLD]


@pytest.mark.contract("B1683", "B945")
def test_a_daemon_set_that_is_sent_to_no_node_is_vacuous(agents: Agents) -> None:
    """Its own nodeSelector says so: no node was lost."""
    agents.serve()
    parked = agents.version(2)
    parked["spec"]["template"]["spec"]["nodeSelector"] = {POOL: "nowhere"}
    assert_verified(agents.apply(parked), "Vacuous", running="none")


@pytest.mark.contract("B1633")
def test_a_daemon_set_is_not_refused_for_nodes_that_nobody_has_counted(agents: Agents) -> None:
    """A new one has no status: `--require-pods` reads no 0 out of that."""
    result = agents.apply(agents.version(1), "--require-pods")
    assert_verified(result)
    assert said(result) == "3 of 3 nodes have an available new pod"


@pytest.mark.contract("B944")
@pytest.mark.parametrize("joins", [True, False])
def test_the_goal_moves_with_the_nodes(agents: Agents, audit: Trail, *, joins: bool) -> None:
    """A node that joins has to follow; what the cluster no longer has is not waited for."""
    agents.serve(minReadySeconds=2)
    first, second, third = agents.names
    with agents.scene.applying(agents.version(2, minReadySeconds=2)) as running:
        running.wait_for_line("1 of 3 nodes")
        if joins:
            expected = [first, second, third, *agents.nodes.join()]
        else:
            agents.nodes.leave(third)
            expected = [first, second]
        result = running.wait()
    assert_verified(result)
    count = len(expected)
    assert said(result) == f"{count} of {count} nodes have an available new pod"
    assert {agents.images()[name] for name in expected} == {NEW}
    assert changes(audit) == [WRITTEN]


@pytest.mark.parametrize("tolerates_all", [False, True])
@waits
@pytest.mark.contract("B941")
def test_a_node_that_dies_is_not_waited_for(agents: Agents, *, tolerates_all: bool) -> None:
    """It is named once the cluster calls it unready; what works elsewhere is verified."""
    agents.serve(max_unavailable=2, tolerates_all=tolerates_all, minReadySeconds=20)
    last = agents.names[2]
    body = agents.version(2, 2, tolerates_all=tolerates_all, minReadySeconds=20)
    with agents.scene.applying(body) as running:
        running.wait_for_line("0 of 3 nodes")
        agents.nodes.turn(last, NodeState.DEAD)
        result = running.wait(LONG_SECONDS)
    assert_verified(result)
    assert said(result) == f"2 of 3 nodes have an available new pod, not on {last} (not Ready)"


@pytest.mark.contract("B941", "B952", "B1037")
def test_a_node_that_was_not_ready_from_the_start_is_not_waited_for(agents: Agents) -> None:
    """The others decide, and the recording of the run is judged as the run was."""
    agents.serve(tolerates_all=True)
    last = agents.names[2]
    agents.lose(last)
    body = agents.version(2, 2, tolerates_all=True)
    result = agents.apply(body, "--record", "run.jsonl")
    assert_verified(result)
    assert said(result) == f"2 of 3 nodes have an available new pod, not on {last} (not Ready)"
    (remark,) = result.document["workloads"][0]["remarks"]
    assert remark["about"] == [f"node/{last}"]
    assert any(remark["message"] in warning for warning in result.document["warnings"])
    gate = agents.scene.gate
    with gate.start("replay", "run.jsonl", "--output", "json") as running:
        replayed = running.wait().document
    assert (replayed["verdict"], replayed["reason"]) == ("complete", "Complete")
    recorded = (gate.cwd / "run.jsonl").read_text()
    assert '"kind":"Node"' in recorded
    assert "kubeletVersion" not in recorded


@waits
@pytest.mark.contract("B942")
def test_all_nodes_are_waited_for_where_that_is_asked_for(agents: Agents) -> None:
    """By the strict form a node that is not Ready keeps a rollout from being done."""
    agents.serve(tolerates_all=True)
    last = agents.names[2]
    agents.lose(last)
    body = agents.version(2, 2, tolerates_all=True)
    result = agents.apply(body, "--require-all-nodes", *IMPATIENT)
    ended = assert_ended(
        result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="BlockedByNode"
    )
    assert f"not on {last} (not Ready)" in ended["message"]
    message = f"{last} (not Ready) has no available pod of it, and every other node has"
    assert ended["causes"][0]["message"] == message


@waits
@pytest.mark.parametrize("tolerates_all", [False, True])
@pytest.mark.contract("B949", "B950")
def test_dead_nodes_that_block_a_rollout_are_named_and_the_way_back_does_without_them(
    agents: Agents, *, tolerates_all: bool
) -> None:
    """They use up maxUnavailable, the clock ends it, and the version before is verified."""
    agents.serve(tolerates_all=tolerates_all)
    last = agents.names[2]
    agents.nodes.turn(last, NodeState.DEAD)
    agents.scene.objects.wait_for("nodes", last, is_unready, LONG_SECONDS)
    result = agents.apply(agents.version(2, tolerates_all=tolerates_all), *IMPATIENT)
    ended = assert_rolled_back(result, "ProgressDeadlineExceeded", cause="BlockedByNode")
    assert ended["causes"][0]["message"] == (
        f"{last} (not Ready) uses up maxUnavailable (1): 2 nodes still run another revision"
    )
    assert failed_at(result) < 30, "the pod that nobody ends on a dead node is no movement"
    alive = agents.images()
    assert [alive[name] for name in agents.names[:2]] == [OLD, OLD]


@waits
@pytest.mark.contract("B1268")
def test_a_version_that_no_ready_node_could_run_is_not_held_against(agents: Agents) -> None:
    """All nodes are down before the write: neither did it fail, nor is it remembered so."""
    agents.serve(tolerates_all=True)
    for name in agents.names:
        agents.lose(name)
    result = agents.apply(agents.version(2, tolerates_all=True), *IMPATIENT)
    ended = assert_ended(
        result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="BlockedByNode"
    )
    assert "no node that is to run it is Ready" in ended["causes"][0]["message"]
    text = screen(result)
    assert "daemonset/agent did not complete, and its rollback is not verified" in text
    assert "failed    revision" not in text
    assert "repair the node" in text
    assert "describe controllerrevision" not in text
    shown = history_rows(agents.scene, "ds/agent")
    (new,) = (one for one in shown if one["images"] == [NEW])
    assert (new["verdict"], new["reason"]) == ("not verified", "NoRollout")


def is_unready(node: JSON) -> bool:
    """Tell whether a node is not called ready."""
    return condition(node, "Ready").get("status") != "True"


@waits
@pytest.mark.contract("B943")
def test_without_the_right_to_read_nodes_each_one_counts(
    agents: Agents, gate_with_rules: Callable[[Sequence[JSON]], CheckedGate]
) -> None:
    """The strict form holds, and that is said; the run goes on without the right."""
    agents.serve(tolerates_all=True)
    agents.lose(agents.names[2])
    path = agents.scene.manifest(agents.version(2, 2, tolerates_all=True))
    start = partial(gate_with_rules(RULES).start, "apply", "-f", path, *IMPATIENT)
    with start("--output", "json") as running:
        result = running.wait(LONG_SECONDS)
    ended = assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded")
    assert "nodes may not be read, so that each one has to follow" in ended["message"]
    assert warned(result, "it takes list and watch on nodes")


@pytest.mark.contract("B953")
def test_the_role_of_a_daemon_set_lets_nodes_be_read(scene: Scene) -> None:
    """They lie in no namespace, so that it takes a ClusterRole; a Deployment needs none."""
    assert _cluster_rules(scene, daemon_set()) == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch"]}
    ]
    assert _cluster_rules(scene, web()) == []


def _cluster_rules(scene: Scene, body: JSON) -> list[JSON]:
    with scene.gate.start("preflight", "-f", scene.manifest(body), "--rbac") as running:
        printed = list(yaml.safe_load_all(running.wait().stdout))
    return [rule for one in printed if one["kind"] == "ClusterRole" for rule in one["rules"]]
