"""A server that keeps another pod template than was sent, as a mutating policy may have it."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.nodes import Nodes
from tests.bed.pods import image_of
from tests.bed.policies import Policies
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set, stateful_set
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, kill_apply, recover
from tests.scenarios.versions import CRASH, one_line, report, undo

pytestmark = pytest.mark.newest_only("it serves no MutatingAdmissionPolicy of version v1")

OTHER = "shop/other:7"
PINNED = "shop/web:1@sha256:" + "5" * 64
IMPATIENT = ("--progress-deadline", "20s", "--rollback-timeout", "40s")
NAMES = {"deployments": "web", "statefulsets": "db", "daemonsets": "agent"}


def version(resource: str, nodes: Nodes, number: int, behaviour: str = "") -> JSON:
    """Return a version of the workload of a kind."""
    image = f"shop/{NAMES[resource]}:{number}"
    if resource == "statefulsets":
        return stateful_set(image=image, replicas=2, behaviour=behaviour)
    if resource == "daemonsets":
        return daemon_set(image=image, pool=nodes.pool, behaviour=behaviour)
    return web(number, behaviour=behaviour)


def has_image(live: JSON, image: str) -> bool:
    """Tell whether a workload's template has an image."""
    return image_of(live["spec"]["template"]) == image


def fail_over(scene: Scene, policies: Policies, old: JSON, new: JSON, resource: str) -> Result:
    """Let a version fail; whoever returns the one of before gets `OTHER` in its place."""
    before, after = (image_of(each["spec"]["template"]) for each in (old, new))
    assert_verified(scene.apply(old))
    with scene.applying(new, flags=IMPATIENT) as running:
        name = NAMES[resource]
        scene.objects.wait_for(resource, name, lambda live: has_image(live, after))
        with policies.rewriting(resource, before, OTHER):
            return running.wait(120.0)


@pytest.mark.contract("B1691", "B143")
@pytest.mark.parametrize("resource", NAMES)
def test_a_workload_that_is_kept_otherwise_than_it_was_returned_is_not_restored(
    scene: Scene, policies: Policies, nodes: Nodes, resource: str
) -> None:
    """What runs never served before: 5, with the field, and where to look for the reason."""
    nodes.join(2)
    old, new = (version(resource, nodes, n, f"crash={n}" * (n - 1)) for n in (1, 2))
    result = fail_over(scene, policies, old, new, resource)
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", running="other")
    assert ended["outcome"] == "rollback-failed", str(result)
    assert "NotRestored" in {cause["reason"] for cause in ended["causes"]}
    assert has_image(scene.objects.get(resource, NAMES[resource]), OTHER)
    said = one_line(report(scene, result))
    assert "containers[name=" in said
    assert "than was sent to restore it" in said
    assert "serves again" not in said
    assert "kubectl get mutatingwebhookconfigurations" in said


@pytest.mark.contract("B1691")
def test_what_was_never_restored_is_not_what_a_later_failure_returns_to(
    scene: Scene, policies: Policies
) -> None:
    """It is remembered as nobody's version; without the policy the next failure goes to v1."""
    result = fail_over(scene, policies, web(), web(2, behaviour=CRASH), "deployments")
    assert result.exit_code == 5, str(result)
    returned = undo(scene)
    assert_verified(returned)
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1691")
def test_an_image_that_admission_pins_both_times_is_the_version_before(
    scene: Scene, policies: Policies
) -> None:
    """The template is the one that served: 4, and nothing is said of it."""
    with policies.rewriting("deployments", "shop/web:1", PINNED):
        assert_verified(scene.apply(web()))
        result = scene.apply(web(2, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, PINNED)
    assert not warned(result, "the server keeps"), str(result)


@pytest.mark.contract("B1691")
@pytest.mark.sandbox_only("minutes of waiting")
def test_a_recovery_looks_at_what_the_server_keeps(
    scene: Scene, program: PlayedGate, policies: Policies
) -> None:
    """What it returns in the place of a gate that died is not the version before: 5."""
    assert_verified(scene.apply(web()))
    kill_apply(scene, program, web(2, behaviour=SLOW))
    with policies.rewriting("deployments", "shop/web:1", OTHER):
        result = recover(scene)
    ended = assert_ended(result, 5, "rollback-failed", "Interrupted", running="other")
    assert "NotRestored" in {cause["reason"] for cause in ended["causes"]}
    assert warned(result, "deployment/web was not restored", "image")
