"""What did not go back with its Deployment is named, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import assert_ended, assert_verified
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.rights import LEASE_RULES, READING, rules
from tests.scenarios.versions import CRASH


def advice(scene: Scene, result: Result) -> str:
    """Return the report of a run, as one line."""
    (scene.folder / "result.json").write_text(result.stdout)
    return " ".join(scene.gate("report", "result.json").stdout.split())


@pytest.mark.contract("B779", "B712")
def test_what_an_earlier_failed_run_left_is_named_after_a_retry(scene: Scene) -> None:
    """This run left it unchanged, and cannot tell what it was: a 5 that says what to do."""
    extra = {**settings("x"), "metadata": {"name": "extra"}}
    new = manifests.deployment("api", replicas=1)
    new["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [
        {"configMapRef": {"name": "extra"}}
    ]
    assert_verified(scene.apply(web()))
    bodies = (extra, new, web(2, behaviour=CRASH))
    assert scene.apply(*bodies).exit_code == 6
    again = scene.apply(*bodies, flags=["--prune-created"])
    assert_ended(again, 5, "rollback-failed", "CrashLoop")
    assert "configmap/extra: not returned, and not what was verified" in advice(scene, again)


@pytest.mark.contract("B779", "B701")
def test_a_secret_that_did_not_return_is_named_with_what_to_do(scene: Scene) -> None:
    """Its body is kept nowhere: the manifest has it."""
    assert_verified(scene.apply(secret("one-long-value"), web()))
    scene.apply(secret("nine-long-value"), web(9, behaviour=CRASH), flags=("--on-failure", "keep"))
    result = scene.apply(secret("two-long-value"), web(2, behaviour=CRASH))
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    said = advice(scene, result)
    assert "secret/keys: not returned, and not what was verified; apply the whole manifest" in said


@pytest.mark.contract("B779", "B774")
def test_configuration_that_a_missing_right_kept_leads_to_undo(
    scene: Scene, gate_with_rules: Callable[[Sequence[JSON]], CheckedGate]
) -> None:
    """The pods are those of before: the right is what lacks, and no fault of theirs."""
    assert_verified(scene.apply(settings("one"), web()))
    common = [*rules(*READING, "create", "patch"), LEASE_RULES]
    writing, reading = (
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", *verbs]}
        for verbs in (("create", "patch"), ())
    )
    gate = gate_with_rules([*common, writing])
    path = scene.manifest(settings("two"), web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [role] = scene.objects.list_all("roles")
        patch = {"rules": [*common, reading]}
        scene.objects.patch("roles", role["metadata"]["name"], patch)
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    said = advice(scene, result)
    assert "configmap/settings is still what this run wrote, for want of a right" in said
    assert "rollout-gate undo web" in said


@pytest.mark.contract("B902")
def test_a_deployment_that_the_server_keeps_from_going_back_leads_to_undo(
    scene: Scene, gate_with_rules: Callable[[Sequence[JSON]], CheckedGate]
) -> None:
    """Its configuration is back, and the pods are not: what goes back once that is allowed."""
    assert_verified(scene.apply(settings("one"), web()))
    configuring = {"apiGroups": [""], "resources": ["configmaps"]}
    common = [{**configuring, "verbs": ["get", "create", "patch"]}, LEASE_RULES]
    gate = gate_with_rules([*common, *rules(*READING, "create", "patch")])
    path = scene.manifest(settings("two"), web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [role] = scene.objects.list_all("roles")
        patch = {"rules": [*common, *rules(*READING)]}
        scene.objects.patch("roles", role["metadata"]["name"], patch)
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert result.document["rollback"]["written_at"]
    said = advice(scene, result)
    assert "once its cause is gone, go back again: rollout-gate undo web" in said
    scene.objects.patch("roles", role["metadata"]["name"], {"rules": [*common, *rules("*")]})
    assert_verified(scene.gate("undo", "web", "--output", "json"))
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
