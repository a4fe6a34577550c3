"""Rollouts of DaemonSets: what nodes do decides, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest
import yaml

from tests.bed.bed import Bed
from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_usage,
    assert_verified,
    warned,
)
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.daemon_sets import (
    LONG_SECONDS,
    NODES,
    RULES,
    BadNodes,
    Nodes,
    log,
    rolling,
)

pytestmark = pytest.mark.sandbox_only("its nodes join, leave and fall silent when asked to")

FIRST, SECOND, THIRD = NODES
IMPATIENT = ("--progress-deadline", "20s")
OLD, NEW = "shop/log:1", "shop/log:2"


@pytest.fixture
def nodes(bed: Bed, scene: Scene) -> Nodes:
    """Return three nodes."""
    return Nodes.of(bed, scene)


def apply(scene: Scene, body: JSON, *, flags: Sequence[str] = ()) -> Result:
    """Apply a DaemonSet, to the end; it takes minutes of virtual time."""
    with scene.applying(body, flags=flags) as running:
        return running.wait(LONG_SECONDS)


def said(result: Result) -> str:
    """Return the message of the DaemonSet."""
    return str(result.document["deployments"][0]["message"])


@pytest.mark.contract("B940", "B941")
def test_a_good_version_is_verified_on_every_node(scene: Scene, nodes: Nodes) -> None:
    """All nodes follow, one after the other, and `minReadySeconds` of the last one are over."""
    nodes.serve(log(minReadySeconds=5))
    result = apply(scene, log(2, minReadySeconds=5))
    ended = assert_verified(result)
    assert nodes.images() == dict.fromkeys(NODES, NEW)
    assert (ended["baseline"]["revision"], ended["new"]["revision"]) == (1, 2)
    assert result.document["duration_seconds"] > 15
    last = result.document["history"]["pods"][0]["samples"][-1]
    assert (last["new"]["ready"], last["old"]["ready"]) == (3, 0)


@pytest.mark.contract("B945")
def test_no_node_is_vacuous(scene: Scene, nodes: Nodes) -> None:
    """Where no node is to run a pod, nothing was shown to work."""
    nowhere = log()
    nowhere["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "none"}
    result = apply(scene, nowhere)
    assert_verified(result, "Vacuous", running="none")
    assert nodes.images() == {}


@pytest.mark.contract("B946")
@pytest.mark.parametrize("flags", [(), ("--on-delete", "wait")])
def test_the_strategy_on_delete_rolls_nothing(
    scene: Scene, nodes: Nodes, flags: Sequence[str]
) -> None:
    """The old pods run on, which is said; with `--on-delete wait` somebody has to delete them."""
    on_delete = {"type": "OnDelete"}
    nodes.serve(log(updateStrategy=on_delete))
    for number, pod in enumerate(scene.objects.list_all("pods"), start=1):
        name = pod["metadata"]["name"]
        if flags:
            nodes.after(10.0 * number, partial(scene.objects.delete, "pods", name))
    result = apply(scene, log(2, updateStrategy=on_delete), flags=flags)
    if flags:
        assert_verified(result)
        assert nodes.images() == dict.fromkeys(NODES, NEW)
    else:
        assert_verified(result, "NoRollout", running="")
        assert "OnDelete" in said(result)
        assert nodes.images() == dict.fromkeys(NODES, OLD)


@pytest.mark.contract("B947")
def test_the_first_bad_pod_condemns_a_version_where_another_worked(
    scene: Scene, nodes: Nodes
) -> None:
    """Of a rollout one by one it is the only pod, on a node that ran the version before well."""
    nodes.serve(log())
    nodes.kubelet.follow(BadNodes(NEW, NODES))
    result = apply(scene, log(2))
    ended = assert_rolled_back(result, "CrashLoop")
    assert "1 of 1 created pods" in ended["causes"][0]["message"]
    assert nodes.images() == dict.fromkeys(NODES, OLD)


@pytest.mark.contract("B947", "B951")
def test_one_bad_node_does_not_condemn_a_version_that_works_elsewhere(
    scene: Scene, nodes: Nodes
) -> None:
    """It blocks the rollout, and the progress clock ends it, on time to the second."""
    nodes.serve(log())
    nodes.kubelet.follow(BadNodes(NEW, [SECOND]))
    result = apply(scene, log(2), flags=["--progress-deadline", "120s"])
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="CrashLoop")
    timeline = result.document["timeline"]
    failed_at = next(line["at_seconds"] for line in timeline if line["event"] == "failed")
    assert 121 < failed_at < 124
    assert nodes.images() == dict.fromkeys(NODES, OLD)


@pytest.mark.contract("B947")
def test_two_bad_nodes_condemn_a_version(scene: Scene, nodes: Nodes) -> None:
    """What befalls the pods of two nodes is not of a node, although the third one works."""
    nodes.serve(log(updateStrategy=rolling(3)))
    nodes.kubelet.follow(BadNodes(NEW, [FIRST, SECOND]))
    result = apply(scene, log(2, updateStrategy=rolling(3)))
    ended = assert_rolled_back(result, "CrashLoop")
    assert "2 of 3 created pods" in ended["causes"][0]["message"]


@pytest.mark.contract("B944")
def test_a_node_that_joins_has_to_follow(scene: Scene, nodes: Nodes) -> None:
    """The goal moves with the nodes."""
    nodes.serve(log(minReadySeconds=5))
    nodes.after(8.0, lambda: nodes.kubelet.join("n-3"))
    result = apply(scene, log(2, minReadySeconds=5))
    assert_verified(result)
    assert nodes.images() == dict.fromkeys((*NODES, "n-3"), NEW)
    assert said(result).startswith("4 of 4 nodes")


@pytest.mark.contract("B944")
def test_a_node_that_leaves_need_not_follow(scene: Scene, nodes: Nodes) -> None:
    """What the cluster no longer has is not waited for."""
    nodes.serve(log(minReadySeconds=5))
    nodes.after(8.0, lambda: nodes.kubelet.leave(THIRD))
    result = apply(scene, log(2, minReadySeconds=5))
    assert_verified(result)
    assert "2 of 2 nodes" in said(result)


@pytest.mark.contract("B941")
def test_a_node_that_dies_is_not_waited_for(scene: Scene, nodes: Nodes) -> None:
    """It is named once the cluster calls it unready; what works elsewhere is verified."""
    strategy = rolling(2)
    nodes.serve(log(minReadySeconds=60, updateStrategy=strategy))
    nodes.after(5.0, lambda: nodes.kubelet.silence(THIRD))
    result = apply(scene, log(2, minReadySeconds=60, updateStrategy=strategy))
    assert_verified(result)
    assert said(result) == f"2 of 2 nodes have an available new pod, not on {THIRD} (not Ready)"


@pytest.mark.contract("B941", "B948", "B952")
def test_a_node_that_was_not_ready_from_the_start_is_not_waited_for(
    scene: Scene, nodes: Nodes
) -> None:
    """The others decide, and the recording of the run is judged as the run was."""
    strategy = rolling(2)
    nodes.serve(log(is_everywhere=True, updateStrategy=strategy))
    nodes.wait_until_lost(THIRD)
    result = apply(
        scene, log(2, is_everywhere=True, updateStrategy=strategy), flags=["--record", "run.jsonl"]
    )
    assert_verified(result)
    assert said(result) == f"2 of 3 nodes have an available new pod, not on {THIRD} (not Ready)"
    with scene.gate.start("replay", "run.jsonl", "--output", "json") as running:
        replayed = running.wait().document
    assert (replayed["verdict"], replayed["reason"]) == ("complete", "Complete")
    recorded = (scene.gate.cwd / "run.jsonl").read_text()
    assert '"kind":"Node"' in recorded
    assert "kubeletVersion" not in recorded


@pytest.mark.contract("B942")
def test_all_nodes_are_waited_for_where_that_is_asked_for(scene: Scene, nodes: Nodes) -> None:
    """By the strict form a node that is not Ready keeps a rollout from being done."""
    strategy = rolling(2)
    nodes.serve(log(is_everywhere=True, updateStrategy=strategy))
    nodes.wait_until_lost(THIRD)
    flags = ["--require-all-nodes", "--timeout", "2m", "--rollback-timeout", "1m", *IMPATIENT]
    result = apply(scene, log(2, is_everywhere=True, updateStrategy=strategy), flags=flags)
    ended = assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded")
    assert f"not on {THIRD} (not Ready)" in ended["message"]


@pytest.mark.contract("B949", "B950")
def test_dead_nodes_that_block_a_rollout_are_named_and_the_way_back_does_without_them(
    scene: Scene, nodes: Nodes
) -> None:
    """They use up maxUnavailable, the clock ends it, and the version before is verified."""
    nodes.serve(log())
    nodes.wait_until_lost(THIRD)
    result = apply(scene, log(2), flags=IMPATIENT)
    ended = assert_rolled_back(result, "ProgressDeadlineExceeded", cause="BlockedByNode")
    cause = ended["causes"][0]["message"]
    assert cause == (
        f"{THIRD} (not Ready) uses up maxUnavailable (1): 2 nodes still run another revision"
    )
    alive = nodes.images()
    assert (alive[FIRST], alive[SECOND]) == (OLD, OLD)


@pytest.mark.contract("B948")
def test_pods_of_a_node_that_was_not_ready_at_the_start_are_no_evidence(
    scene: Scene, nodes: Nodes
) -> None:
    """It comes back during the rollout, and its pod crashes: only the clock counts that."""
    strategy = rolling(2)
    nodes.serve(log(updateStrategy=strategy))
    nodes.wait_until_lost(THIRD)
    nodes.kubelet.follow(BadNodes(NEW, [SECOND, THIRD]))
    nodes.after(1.0, lambda: nodes.kubelet.join(THIRD))
    result = apply(scene, log(2, updateStrategy=strategy), flags=["--progress-deadline", "90s"])
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="CrashLoop")
    lines = [line["message"] for line in result.document["timeline"]]
    assert any(f"{THIRD} not Ready at the start" in line for line in lines)


@pytest.mark.contract("B943", "B953")
def test_without_the_right_to_read_nodes_each_one_counts(
    scene: Scene,
    nodes: Nodes,
    gate_with_rules: Callable[[Sequence[JSON]], CheckedGate],
) -> None:
    """The strict form holds, and that is said; the run goes on without the right."""
    nodes.serve(log(is_everywhere=True, updateStrategy=rolling(2)))
    nodes.wait_until_lost(THIRD)
    limited = gate_with_rules(RULES)
    path = scene.manifest(log(2, is_everywhere=True, updateStrategy=rolling(2)))
    flags = ("--timeout", "2m", "--rollback-timeout", "1m", *IMPATIENT)
    with limited.start("apply", "-f", path, *flags, "--output", "json") as running:
        result = running.wait(LONG_SECONDS)
    ended = assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded")
    assert "nodes may not be read, so that each one has to follow" in ended["message"]
    assert warned(result, "nodes may not be read")


@pytest.mark.contract("B953")
def test_the_role_of_a_daemon_set_lets_nodes_be_read(scene: Scene, nodes: Nodes) -> None:
    """They lie in no namespace, so that it takes a ClusterRole; a Deployment needs none."""
    assert _cluster_rules(scene, log()) == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch"]}
    ]
    assert _cluster_rules(scene, web()) == []


def _cluster_rules(scene: Scene, body: JSON) -> list[JSON]:
    with scene.gate.start("preflight", "-f", scene.manifest(body), "--rbac") as running:
        printed = list(yaml.safe_load_all(running.wait().stdout))
    return [rule for one in printed if one["kind"] == "ClusterRole" for rule in one["rules"]]


@pytest.mark.contract("B954")
def test_a_daemon_set_cannot_be_paused(scene: Scene, nodes: Nodes) -> None:
    """Its API has no pause, so that none is offered."""
    nodes.serve(log())
    with scene.gate.start(
        "apply", "-f", scene.manifest(log(2)), "--on-failure", "pause"
    ) as running:
        assert_usage(running.wait(), "daemonset/log cannot be paused")
    assert nodes.images() == dict.fromkeys(NODES, OLD)
