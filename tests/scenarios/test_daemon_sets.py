"""Rollouts of DaemonSets: what nodes do decides, and what is said of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import yaml

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_usage,
    assert_verified,
    changes,
    warned,
)
from tests.bed.nodes import Nodes, NodeState
from tests.bed.pods import behave
from tests.bed.scene import OURS, Scene, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import condition
from tests.cluster.workloads import daemon_set

OLD, NEW = "shop/agent:1", "shop/agent:2"
WRITTEN = "patch daemonsets/agent"
IMPATIENT = ("--progress-deadline", "20s", "--rollback-timeout", "40s")
LONG_SECONDS = 300.0
"""How long a run may take whose clocks run out, in virtual time."""
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

waits = pytest.mark.sandbox_only("it waits until clocks run out")


class Agents:
    """The DaemonSet `agent` on three nodes of its own."""

    def __init__(self, scene: Scene, nodes: Nodes) -> None:
        self.scene = scene
        self.nodes = nodes
        self.names = nodes.join(3)

    def version(self, number: int = 1, max_unavailable: int = 1, **given: Any) -> JSON:
        """Return a version, by which so many nodes at a time are without a pod."""
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable}}
        made: JSON = {"updateStrategy": rolling, **given}
        return daemon_set(image=f"shop/agent:{number}", pool=self.nodes.pool, **made)

    def serve(self, **given: Any) -> None:
        """Let the first version run on all nodes, as a run of the gate would have left it."""
        self.scene.apply_as(OURS, self.version(**given))
        self.scene.objects.wait_for("daemonsets", "agent", is_rolled_out)

    def apply(self, body: JSON, *flags: str) -> Result:
        """Apply a version, to the end."""
        with self.scene.applying(body, flags=flags) as running:
            return running.wait(LONG_SECONDS)

    def lose(self, name: str) -> None:
        """Make a node not ready, and wait until that is known."""
        self.nodes.turn(name, NodeState.NOT_READY)
        self.nodes.wait(name, "False")

    def images(self) -> dict[str, str]:
        """Return what runs on each node, by its name."""
        pods = self.scene.objects.list_all("pods")
        return {pod["spec"]["nodeName"]: pod["spec"]["containers"][0]["image"] for pod in pods}


def is_rolled_out(live: JSON) -> bool:
    """Tell whether each of three nodes runs an available pod of the newest revision."""
    status = live.get("status", {})
    counters = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    is_observed = status.get("observedGeneration") == live["metadata"]["generation"]
    return is_observed and all(status.get(name) == 3 for name in counters)


@pytest.fixture
def agents(scene: Scene, nodes: Nodes) -> Agents:
    """Return the DaemonSet, which does not run yet."""
    return Agents(scene, nodes)


def said(result: Result) -> str:
    """Return the message of the DaemonSet."""
    (document,) = result.document["deployments"]
    return str(document["message"])


def failed_at(result: Result) -> float:
    """Return in which second a run said that the version had failed."""
    timeline = result.document["timeline"]
    return float(next(line["at_seconds"] for line in timeline if line["event"] == "failed"))


@pytest.mark.contract("B940", "B941")
def test_a_good_version_is_verified_on_every_node(agents: Agents) -> None:
    """All nodes follow, one after the other, and `minReadySeconds` of the last one are over."""
    agents.serve(minReadySeconds=2)
    result = agents.apply(agents.version(2, minReadySeconds=2))
    ended = assert_verified(result)
    assert agents.images() == dict.fromkeys(agents.names, NEW)
    assert (ended["baseline"]["revision"], ended["new"]["revision"]) == (1, 2)
    assert result.document["duration_seconds"] > 6
    last = result.document["history"]["pods"][0]["samples"][-1]
    assert (last["new"]["ready"], last["old"]["ready"]) == (3, 0)


@pytest.mark.contract("B945")
def test_no_node_is_vacuous(scene: Scene, audit: Trail) -> None:
    """Where no node is to run a pod, nothing was shown to work."""
    result = scene.apply(daemon_set(pool="nowhere"))
    assert_verified(result, "Vacuous", running="none")
    assert said(result) == "no node is to run a pod, and none does"
    assert scene.objects.list_all("pods") == []
    assert changes(audit) == [WRITTEN]


@pytest.mark.contract("B946")
def test_the_strategy_on_delete_rolls_nothing(agents: Agents, audit: Trail) -> None:
    """The old pods run on, which is said."""
    agents.serve(updateStrategy={"type": "OnDelete"})
    result = agents.apply(agents.version(2, updateStrategy={"type": "OnDelete"}))
    assert_ended(result, 0, "applied", "NoRollout", running="baseline")
    assert "3 nodes run another revision until somebody deletes its pods" in said(result)
    assert agents.images() == dict.fromkeys(agents.names, OLD)
    assert changes(audit) == [WRITTEN]


@waits
@pytest.mark.contract("B946")
def test_on_delete_leaves_nothing_unsaid_of_a_pod_that_is_not_available(agents: Agents) -> None:
    """The old pods do not all run: that is not as applied, and `status` does not call it so."""
    agents.serve(updateStrategy={"type": "OnDelete"})
    broken = agents.scene.objects.list_all("pods")[0]
    behave(agents.scene, [broken], "never-ready")
    agents.scene.objects.wait_for(
        "daemonsets", "agent", lambda found: found["status"].get("numberAvailable") == 2
    )
    body = agents.version(2, updateStrategy={"type": "OnDelete"})
    result = agents.apply(body, *IMPATIENT)
    assert result.exit_code == 5, str(result)
    assert "the strategy is OnDelete; 2 of 3 nodes have an available pod" in result.stderr
    assert "applied" not in agents.scene.gate("status", "ds/agent").stdout


@pytest.mark.contract("B946")
def test_the_strategy_on_delete_can_be_waited_for(agents: Agents) -> None:
    """With `--on-delete wait` it is done when somebody has deleted the old pods."""
    agents.serve(updateStrategy={"type": "OnDelete"})
    pods = [pod["metadata"]["name"] for pod in agents.scene.objects.list_all("pods")]
    body = agents.version(2, updateStrategy={"type": "OnDelete"})
    with agents.scene.applying(body, flags=["--on-delete", "wait"]) as running:
        running.wait_for_line("3 nodes run another revision")
        for name in pods:
            agents.scene.objects.delete("pods", name)
        assert_verified(running.wait())
    assert agents.images() == dict.fromkeys(agents.names, NEW)


@pytest.mark.contract("B947")
def test_the_first_bad_pod_condemns_a_version_where_another_worked(
    agents: Agents, audit: Trail
) -> None:
    """Of a rollout one by one it is the only pod, on a node that ran the version before well."""
    agents.serve()
    result = agents.apply(agents.version(2, behaviour="crash=0.1"))
    ended = assert_rolled_back(result, "CrashLoop")
    assert "1 of 1 created pods" in ended["causes"][0]["message"]
    assert agents.images() == dict.fromkeys(agents.names, OLD)
    assert changes(audit) == [WRITTEN, WRITTEN]


@waits
@pytest.mark.contract("B947", "B951")
def test_one_bad_node_does_not_condemn_a_version_that_works_elsewhere(agents: Agents) -> None:
    """It blocks the rollout, and the progress clock ends it, on time to the second."""
    agents.serve()
    second = next(name for name in agents.names if name.endswith("-2"))
    bad = agents.version(2, behaviour=f"crash=0.1;node={second}")
    result = agents.apply(bad, "--progress-deadline", "120s")
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="CrashLoop")
    assert 120 < failed_at(result) < 124
    assert agents.images() == dict.fromkeys(agents.names, OLD)


@pytest.mark.contract("B947")
def test_two_bad_nodes_condemn_a_version(agents: Agents, audit: Trail) -> None:
    """What befalls the pods of two nodes is not of a node, although the third one works."""
    agents.serve(max_unavailable=3)
    first, second, _ = agents.names
    behaviour = f"crash=0.1;node={first}, crash=0.1;node={second}"
    result = agents.apply(agents.version(2, max_unavailable=3, behaviour=behaviour))
    ended = assert_rolled_back(result, "CrashLoop")
    assert "2 of 3 created pods" in ended["causes"][0]["message"]
    assert changes(audit) == [WRITTEN, WRITTEN]


@pytest.mark.contract("B944")
def test_a_node_that_joins_has_to_follow(agents: Agents, audit: Trail) -> None:
    """The goal moves with the nodes."""
    agents.serve(minReadySeconds=2)
    with agents.scene.applying(agents.version(2, minReadySeconds=2)) as running:
        running.wait_for_line("1 of 3 nodes")
        (joined,) = agents.nodes.join()
        result = running.wait()
    assert_verified(result)
    assert agents.images() == dict.fromkeys((*agents.names, joined), NEW)
    assert said(result) == "4 of 4 nodes have an available new pod"
    assert changes(audit) == [WRITTEN]


@pytest.mark.contract("B944")
def test_a_node_that_leaves_need_not_follow(agents: Agents, audit: Trail) -> None:
    """What the cluster no longer has is not waited for."""
    agents.serve(minReadySeconds=2)
    with agents.scene.applying(agents.version(2, minReadySeconds=2)) as running:
        running.wait_for_line("1 of 3 nodes")
        agents.nodes.leave(agents.names[2])
        result = running.wait()
    assert_verified(result)
    assert said(result) == "2 of 2 nodes have an available new pod"
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
    text = verdict_text(result.document, Style(width=200))
    assert "daemonset/agent did not complete, and its rollback is not verified" in text
    assert "failed    revision" not in text
    assert "repair the node" in text
    assert "describe controllerrevision" not in text
    shown = json.loads(agents.scene.gate("history", "ds/agent", "--output", "json").stdout)
    (new,) = (one for one in shown if one["images"] == [NEW])
    assert (new["verdict"], new["reason"]) == ("not verified", "NoRollout")


def is_unready(node: JSON) -> bool:
    """Tell whether a node is not called ready."""
    return condition(node, "Ready").get("status") != "True"


@waits
@pytest.mark.contract("B948")
def test_pods_of_a_node_that_was_not_ready_at_the_start_are_no_evidence(agents: Agents) -> None:
    """It comes back during the rollout, and its pod crashes: only the clock counts that."""
    agents.serve(tolerates_all=True)
    _, second, last = agents.names
    agents.lose(last)
    behaviour = f"crash=0.1;node={second}, crash=0.1;node={last}"
    body = agents.version(2, 2, tolerates_all=True, behaviour=behaviour)
    with agents.scene.applying(body, flags=["--progress-deadline", "90s"]) as running:
        running.wait_for_line("0 of 3 nodes")
        agents.nodes.turn(last, NodeState.READY)
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="CrashLoop")
    lines = [line["message"] for line in result.document["timeline"]]
    assert any(f"{last} not Ready at the start" in line for line in lines)


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


@pytest.mark.contract("B954")
def test_a_daemon_set_cannot_be_paused(agents: Agents) -> None:
    """Its API has no pause, so that none is offered."""
    agents.serve()
    path = agents.scene.manifest(agents.version(2))
    with agents.scene.gate.start("apply", "-f", path, "--on-failure", "pause") as running:
        assert_usage(running.wait(), "daemonset/agent cannot be paused")
    assert agents.images() == dict.fromkeys(agents.names, OLD)


@pytest.mark.contract("B1139")
def test_a_daemon_set_cannot_be_scaled_to_zero(scene: Scene) -> None:
    """It has no replicas, so that the option is refused while nothing is written."""
    path = scene.manifest(daemon_set(), web())
    with scene.gate.start("apply", "-f", path, "--on-first-failure", "scale-to-zero") as running:
        assert_usage(running.wait(), "daemonset/agent cannot be scaled to zero")
    assert scene.objects.list_all("daemonsets") == scene.objects.list_all("deployments") == []


@pytest.mark.contract("B950")
def test_the_commands_about_one_workload_take_a_daemon_set(agents: Agents) -> None:
    """By its kind, short or long, they look at it, restart it, or return to what was verified."""
    assert_verified(agents.apply(agents.version()))
    assert_verified(agents.apply(agents.version(2)))
    assert "3 of 3 nodes have an available" in _run(agents, "verify", "ds/agent")
    assert "controllerrevision/agent-" in _run(agents, "status", "daemonset/agent")
    assert _run(agents, "history", "ds/agent").count("verified") == 2
    _run(agents, "restart", "daemonset/agent")
    assert agents.images() == dict.fromkeys(agents.names, NEW)
    restarted = agents.scene.objects.get("daemonsets", "agent")["spec"]["template"]["metadata"]
    assert "kubectl.kubernetes.io/restartedAt" in restarted["annotations"]
    assert "shop/agent:1" in _run(agents, "undo", "daemonset/agent")
    assert agents.images() == dict.fromkeys(agents.names, OLD)
    assert "shop/agent:2" in _run(agents, "undo", "daemonset/agent", "--to-revision", "2")
    assert agents.images() == dict.fromkeys(agents.names, NEW)


def _run(agents: Agents, *arguments: str) -> str:
    with agents.scene.gate.start(*arguments) as running:
        result = running.wait()
    assert result.exit_code == 0, str(result)
    assert "no verification" not in result.stderr, str(result)
    return result.stdout
