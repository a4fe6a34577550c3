"""Rights that are missing: the Role that a refusal advises, applied as it is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import yaml

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import assert_refused, assert_verified
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import yaml_text

MakeGate = Callable[[Sequence[JSON]], CheckedGate]
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
    """After it nothing is missing, and no lock is gone without."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    words = (command, "web", *(["--lock"] if command == "verify" else []))
    gate = gate_with_rules([])
    grant(scene, gate(*words), "watch pods")
    result = gate(*words)
    assert result.exit_code == 0, str(result)
    assert "no lock is held" not in result.stderr


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
