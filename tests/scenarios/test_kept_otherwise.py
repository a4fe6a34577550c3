"""A server that keeps something else than was sent, as a mutating policy may have it."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.nodes import Nodes
from tests.bed.pods import image_of
from tests.bed.policies import IN_EARNEST, Policies
from tests.bed.scene import Scene, secret, service, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, kill_apply, recover
from tests.scenarios.versions import one_line, report, undo
from tests.scenarios.walked import DAEMON_SET, DEPLOYMENT, STATEFUL_SET, Walked

pytestmark = pytest.mark.newest_only("it serves no MutatingAdmissionPolicy of version v1")

IMAGE = 'spec.template.spec.containers[name="web"].image'
OTHER = "shop/other:7"
IMPATIENT = ("--progress-deadline", "20s", "--rollback-timeout", "40s")


def has_image(live: JSON, image: str) -> bool:
    """Tell whether a workload's template has an image."""
    return image_of(live["spec"]["template"]) == image


def fail_over(scene: Scene, policies: Policies, kind: Walked, **over: str) -> Result:
    """Let version 2 fail; whoever returns the one of before gets `OTHER` in its place."""
    assert_verified(scene.apply(kind.version(1, **over)))
    with scene.applying(kind.version(2, "crash=2", **over), flags=IMPATIENT) as running:
        scene.objects.wait_for(
            kind.resource, kind.name, lambda live: has_image(live, kind.image(2))
        )
        with policies.rewriting(kind.resource, kind.image(1), OTHER):
            return running.wait(120.0)


@pytest.mark.contract("B1691", "B143")
@pytest.mark.parametrize(
    "kind", [DEPLOYMENT, STATEFUL_SET, DAEMON_SET], ids=lambda kind: kind.resource
)
def test_a_workload_that_is_kept_otherwise_than_it_was_returned_is_not_restored(
    scene: Scene, policies: Policies, nodes: Nodes, kind: Walked
) -> None:
    """What runs never served before: 5, with the field, and where to look for the reason."""
    nodes.join(2)
    over = {"pool": nodes.pool} if kind is DAEMON_SET else {}
    result = fail_over(scene, policies, kind, **over)
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", running="other")
    assert ended["outcome"] == "rollback-failed", str(result)
    assert "NotRestored" in {cause["reason"] for cause in ended["causes"]}
    assert has_image(scene.objects.get(kind.resource, kind.name), OTHER)
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
    result = fail_over(scene, policies, DEPLOYMENT)
    assert result.exit_code == 5, str(result)
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:1")


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


@pytest.mark.contract("B1692", "B1693")
def test_an_image_that_is_put_back_is_named(scene: Scene, policies: Policies) -> None:
    """Nothing rolls: 0, as admission may set images, but the manifest does not run."""
    assert_verified(scene.apply(web()))
    keeps = f"the server keeps deployment/web otherwise than the manifest says: {IMAGE}"
    with policies.rewriting("deployments", "shop/web:2", "shop/web:1"):
        seen = scene.gate("preflight", "-f", scene.manifest(web(2)))
        result = scene.apply(web(2))
    assert (seen.exit_code, keeps in seen.stderr) == (0, True), str(seen)
    assert_verified(result, "NoChange")
    assert result.document["warnings"].count(keeps) == 1, str(result)
    assert result.document["objects"][0]["kept_otherwise"] == [IMAGE]
    said = one_line(report(scene, result))
    assert "did not change, and the server keeps it otherwise than the manifest says" in said
    assert "nothing to change" not in said


@pytest.mark.contract("B1692", "B1721")
@pytest.mark.parametrize(
    ("sent", "kept"), [("two", "one"), ("1.10", "1.1"), ("60s", "1m0s"), ("", "one")]
)
def test_a_text_that_is_kept_as_another_is_named(
    scene: Scene, policies: Policies, sent: str, kept: str
) -> None:
    """A ConfigMap's value is no quantity and no duration, and an empty one is a value."""
    assert_verified(scene.apply(settings(kept), web()))
    with policies.pinning("mode", kept):
        result = scene.apply(settings(sent), web(2))
    assert_verified(result)
    said = "the server keeps configmap/settings otherwise than the manifest says: data.mode"
    assert result.document["warnings"].count(said) == 1, str(result)


@pytest.mark.contract("B1692")
def test_a_policy_that_began_after_the_dry_run_is_seen_in_the_answer(
    scene: Scene, policies: Policies
) -> None:
    """Nothing was foreseen; the document goes by what was written."""
    assert_verified(scene.apply(web()))
    with policies.rewriting("deployments", "shop/web:2", OTHER, IN_EARNEST):
        result = scene.apply(web(2))
    assert_verified(result)
    assert_runs(scene.objects, OTHER)
    assert "the server keeps" not in result.stderr
    assert warned(result, "the server keeps deployment/web otherwise", IMAGE), str(result)


@pytest.mark.contract("B1692", "B1693")
def test_an_undo_to_what_is_kept_otherwise_did_not_take_it_back(
    scene: Scene, policies: Policies
) -> None:
    """What runs is the version of nobody's revision, and is called by its own."""
    assert_verified(scene.apply(web()))
    assert_verified(scene.apply(web(2)))
    with policies.rewriting("deployments", "shop/web:1", OTHER):
        result = undo(scene)
    assert_verified(result)
    keeps = f"the server keeps another {IMAGE} than is sent"
    assert f"deployment/web will differ from revision 1 (shop/web:1): {keeps}" in result.stderr
    assert warned(result, "the server keeps deployment/web otherwise than the undo sent it", IMAGE)
    said = one_line(report(scene, result))
    assert "the undo took deployment/web from revision 2, shop/web:2 to revision 3" in said
    assert f"{OTHER}, which the server keeps otherwise than the undo sent it" in said
    assert "took deployment/web back" not in said


@pytest.mark.contract("B1692")
def test_an_undo_that_the_server_would_not_keep_is_refused(
    scene: Scene, policies: Policies
) -> None:
    """It would write nothing but what runs, and the refusal names the field."""
    assert_verified(scene.apply(web()))
    assert_verified(scene.apply(web(2)))
    with policies.rewriting("deployments", "shop/web:1", "shop/web:2"):
        result = undo(scene)
    keeps = f"the server keeps another {IMAGE} than is sent"
    assert_refused(result, "Conflict", "would not change", keeps)


@pytest.mark.contract("B1692")
def test_what_the_server_writes_in_another_form_is_kept(scene: Scene) -> None:
    """Defaults are filled in, and quantities are written as the server writes them."""
    body = web(minReadySeconds=0)
    body["spec"]["template"]["spec"]["volumes"] = [{"name": "tmp", "emptyDir": {}}]
    (container,) = body["spec"]["template"]["spec"]["containers"]
    container["resources"] = {"requests": {"cpu": "1000m", "memory": "0.5Gi"}, "limits": {}}
    container["ports"] = [{"containerPort": 8080}]
    container["env"].append({"name": "EMPTY", "value": ""})
    result = scene.apply(settings(""), service(), secret(), body)
    assert_verified(result)
    assert not warned(result, "the server keeps"), str(result)
