"""DaemonSets on nodes that are well, that die, or were never ready: what is written, and what ends.

The scenarios show the rest, on a sandbox; here the controllers of nodes are the real ones.
"""

from __future__ import annotations

import pytest

from sandbox.face import NodeState
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_verified, changes
from tests.bed.nodes import Nodes
from tests.bed.pods import image_of
from tests.bed.scene import Scene
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import is_ready
from tests.cluster.workloads import daemon_set

WRITTEN = "patch daemonsets/agent"
BACK = [WRITTEN, WRITTEN]
SOON = ("--progress-deadline", "6s")


def agent(nodes: Nodes, version: int = 1, /, **over: object) -> JSON:
    """Return a DaemonSet `agent` on the nodes of the test, those that are not ready included."""
    given = {"pool": nodes.pool, "image": f"shop/agent:{version}", "tolerates_all": True, **over}
    return daemon_set(**given)  # type: ignore[arg-type]


def images(scene: Scene) -> dict[str, str]:
    """Return the image of the pod that is ready on each node."""
    pods = filter(is_ready, scene.objects.list_all("pods"))
    return {pod["spec"]["nodeName"]: image_of(pod) for pod in pods}


def wait_available(scene: Scene, count: int) -> None:
    """Wait until the controller says that so many pods are available."""
    scene.objects.wait_for(
        "daemonsets", "agent", lambda live: live["status"].get("numberAvailable") == count
    )


@pytest.mark.configuration("node-lifecycle")
def test_a_node_that_dies_is_named_and_not_waited_for(
    scene: Scene, nodes: Nodes, audit: Trail
) -> None:
    """The others run the new version: verified, and the node is named as not counted."""
    names = nodes.join(3)
    two = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    scene.serve(agent(nodes, updateStrategy=two))
    dead, *others = names
    behaviour = f"ready=1;node={others[0]}"
    with scene.applying(agent(nodes, 2, updateStrategy=two, behaviour=behaviour)) as running:
        nodes.turn(dead, NodeState.DEAD)
        result = running.wait()
    assert_verified(result)
    assert dead in str(result.document["workloads"][0]["remarks"])
    assert {images(scene)[name] for name in others} == {"shop/agent:2"}
    assert changes(audit) == [WRITTEN]


@pytest.mark.parametrize("strict", [(), ("--require-all-nodes",)])
def test_a_node_that_was_never_ready_is_done_without(
    scene: Scene, nodes: Nodes, audit: Trail, strict: tuple[str, ...]
) -> None:
    """Its pod cannot start, and it is named; `--require-all-nodes` waits for it, in vain."""
    names = nodes.join(2)
    (late,) = nodes.join(state=NodeState.NOT_READY)
    two = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    scene.apply_as("rollout-gate", agent(nodes, updateStrategy=two))
    wait_available(scene, 2)
    flags = (*SOON, *strict, "--on-failure", "keep")
    result = scene.apply(agent(nodes, 2, updateStrategy=two), flags=flags)
    if strict:
        assert_ended(result, 6, "failed", "ProgressDeadlineExceeded")
    else:
        assert_verified(result)
        assert late in str(result.document["workloads"][0]["remarks"])
    assert images(scene) == dict.fromkeys(names, "shop/agent:2")
    assert changes(audit) == [WRITTEN]


def test_the_way_back_is_verified_without_it_too(scene: Scene, nodes: Nodes, audit: Trail) -> None:
    """By the strict form alone each way back on such a cluster ended with 5."""
    names = nodes.join(2)
    nodes.join(state=NodeState.NOT_READY)
    two = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    scene.apply_as("rollout-gate", agent(nodes, updateStrategy=two))
    wait_available(scene, 2)
    bad = agent(nodes, 2, updateStrategy=two, behaviour="crash=0.1")
    assert_rolled_back(scene.apply(bad), "CrashLoop")
    assert images(scene) == dict.fromkeys(names, "shop/agent:1")
    assert changes(audit) == BACK


@pytest.mark.configuration("node-lifecycle")
def test_dead_nodes_that_use_up_max_unavailable_are_the_cause(
    scene: Scene, nodes: Nodes, audit: Trail
) -> None:
    """The controller replaces no pod that works: the clock ends it, with `BlockedByNode`."""
    names = nodes.join(3)
    scene.serve(agent(nodes))
    nodes.turn(names[0], NodeState.DEAD)
    nodes.wait(names[0], "Unknown")
    result = scene.apply(agent(nodes, 2), flags=(*SOON, "--on-failure", "keep"))
    assert_ended(result, 6, "failed", "ProgressDeadlineExceeded", cause="BlockedByNode")
    assert changes(audit) == [WRITTEN]
