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
from tests.scenarios.versions import report


@pytest.mark.contract("B940", "B941")
@pytest.mark.on_oldest
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


@pytest.mark.contract("B946", "B1586")
@pytest.mark.parametrize("flags", [(), ("--require", "50%")], ids=["plain", "require"])
def test_the_strategy_on_delete_rolls_nothing(
    agents: Agents, audit: Trail, flags: tuple[str, ...]
) -> None:
    """The old pods run on, which is said; `--require` has no part in that.

    The controller replaces pods before it reports what it has observed: none is on its way out.
    """
    agents.serve(updateStrategy={"type": "OnDelete"})
    result = agents.apply(agents.version(2, updateStrategy={"type": "OnDelete"}), *flags)
    assert_ended(result, 0, "applied", "NoRollout", running="baseline")
    assert "enough for --require" not in said(result)
    assert "3 nodes run another revision until somebody deletes its pods" in said(result)
    assert agents.images() == dict.fromkeys(agents.names, OLD)
    pods = agents.scene.objects.list_all("pods")
    assert not [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
    assert changes(audit) == [WRITTEN]


@waits
@pytest.mark.contract("B946", "B1925")
@pytest.mark.parametrize(("on_failure", "exit_code"), [("rollback", 5), ("keep", 6)])
def test_on_delete_leaves_nothing_unsaid_of_a_pod_that_is_not_available(
    agents: Agents, on_failure: str, exit_code: int
) -> None:
    """The old pods do not all run: that is not as applied, and `status` does not call it so.

    Which one does not, and how it goes, the report says.
    """
    agents.serve(updateStrategy={"type": "OnDelete"})
    broken = agents.scene.objects.list_all("pods")[0]
    behave(agents.scene, [broken], "never-ready")
    agents.scene.objects.wait_for(
        "daemonsets", "agent", lambda found: found["status"].get("numberAvailable") == 2
    )
    body = agents.version(2, updateStrategy={"type": "OnDelete"})
    result = agents.apply(body, *IMPATIENT, "--on-failure", on_failure)
    assert result.exit_code == exit_code, str(result)
    assert "the strategy is OnDelete; 2 of 3 nodes have an available pod" in result.stderr
    text = report(agents.scene, result)
    assert f"kubectl delete pod/{broken['metadata']['name']} -n" in text
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
@pytest.mark.parametrize(
    ("max_unavailable", "bad", "words"),
    [(1, 3, "1 of 1 created pods"), (3, 2, "2 of 3 created pods")],
    ids=["one-by-one", "all-at-once"],
)
def test_bad_pods_condemn_a_version(
    agents: Agents, audit: Trail, max_unavailable: int, bad: int, words: str
) -> None:
    """The only pod, on a node that ran the version before well; or those of two nodes of three."""
    agents.serve(max_unavailable=max_unavailable)
    behaviour = ", ".join(f"crash=0.1;node={name}" for name in agents.names[:bad])
    result = agents.apply(agents.version(2, max_unavailable, behaviour=behaviour))
    ended = assert_rolled_back(result, "CrashLoop")
    assert words in ended["causes"][0]["message"]
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


@pytest.mark.contract("B954", "B1139")
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--on-failure", "pause"), "cannot be paused"),
        (("--on-first-failure", "scale-to-zero"), "cannot be scaled to zero"),
    ],
    ids=["pause", "scale-to-zero"],
)
def test_what_a_daemon_set_does_not_have_is_refused(
    scene: Scene, flags: tuple[str, ...], words: str
) -> None:
    """Its API has no pause and no replicas: nothing is written, of what is beside it neither."""
    path = scene.manifest(daemon_set(), web())
    with scene.gate.start("apply", "-f", path, *flags) as running:
        assert_usage(running.wait(), f"daemonset/agent {words}")
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
