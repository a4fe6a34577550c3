"""What serves beside a bad version is called so, and what was verified before it is called that."""

from __future__ import annotations

import shlex

import pytest

from tests.bed.expectations import assert_runs, assert_verified, warned
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import CRASH, DOCUMENT, KEEP, history_rows, one_line, report, undo

pytestmark = pytest.mark.sandbox_only("what is said of versions is the same on any cluster")


def change(scene: Scene, *versions: int) -> None:
    """Bring versions by kubectl, one after the other, each to its end."""
    for version in versions:
        scene.apply_as("kubectl", web(version))
        scene.wait_done("deployments", "web")


def crash(scene: Scene, version: int) -> None:
    """Bring a version by kubectl whose first pod crashes, so that the old ones stay."""
    generation = scene.apply_as("kubectl", web(version, behaviour=CRASH))["metadata"]["generation"]

    def has_a_pod(live: JSON) -> bool:
        status = live["status"]
        return status["observedGeneration"] >= generation and bool(status.get("updatedReplicas"))

    scene.objects.wait_for("deployments", "web", has_a_pod)


def verify_one_serve_another(scene: Scene) -> None:
    """Verify v1 with the gate, then bring v2 and v3 by kubectl, and v4, which crashes."""
    assert_verified(scene.apply(web()))
    change(scene, 2, 3)
    crash(scene, 4)


@pytest.mark.contract("B1660")
@pytest.mark.parametrize("command", ["verify", "apply"])
def test_what_was_verified_last_is_not_called_what_served(scene: Scene, command: str) -> None:
    """Both are named, with the undo that goes to each; the one to what serves goes there."""
    verify_one_serve_another(scene)
    if command == "verify":
        result = scene.gate("verify", "web", *DOCUMENT)
    else:
        flags = (*KEEP, "--force-conflicts")
        result = scene.apply(web(5, behaviour=CRASH), flags=flags)
    assert result.exit_code == 6, str(result)
    baseline = result.document["workloads"][0]["baseline"]
    assert (baseline["revision"], baseline["served"]) == (1, False)
    shown = report(scene, result)
    assert "before    revision" not in shown
    assert "served before" not in one_line(shown)
    assert "serves    revision 3, shop/web:3, with 2 of 2 pods" in shown
    assert "verified  revision 1, shop/web:1" in shown
    assert "to return to what serves, revision 3, shop/web:3, with 2 of 2 pods" in one_line(shown)
    assert "to return to the last other verified version" in one_line(shown)
    lines = [shlex.split(line) for line in shown.splitlines()]
    to_serving, to_verified = [words[1:] for words in lines if words[1:2] == ["undo"]]
    assert ("3" in to_serving, "1" in to_verified) == (True, True)
    assert_verified(scene.gate(*to_serving, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:3")


@pytest.mark.contract("B1660")
def test_what_was_verified_and_serves_is_what_served_before(scene: Scene) -> None:
    """There is one version to return to, and one undo."""
    assert_verified(scene.apply(web()))
    crash(scene, 2)
    result = scene.gate("verify", "web", *DOCUMENT)
    assert result.document["workloads"][0]["baseline"]["served"] is True
    shown = report(scene, result)
    assert "before    revision 1, shop/web:1" in shown
    assert "to return to the version that served before" in one_line(shown)
    assert shown.count("rollout-gate undo") == 1


@pytest.mark.contract("B1661")
def test_before_the_first_write_it_is_said_what_serves_until_then(scene: Scene) -> None:
    """The failure still returns to what was verified."""
    verify_one_serve_another(scene)
    flags = ("--force-conflicts", "--dry-run", *DOCUMENT)
    tried = scene.gate("apply", "-f", scene.manifest(web(5)), *flags)
    said = (
        "what is live does not serve, so a failure returns to the last verified revision 1"
        " (shop/web:1); revision 3 (shop/web:3) serves until then"
    )
    assert said in tried.stderr


@pytest.mark.contract("B1662")
def test_an_undo_past_what_serves_warns_and_names_the_other_undo(scene: Scene) -> None:
    """It goes to what was verified all the same; who names a revision is told nothing."""
    verify_one_serve_another(scene)
    tried = undo(scene, "--dry-run", "--force-conflicts")
    found = "revision 3 (shop/web:3) was found serving, with 2 of 2 pods"
    assert warned(tried, f"{found}: this undo replaces it by revision 1 (shop/web:1)")
    (line,) = (one for one in tried.stderr.splitlines() if found in one)
    words = shlex.split(line.partition("to return to it instead: rollout-gate ")[2])
    assert words[:4] == ["undo", "web", "--to-revision", "3"]
    named = scene.gate(*words, *DOCUMENT)
    assert_verified(named)
    assert not warned(named, "was found serving")
    assert_runs(scene.objects, "shop/web:3")


@pytest.mark.contract("B1663")
@pytest.mark.parametrize("serves", [True, False])
def test_what_serves_was_not_returned_from(scene: Scene, *, serves: bool) -> None:
    """A bad version brought again is no return, unless it serves as well."""
    change(scene, 1, 2, 1)
    bring_bad = crash if serves else change
    bring_bad(scene, 3)
    change(scene, 1)
    bring_bad(scene, 3)
    (marked,) = [one["images"] for one in history_rows(scene) if one["undo_returns"]] or [[]]
    result = undo(scene, "--force-conflicts")
    assert_verified(result)
    assert ("is a return from it" in result.stderr) is not serves
    assert_runs(scene.objects, "shop/web:1" if serves else "shop/web:2")
    assert marked == (["shop/web:1"] if serves else [])


@pytest.mark.contract("B1666")
def test_to_resume_what_is_not_paused_takes_nothing_back(scene: Scene) -> None:
    """It says so as an apply does that changes nothing."""
    assert_verified(scene.apply(web()))
    said = "revision 1 (shop/web:1) runs, and nothing changes: a failure takes nothing back"
    for words in (("resume", "web"), ("apply", "-f", scene.manifest(web()))):
        result = scene.gate(*words, *DOCUMENT)
        assert_verified(result, "NoChange")
        assert said in result.stderr
