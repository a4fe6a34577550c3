"""Rollouts of DaemonSets: good, bad, by `OnDelete`, and the commands that take one."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_usage,
    assert_verified,
    changes,
)
from tests.bed.pods import behave
from tests.bed.scene import Scene, web
from tests.cluster.audit import Trail
from tests.cluster.workloads import daemon_set
from tests.scenarios.agents import IMPATIENT, NEW, OLD, WRITTEN, Agents, failed_at, said
from tests.scenarios.pod_replacement import waits


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


@pytest.mark.contract("B946", "B1586")
def test_a_part_of_the_pods_is_not_enough_where_none_is_replaced(agents: Agents) -> None:
    """`--require` has no part in what `OnDelete` leaves."""
    agents.serve(updateStrategy={"type": "OnDelete"})
    body = agents.version(2, updateStrategy={"type": "OnDelete"})
    result = agents.apply(body, "--require", "50%")
    assert_ended(result, 0, "applied", "NoRollout", running="baseline")
    assert "enough for --require" not in said(result)


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
