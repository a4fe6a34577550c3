"""What `history` and `undo` say of a version is what was found of that one."""

from __future__ import annotations

import json

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, secret, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import CRASH, DOCUMENT, mode

BAD_CHECK = ("--smoke-test", "false")
DOUBT = ("--smoke-test", "sh -c 'exit 75'")


def shown(scene: Scene, result: Result) -> str:
    """Return what a person reads of a result."""
    (scene.folder / "result.json").write_text(result.stdout)
    return " ".join(scene.gate("report", "result.json").stdout.split())


def rows_of(scene: Scene) -> dict[int, JSON]:
    """Return what `history` tells of each revision."""
    rows = json.loads(scene.gate("history", "web", *DOCUMENT).stdout)
    return {row["revision"]: row for row in rows}


def fail_unchanged(scene: Scene, *bodies: JSON) -> Result:
    """Apply what runs already, with a check that does not pass."""
    result = scene.apply(*bodies, flags=BAD_CHECK)
    assert_ended(result, 6, "failed", "CheckFailed", running="new")
    assert not any(one["action"] != "unchanged" for one in result.document["objects"])
    return result


@pytest.mark.contract("B795", "B766")
@pytest.mark.parametrize("versions", [1, 2])
def test_an_apply_that_changed_nothing_calls_nothing_new(scene: Scene, versions: int) -> None:
    """What runs stands as it was, and no undo is advised to return to what it never left."""
    for version in range(1, versions + 1):
        assert_verified(scene.apply(secret(f"value-{version}"), web(version)))
    result = fail_unchanged(scene, secret(f"value-{versions}"), web(versions))
    text = shown(scene, result)
    assert "the new version" not in text
    assert "deployment/web failed, and this run had not changed it: it stands as it was" in text
    assert "rollout-gate undo" not in text


@pytest.mark.contract("B795", "B762")
def test_a_failure_of_what_did_not_change_is_remembered(scene: Scene) -> None:
    """`history`, a later failure and `undo` pass to the set that did not fail since."""
    for version in (1, 2):
        assert_verified(scene.apply(settings(str(version)), web(version)))
    fail_unchanged(scene, settings("2"), web(2))
    rows = rows_of(scene)
    assert (rows[2]["verdict"], rows[2]["reason"]) == ("failed", "CheckFailed")
    assert [number for number, row in rows.items() if row["returned_to"]] == [1]
    assert [number for number, row in rows.items() if row["undo_returns"]] == [1]
    result = scene.apply(settings("3"), web(3, behaviour=CRASH))
    assert "what runs was not verified (CheckFailed)" in result.stderr
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "1"


@pytest.mark.contract("B795")
def test_an_apply_that_changes_nothing_is_no_other_the_second_time(scene: Scene) -> None:
    """A job that is tried again takes nothing down: the Secret of before is not kept."""
    for version in (1, 2):
        assert_verified(scene.apply(secret(f"value-{version}"), web(version)))
    for _ in range(2):
        fail_unchanged(scene, secret("value-2"), web(2))
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B795", "B723")
def test_an_unchanged_neighbour_of_a_failure_is_not_remembered_as_failed(scene: Scene) -> None:
    """Nothing changed of either: one did not pass its checks, and the other keeps its name."""
    both = (web(), web(name="worker"))
    assert_verified(scene.apply(*both))
    path = scene.folder / "gate.yaml"
    path.write_text('checks: [{name: broken, deployment: worker, command: ["false"]}]\n')
    result = scene.apply(*both, flags=["--config", str(path)])
    assert result.exit_code == 6, str(result)
    assert rows_of(scene)[1]["verdict"] == "verified"
    assert "the new version" not in shown(scene, result)


@pytest.mark.contract("B879")
@pytest.mark.parametrize("changed", [False, True])
def test_what_changes_nothing_is_said_to_return_to_nothing(scene: Scene, changed: bool) -> None:
    """The version runs already: only where configuration changes would a failure move anything."""
    assert_verified(scene.apply(settings("1"), web()))
    result = scene.gate("preflight", "-f", scene.manifest(settings("12"[changed]), web()))
    line = next(one for one in result.stderr.splitlines() if " baseline " in one)
    to = "deployment/web: a failure returns to revision 1 (shop/web:1)"
    nothing = "deployment/web: revision 1 (shop/web:1) runs, and nothing changes"
    assert line.partition("baseline    ")[2] == (
        to if changed else f"{nothing}: a failure takes nothing back"
    )


@pytest.mark.contract("B190", "B797")
def test_a_restart_that_failed_is_not_called_verified(scene: Scene) -> None:
    """The judgement is that of its ReplicaSet, not of the template that it has in common."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    enforce(scene.objects, quota({"pods": "2"}))
    result = scene.gate("restart", "web", "--timeout", "25s", *DOCUMENT)
    assert result.exit_code == 4, str(result)
    rows = rows_of(scene)
    assert rows[3]["verdict"] == "failed", rows
    assert rows[4]["verdict"] == "verified", rows


@pytest.mark.contract("B700", "B796")
def test_doubt_of_what_was_verified_before_another_version_leaves_it_unverified(
    scene: Scene,
) -> None:
    """Two, then one were verified; then two, with a check that lacks evidence: one was last."""
    for version in (2, 1):
        assert_verified(scene.apply(settings(str(version)), web(version)))
    doubted = scene.apply(settings("2"), web(2), flags=DOUBT)
    assert doubted.exit_code == 7, str(doubted)
    rows = rows_of(scene)
    for mark in ("returned_to", "undo_returns"):
        assert [row["images"] for row in rows.values() if row[mark]] == [["shop/web:1"]]
    result = scene.apply(settings("3"), web(3, behaviour=CRASH))
    assert "what runs was not verified (CheckError)" in result.stderr
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "1"


@pytest.mark.contract("B190", "B797")
def test_the_failure_is_that_of_the_replica_set_that_was_followed(scene: Scene) -> None:
    """Somebody adds a container in mid-flight: what crashes is no ReplicaSet of ours."""
    for version in (1, 2):
        assert_verified(scene.apply(settings(str(version)), web(version)))
    with scene.applying(settings("3"), web(3, behaviour="crash=3")) as running:
        running.wait_for_line("following replicaset")
        add_a_container(scene)
        result = running.wait()
    assert result.exit_code == 4, str(result)
    failed = result.document["deployments"][0]["new"]
    rows = rows_of(scene)
    assert [n for n, row in rows.items() if row["verdict"] == "failed"] == [failed["revision"]]
    assert rows[failed["revision"]]["images"] == failed["images"] == ["shop/web:3", "x/side:1"]


def add_a_container(scene: Scene) -> None:
    """Add one to the live pod template, as somebody who is not the gate."""
    live = scene.objects.get("deployments", "web")
    template = live["spec"]["template"]
    template["spec"]["containers"].append({"name": "side", "image": "x/side:1"})
    scene.change_as("kubectl-edit", {"spec": {"template": template}})
