"""Rights that are taken away in mid-flight."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import assert_ended, assert_runs, assert_verified, images
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.rights import READING, rules


@pytest.mark.contract("B33")
def test_reads_that_become_forbidden_are_lost_contact(
    scene: Scene,
    gate_with_rules: Callable[[Sequence[JSON]], CheckedGate],
) -> None:
    """Rights that are taken away after the write leave nothing to judge by: 9."""
    scene.serve(web())
    gate = gate_with_rules(rules(*READING, "create", "patch"))
    path = scene.manifest(web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [binding] = scene.objects.list_all("rolebindings")
        scene.objects.delete("rolebindings", binding["metadata"]["name"])
        result = running.wait()
    assert_ended(result, 9, "lost-contact", "Forbidden", running="unknown")
    assert "is forbidden" in result.document["message"]
    lines = [line["message"] for line in result.document["timeline"] if line["event"] == "contact"]
    assert lines
    *asked, last = lines
    assert all(line.startswith("refused, retrying: ") for line in asked)
    assert last.startswith("the API server refuses this user: ")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.fault(37)
@pytest.mark.contract("B25")
def test_a_rollback_that_became_forbidden_names_the_missing_rule(
    scene: Scene,
    gate_with_rules: Callable[[Sequence[JSON]], CheckedGate],
) -> None:
    """The right to write is taken away in mid-flight: 5, and the report says which one."""
    scene.serve(web())
    gate = gate_with_rules(rules(*READING, "create", "patch"))
    path = scene.manifest(web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [role] = scene.objects.list_all("roles")
        scene.objects.patch("roles", role["metadata"]["name"], {"rules": rules(*READING)})
        result = running.wait()
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    assert any("patch" in cause["message"] for cause in ended["causes"])
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


LOCKING = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}


@pytest.mark.contract("B785")
@pytest.mark.parametrize("keeps_its_lock", [False, True])
def test_a_way_back_that_was_refused_whole_was_not_written(
    scene: Scene,
    gate_with_rules: Callable[[Sequence[JSON]], CheckedGate],
    keeps_its_lock: bool,
) -> None:
    """The report says so, and leads to what finishes it once the rights are back."""
    scene.serve(web())
    lock = {**LOCKING, "verbs": ["get", "create", "patch"]}
    gate = gate_with_rules([*rules(*READING, "create", "patch"), lock])
    path = scene.manifest(web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [role] = scene.objects.list_all("roles")
        left = lock if keeps_its_lock else {**LOCKING, "verbs": ["get"]}
        patch = {"rules": [*rules(*READING), left]}
        scene.objects.patch("roles", role["metadata"]["name"], patch)
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert result.document["rollback"]["written_at"] == ""
    assert result.document["recoverable"] is not keeps_its_lock
    (scene.folder / "result.json").write_text(result.stdout)
    shown = " ".join(scene.gate("report", "result.json").stdout.split())
    assert "rollback not written, not verified" in shown
    assert "see what keeps the version before" not in shown
    assert "ask for the rights" in shown
    verb = "undo" if keeps_its_lock else "recover"
    assert f"rollout-gate {verb} web" in shown
    assert ("rollout-gate undo" in shown) is keeps_its_lock
    finished = scene.gate(verb, "web", "--output", "json")
    if keeps_its_lock:
        assert_verified(finished)
    else:
        assert_ended(finished, 4, "rolled-back", "Interrupted")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B842")
def test_a_record_that_could_not_be_struck_out_is_none_of_an_attempt_without_writes(
    scene: Scene,
    gate_with_rules: Callable[[Sequence[JSON]], CheckedGate],
) -> None:
    """What the attempt changed it returned: `recover` says what is so, not that it did nothing."""
    scene.serve(web(), web(name="api"))
    lock = {**LOCKING, "verbs": ["get", "create", "patch"]}
    gate = gate_with_rules([*rules(*READING, "create", "patch"), lock])
    path = scene.manifest(web(2, behaviour="crash=0.5"), web(2, name="api"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [role] = scene.objects.list_all("roles")
        patch = {"rules": [*rules(*READING, "create", "patch"), {**LOCKING, "verbs": ["get"]}]}
        scene.objects.patch("roles", role["metadata"]["name"], patch)
        result = running.wait()
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    finished = scene.gate("recover", "web")
    assert finished.exit_code == 0, str(finished)
    assert "deployment/api: all that it was to change is as it was before" in finished.stderr
