"""Faults of the control plane itself: away for a while, away for good, not acting at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubelet.api import JSON
from tests.e2e.checked_gate import CheckedGate
from tests.e2e.expectations import assert_ended, assert_runs, assert_verified, images
from tests.e2e.scene import Scene, web

AWAY_SECONDS = 4.0
"""How long an outage lasts: the fault itself, which nothing ends sooner."""


@pytest.mark.contract("B164")
@pytest.mark.parametrize(
    ("behaviour", "code", "outcome", "image"),
    [("ready=1", 0, "verified", "shop/web:2"), ("crash=0.1", 4, "rolled-back", "shop/web:1")],
)
def test_a_server_that_is_away_for_a_while_changes_no_verdict(
    scene: Scene, plane: ControlPlane, behaviour: str, code: int, outcome: str, image: str
) -> None:
    """Held still in mid-flight, the API server answers again, and the verdict is the right one."""
    scene.serve(web())
    with scene.applying(web(2, behaviour=behaviour)) as running:
        running.wait_for_line("applied +deployment/web changed")
        with plane.api_server.suspended():
            time.sleep(AWAY_SECONDS)
        result = running.wait()
    reason = "Complete" if code == 0 else "CrashLoop"
    assert_ended(result, code, outcome, reason)
    assert_runs(scene.objects, image)


@pytest.mark.contract("B164")
def test_a_server_that_is_restarted_changes_no_verdict(scene: Scene, plane: ControlPlane) -> None:
    """Killed and started again in mid-flight, it is found again."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="ready=1")) as running:
        running.wait_for_line("applied +deployment/web changed")
        plane.api_server.kill()
        plane.api_server.start()
        plane.wait_until_serving()
        result = running.wait()
    assert_verified(result)
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B28", "B163")
def test_a_server_that_never_answers_again_is_lost_contact(
    scene: Scene, plane: ControlPlane
) -> None:
    """Out of reach for good after a write: 9 within the budgets, and the state is unknown."""
    scene.serve(web())
    flags = ("--timeout", "4s", "--rollback-timeout", "2s")
    with scene.applying(web(2, behaviour="never-ready"), flags=flags) as running:
        running.wait_for_line("applied +deployment/web changed")
        with plane.api_server.suspended():
            code = running.wait_for_end(4 + 2 + 10)
        result = running.wait()
    assert code == 9, str(result)
    assert_ended(result, 9, "lost-contact", "Unreachable", running="unknown")
    assert result.document["rollback"] is None
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B109", "B25")
def test_a_controller_that_does_not_act_is_the_cause(scene: Scene, plane: ControlPlane) -> None:
    """Nothing observes the change: that is the cause, and the rollback cannot be verified, 5."""
    scene.serve(web())
    flags = ("--timeout", "32s", "--rollback-timeout", "2s")
    with plane.controller_manager.suspended():
        result = scene.apply(web(2, progress_deadline_seconds=120), flags=flags)
    assert_ended(result, 5, "rollback-failed", "Timeout", cause="ControllerNotObserving")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


def rules(*verbs_of_deployments: str) -> list[JSON]:
    """Return what an apply of a Deployment needs, with these verbs on Deployments."""

    def rule(group: str, verbs: tuple[str, ...], *resources: str) -> JSON:
        return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}

    watching = ("get", "list", "watch")
    return [
        rule("apps", verbs_of_deployments, "deployments"),
        rule("apps", watching, "replicasets"),
        rule("", watching, "pods", "events", "pods/log"),
    ]


READING = ("get", "list", "watch")


@pytest.mark.contract("B33")
def test_reads_that_become_forbidden_are_lost_contact(
    scene: Scene,
    gate_with: Callable[[Path], CheckedGate],
    kubeconfig_with_rules: Callable[[Sequence[JSON]], Path],
) -> None:
    """Rights that are taken away after the write leave nothing to judge by: 9."""
    scene.serve(web())
    gate = gate_with(kubeconfig_with_rules(rules(*READING, "create", "patch")))
    path = scene.manifest(web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [binding] = scene.objects.list_all("rolebindings")
        scene.objects.delete("rolebindings", binding["metadata"]["name"])
        result = running.wait()
    ended = (result.exit_code, result.document["outcome"])
    assert ended == (9, "lost-contact"), str(result)
    assert "is forbidden" in result.document["message"]
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B25")
def test_a_rollback_that_became_forbidden_names_the_missing_rule(
    scene: Scene,
    gate_with: Callable[[Path], CheckedGate],
    kubeconfig_with_rules: Callable[[Sequence[JSON]], Path],
) -> None:
    """The right to write is taken away in mid-flight: 5, and the report says which one."""
    scene.serve(web())
    gate = gate_with(kubeconfig_with_rules(rules(*READING, "create", "patch")))
    path = scene.manifest(web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        [role] = scene.objects.list_all("roles")
        scene.objects.patch("roles", role["metadata"]["name"], {"rules": rules(*READING)})
        result = running.wait()
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    assert any("patch" in cause["message"] for cause in ended["causes"])
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
