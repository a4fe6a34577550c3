"""`history` and `undo` of what became immutable, and of what was deleted for that, as advised."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import CRASH, DOCUMENT, mode


def leave_immutable(scene: Scene, *versions: int) -> None:
    """Verify versions, then fail one that leaves its ConfigMap immutable."""
    for version in versions:
        assert_verified(scene.apply(settings(str(version)), web(version)))
    frozen = {**settings("9"), "immutable": True}
    flags = ["--allow-irreversible"]
    failed = scene.apply(frozen, web(9, behaviour=CRASH), flags=flags)
    assert_ended(failed, 5, "rollback-failed", "CrashLoop", running="baseline")


@pytest.mark.contract("B798", "B721")
def test_history_marks_no_undo_over_what_became_immutable(scene: Scene) -> None:
    """The configuration of what runs cannot be restored by a write."""
    leave_immutable(scene, 1, 2)
    rows = json.loads(scene.gate("history", "web", *DOCUMENT).stdout)
    (marked,) = [row for row in rows if row["undo_returns"]]
    assert (marked["running"], marked["undo_lacks"]) == (True, ["configmap/settings"])
    shown = scene.gate("history", "web").stdout
    assert "undo would return here" not in shown


@pytest.mark.contract("B798", "B753")
@pytest.mark.parametrize("versions", [(1,), (1, 2)])
def test_a_refused_undo_names_the_deletion_that_lets_it_work(
    scene: Scene, versions: tuple[int, ...]
) -> None:
    """What is deleted is created again, with what runs: the undo goes back no further."""
    leave_immutable(scene, *versions)
    refused = scene.gate("undo", "web", *DOCUMENT)
    assert_refused(refused, "SetIncomplete", "configmap/settings is immutable now")
    (hint,) = [line for line in refused.stderr.splitlines() if line.startswith("hint: ")]
    delete, undo = (part.split(": ", 1)[1] for part in hint.removeprefix("hint: ").split("; "))
    assert shlex.split(delete)[:3] == ["kubectl", "delete", "configmap/settings"]
    scene.objects.delete("configmaps", "settings")
    words = shlex.split(undo)
    assert words[0] == "rollout-gate"
    assert_verified(scene.gate(*words[1:], *DOCUMENT), "NoChange")
    assert_runs(scene.objects, f"shop/web:{versions[-1]}")
    assert mode(scene) == str(versions[-1])


@pytest.mark.contract("B798", "B786")
def test_what_somebody_made_immutable_is_refused_alike(scene: Scene) -> None:
    """In mid-flight: the attempt had written it, and cannot take it back."""
    for version in (1, 2):
        assert_verified(scene.apply(settings(str(version)), web(version)))
    with scene.applying(settings("9"), web(9, behaviour="crash=1")) as running:
        running.wait_for_line("applied +deployment/web changed")
        scene.objects.patch("configmaps", "settings", {"immutable": True})
        assert running.wait().exit_code == 5
    refused = scene.gate("undo", "web", *DOCUMENT)
    assert_refused(refused, "SetIncomplete", "configmap/settings is immutable now")
    scene.objects.delete("configmaps", "settings")
    assert_verified(scene.gate("undo", "web", *DOCUMENT), "NoChange")
    assert_runs(scene.objects, "shop/web:2")
    assert mode(scene) == "2"


def reading(body: JSON, name: str) -> JSON:
    """Let the pods of a Deployment read a ConfigMap."""
    (container,) = body["spec"]["template"]["spec"]["containers"]
    container["envFrom"] = [{"configMapRef": {"name": name}}]
    return body


@pytest.mark.contract("B798", "B703")
def test_an_undo_brings_back_what_the_pods_that_run_refer_to(scene: Scene) -> None:
    """Somebody deleted it: the next pod could not start, whichever version is meant."""
    for version in (1, 2):
        body = reading(web(version), "settings")
        assert_verified(scene.apply(settings(str(version)), body))
    scene.objects.delete("configmaps", "settings")
    result = scene.gate("undo", "web", *DOCUMENT)
    assert_verified(result, "NoChange")
    assert "which runs, with its configuration" in result.stderr
    assert mode(scene) == "2"


@pytest.mark.contract("B798", "B703")
def test_an_undo_leaves_what_runs_where_something_older_is_gone(scene: Scene) -> None:
    """A ConfigMap of the version before was cleaned away: it comes back with that version."""
    assert_verified(scene.apply(settings("1"), web()))
    assert_verified(scene.apply(web(2)))
    scene.objects.delete("configmaps", "settings")
    assert_verified(scene.gate("undo", "web", *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "1"


@pytest.mark.contract("B798", "B703")
def test_a_secret_that_is_gone_is_said_to_be_gone(scene: Scene) -> None:
    """What it was is not kept: that is the reason, not a change of somebody else."""
    assert_verified(scene.apply(secret("one-value"), web()))
    frozen = {**secret("two-value"), "immutable": True}
    flags = ["--allow-irreversible"]
    failed = scene.apply(frozen, web(9, behaviour=CRASH), flags=flags)
    assert failed.exit_code == 5, str(failed)
    scene.objects.delete("secrets", "keys")
    refused = scene.gate("undo", "web", *DOCUMENT)
    assert_refused(refused, "SetIncomplete", "secret/keys is gone, and its content at that time")


@pytest.mark.contract("B798")
def test_where_all_that_is_left_failed_its_manifest_comes_first(scene: Scene) -> None:
    """The hint does not lead to the failed version alone."""
    assert_verified(scene.apply(web()))
    assert_rolled_back(scene.apply(web(2, behaviour=CRASH)), "CrashLoop")
    refused = scene.gate("undo", "web", *DOCUMENT)
    assert_refused(refused, "NoBaseline", "revision 2 (shop/web:2): it failed")
    assert "hint: apply the manifest of the version that should run; " in refused.stderr
