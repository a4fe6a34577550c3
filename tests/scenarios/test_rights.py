"""Rights that are missing, are taken away in mid-flight, or kept a part from going back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_runs,
    assert_verified,
    images,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import yaml_text
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.versions import CRASH, one_line, report

SERVICE: JSON = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}


def roles(refused: Result) -> list[Any]:
    """Return the Roles and bindings that a refusal prints."""
    text = refused.stderr
    return list(yaml.safe_load_all(text[text.index("apiVersion: rbac") :]))


def grant(scene: Scene, refused: Result, *missing: str) -> None:
    """Apply the Role of a refusal that names these rights."""
    assert_refused(refused, "Forbidden", *missing)
    scene.kubectl("apply", "-f", "-", stdin=yaml_text(*roles(refused)), check=True)


@pytest.mark.contract("B11", "B2")
def test_a_second_role_takes_nothing_of_the_first_away(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """A right that is missing later comes on top: after both Roles the apply goes through."""
    gate = gate_with_rules([])
    refused = gate("apply", "-f", scene.manifest(web(), settings()))
    grant(scene, refused, "create deployments.apps", "patch configmaps")
    path = scene.manifest(web(), settings(), SERVICE)
    refused = gate("apply", "-f", path)
    assert "deployments" not in refused.stderr
    grant(scene, refused, "create services", "get services", "patch services")
    result = gate("apply", "-f", path)
    assert result.exit_code == 0, str(result)
    assert "no lock is held" not in result.stderr
    assert "cannot tell whether an autoscaler" not in result.stderr


@pytest.mark.contract("B11", "B2")
@pytest.mark.parametrize("command", ["undo", "restart", "resume", "verify"])
def test_one_role_is_enough_for_a_command_and_its_lock(
    scene: Scene, gate_with_rules: MakeGate, command: str
) -> None:
    """After it nothing is missing, no lock is gone without, and autoscalers can be seen."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    words = (command, "web", *(["--lock"] if command == "verify" else []))
    gate = gate_with_rules([])
    grant(scene, gate(*words), "watch pods")
    result = gate(*words)
    assert result.exit_code == 0, str(result)
    assert "no lock is held" not in result.stderr
    assert "cannot tell whether an autoscaler" not in result.stderr


@pytest.mark.contract("B1861", "B11")
@pytest.mark.parametrize("command", ["undo", "restart"])
def test_only_an_undo_advises_the_right_to_see_autoscalers(
    scene: Scene, gate_with_rules: MakeGate, command: str
) -> None:
    """It is optional there; a `restart` writes no number of replicas."""
    assert_verified(scene.apply(web()))
    refused = gate_with_rules([])(command, "web").stderr
    is_advised = command == "undo"
    needed, _, optional = refused.partition("# optional: ")
    assert ("horizontalpodautoscalers" in optional) is is_advised
    assert "horizontalpodautoscalers" not in needed.partition("kind: Role")[2]


@pytest.mark.contract("B1861")
def test_an_undo_that_may_not_look_for_autoscalers_warns_and_goes_on(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """It keeps the live number whoever decides on it."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    result = gate_with_rules([*rules(*READING, "patch"), LEASE_RULES])("undo", "web")
    assert result.exit_code == 0, str(result)
    assert "cannot tell whether an autoscaler owns replicas in" in result.stderr
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B11")
def test_only_what_is_warned_of_is_optional(scene: Scene, gate_with_rules: MakeGate) -> None:
    """It stands last in the Role, below what says so; without a lock nobody warns of its rights."""
    gate = gate_with_rules([])
    path = scene.manifest(web())
    needed, _, optional = gate("apply", "-f", path).stderr.partition("# optional: ")
    assert "leases" in optional
    assert "horizontalpodautoscalers" in optional
    assert "leases" not in needed.partition("kind: Role")[2]
    without = gate("apply", "-f", path, "--no-lock").stderr
    assert "horizontalpodautoscalers" in without
    assert "leases" not in without


@pytest.mark.contract("B33")
def test_reads_that_become_forbidden_are_lost_contact(
    scene: Scene,
    gate_with_rules: MakeGate,
) -> None:
    """Rights that are taken away after the write leave nothing to judge by: 9."""
    scene.serve(web())
    gate = gate_with_rules(rules(*READING, "create", "patch"))
    path = scene.manifest(web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line(UNDER_WAY)
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
    said = one_line(report(scene, result))
    assert "no longer lets this run read what it wrote; what runs is unknown" in said
    assert "once the rights are back, look: rollout-gate status web" in said
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


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
    assert "configmap/extra: not returned, and not as it was verified" in one_line(
        report(scene, again)
    )


def apply_and_lose(
    scene: Scene, gate: CheckedGate, left: Sequence[JSON], *bodies: JSON
) -> tuple[Result, str]:
    """Apply a version of web that crashes, and leave the gate these rights once it is written.

    Returns the result, and the name of the gate's Role.
    """
    path = scene.manifest(*bodies, web(2, behaviour="crash=0.5"))
    with gate.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line(UNDER_WAY)
        [role] = scene.objects.list_all("roles")
        name = role["metadata"]["name"]
        scene.objects.patch("roles", name, {"rules": [*left]})
        return running.wait(), name


WRITING = rules(*READING, "create", "patch")
LEASES_READ: JSON = {**LEASE_RULES, "verbs": ["get"]}
MAPS: JSON = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "patch"]}


@pytest.mark.fault(37)
@pytest.mark.contract("B25", "B785")
@pytest.mark.parametrize("keeps_its_lock", [False, True])
def test_a_way_back_that_was_refused_whole_was_not_written(
    scene: Scene, gate_with_rules: MakeGate, keeps_its_lock: bool
) -> None:
    """The report names the right, and leads to what finishes it once that is back."""
    scene.serve(web())
    gate = gate_with_rules([*WRITING, LEASE_RULES])
    left = [*rules(*READING), LEASE_RULES if keeps_its_lock else LEASES_READ]
    result, _ = apply_and_lose(scene, gate, left)
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    assert any("patch" in cause["message"] for cause in ended["causes"])
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert result.document["rollback"]["written_at"] == ""
    assert result.document["recoverable"] is not keeps_its_lock
    shown = one_line(report(scene, result))
    assert "rollback not written within " in shown
    assert "see what keeps the version before" not in shown
    assert "ask for the missing rights" in shown
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
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """What the attempt changed it returned: `recover` says what is so, not that it did nothing."""
    scene.serve(web(), web(name="api"))
    gate = gate_with_rules([*WRITING, LEASE_RULES])
    result, _ = apply_and_lose(scene, gate, [*WRITING, LEASES_READ], web(2, name="api"))
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    finished = scene.gate("recover", "web")
    assert finished.exit_code == 0, str(finished)
    assert "deployment/api: all that it was to change is as it was before" in finished.stderr


@pytest.mark.contract("B779", "B774")
def test_configuration_that_a_missing_right_kept_leads_to_undo(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """The pods are those of before: the right is what lacks, and no fault of theirs."""
    assert_verified(scene.apply(settings("one"), web()))
    common = [*WRITING, LEASE_RULES]
    gate = gate_with_rules([*common, MAPS])
    left = [*common, {**MAPS, "verbs": ["get"]}]
    result, _ = apply_and_lose(scene, gate, left, settings("two"))
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    said = one_line(report(scene, result))
    assert "configmap/settings is still as written, because a right was missing" in said
    assert "rollout-gate undo web" in said


@pytest.mark.contract("B902")
def test_a_deployment_that_the_server_keeps_from_going_back_leads_to_undo(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """Its configuration is back, and the pods are not: what goes back once that is allowed."""
    assert_verified(scene.apply(settings("one"), web()))
    common = [MAPS, LEASE_RULES]
    gate = gate_with_rules([*common, *WRITING])
    result, role = apply_and_lose(scene, gate, [*common, *rules(*READING)], settings("two"))
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert result.document["rollback"]["written_at"]
    said = one_line(report(scene, result))
    assert "once its cause is gone, go back again: rollout-gate undo web" in said
    scene.objects.patch("roles", role, {"rules": [*common, *rules("*")]})
    assert_verified(scene.gate("undo", "web", "--output", "json"))
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
