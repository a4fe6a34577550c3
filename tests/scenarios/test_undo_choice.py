"""What `undo` calls the version that it goes to is what it goes to."""

from __future__ import annotations

import re

import pytest

from tests.bed.expectations import (
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.pods import behave
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.versions import CRASH, DOCUMENT, apply_and_keep, mode, undo

pytestmark = pytest.mark.sandbox_only(
    "what a lock remembers is the gate's own, whatever cluster keeps it"
)


@pytest.mark.contract("B1304")
@pytest.mark.parametrize("kind", ["deployment", "statefulset"])
def test_an_undo_is_held_against_the_revision_that_it_left_alone(scene: Scene, kind: str) -> None:
    """Of one template there are several after restarts: the others are no worse for it."""
    make, name = (web, "web") if kind == "deployment" else (stateful_set, "db")
    named = f"{kind}/{name}"
    assert_verified(scene.apply(make(behaviour="ready=1.5")))
    for _ in range(2):
        assert_verified(scene.gate("restart", named, *DOCUMENT))
    assert_verified(scene.gate("undo", named, *DOCUMENT))
    again = scene.gate("undo", named, *DOCUMENT)
    assert_verified(again)
    assert f"goes to revision 1 (shop/{name}:1), the same version" in again.stderr
    left = scene.gate("undo", named)
    assert_refused(left, "NoBaseline")
    assert (
        len(re.findall("an undo left it at", left.stderr))
        + len(re.findall("a restart of the version that runs", left.stderr))
        == 2
    )


@pytest.mark.contract("B1304", "B705")
def test_an_undo_of_a_version_that_somebody_restarted_leaves_all_of_it(scene: Scene) -> None:
    """The next one does not go forward to it again; to name it takes the undo back."""
    at = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T01:00:00Z"}
    assert_verified(scene.apply(web()))
    assert_verified(scene.apply(web(2)))
    restarted = {"spec": {"template": {"metadata": {"annotations": at}}}}
    scene.objects.patch("deployments", "web", restarted)
    scene.wait_done("deployments", "web")
    assert_verified(undo(scene))
    again = scene.gate("undo", "web")
    assert_refused(again, "NoBaseline")
    assert len(re.findall("an undo left it at", again.stderr)) == 2
    assert_verified(scene.gate("undo", "web", "--to-revision", "2", *DOCUMENT))
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1017", "B1253")
def test_undo_of_a_restart_does_not_say_that_nothing_changes(scene: Scene) -> None:
    """It takes the annotation over and away: pods are replaced, and a failure returns to them."""
    assert_verified(scene.apply(web()))
    assert_verified(scene.gate("restart", "web", *DOCUMENT))
    tried = scene.gate("undo", "web")
    said = "deployment/web: a failure of this undo returns to revision 2 (shop/web:1)"
    assert said in tried.stderr
    assert "nothing changes" not in tried.stderr


@pytest.mark.contract("B1138")
@pytest.mark.parametrize(
    ("ref", "resource", "old", "new"),
    [
        ("deployment/web", "deployments", web(), web(2)),
        ("statefulset/db", "statefulsets", stateful_set(), stateful_set(image="shop/db:2")),
    ],
)
def test_a_dry_run_of_an_undo_says_where_it_goes_and_writes_nothing(
    scene: Scene, ref: str, resource: str, old: JSON, new: JSON
) -> None:
    """Neither an object nor a lock; the undo then does what was said."""
    assert_verified(scene.apply(settings("one"), old))
    assert_verified(scene.apply(settings("two"), new))
    kinds = ("configmaps", resource, "leases")
    before = [scene.objects.list_all(kind) for kind in kinds]
    tried = scene.gate("undo", ref, "--dry-run", *DOCUMENT)
    assert [scene.objects.list_all(kind) for kind in kinds] == before
    assert (tried.exit_code, tried.document["reason"]) == (0, "DryRun")
    would = f"a dry run: nothing was written; an undo would change configmap/settings, {ref}"
    assert tried.document["message"] == would
    [goes] = re.findall(rf"{ref} goes to revision 1 .*", tried.stderr)
    done = scene.gate("undo", ref, *DOCUMENT)
    assert_verified(done)
    assert goes in done.stderr
    assert mode(scene) == "one"


@pytest.mark.contract("B703", "B747")
def test_undo_goes_to_the_revision_that_it_names(scene: Scene) -> None:
    """What was applied holds no restart: the ReplicaSet of before it serves again."""
    assert_verified(scene.apply(web()))
    before = scene.objects.list_all("replicasets")
    assert_verified(scene.gate("restart", "web", *DOCUMENT))
    assert_verified(scene.apply(web(2)))
    (first,) = (one["metadata"]["name"] for one in before)
    result = undo(scene)
    assert_verified(result)
    assert "goes to revision 1 (shop/web:1), verified at" in result.stderr
    assert result.document["deployments"][0]["new"]["replicaset"] == first
    again = undo(scene, "--to-revision", "3")
    assert_verified(again)
    words = "goes to revision 3 (shop/web:2), without its restart, so its pods are created again"
    assert words in again.stderr


@pytest.mark.contract("B704")
def test_undo_to_the_revision_that_runs_is_followed(scene: Scene) -> None:
    """There is a Deployment to follow: the one that was named."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.apply(settings("two"), web(2)))
    result = undo(scene, "--to-revision", "2")
    assert_verified(result, "NoChange")
    assert "deployment/web is at revision 2 (shop/web:2) already" in result.stderr
    assert_runs(scene.objects, "shop/web:2", revision=2)


@pytest.mark.contract("B703", "B766")
def test_a_refusal_says_of_what_runs_that_it_is_its_configuration(scene: Scene) -> None:
    """The pod template alone is what runs: it is not advised, and what is advised works."""
    assert_verified(scene.apply(secret("emVybw=="), web(3)))
    assert_verified(scene.apply(secret("b25l"), web()))
    apply_and_keep(scene, secret("dHdv"), web(2, behaviour=CRASH))
    assert_verified(undo(scene, "--deployment-only"))
    result = undo(scene)
    runs = "revision 4 (shop/web:1), which runs, with its configuration of 2"
    assert_refused(result, "SetIncomplete", runs)
    (hint,) = (line for line in result.stderr.splitlines() if "hint" in line)
    assert "of revision 1 (shop/web:3)" in hint
    advised = ("undo", "web", "--deployment-only", "--to-revision", "1")
    assert " ".join(advised[2:]) in hint
    assert_verified(scene.gate(*advised, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:3")


@pytest.mark.contract("B703")
def test_a_good_version_applied_again_is_no_other_set(scene: Scene) -> None:
    """Good, bad and paused, good again: what runs is not returned to."""
    good = (settings("one"), secret("b25l"), web())
    assert_verified(scene.apply(*good))
    paused = ("--on-failure", "pause")
    bad = scene.apply(settings("two"), secret("dHdv"), web(2, behaviour=CRASH), flags=paused)
    assert bad.exit_code == 6, str(bad)
    assert_verified(scene.apply(*good))
    result = undo(scene)
    assert_refused(result, "NoBaseline", "revision 2 (shop/web:2)", "CrashLoop")
    assert not warned(result, "has changed since")


@pytest.mark.contract("B703", "B704")
def test_undo_to_what_is_not_remembered_does_not_say_that_no_gate_verified_it(
    scene: Scene,
) -> None:
    """Three verified sets are remembered; of a revision that failed it is said that it did."""
    for version in range(1, 5):
        assert_verified(scene.apply(web(version)))
    assert_rolled_back(scene.apply(web(5, behaviour=CRASH)), "CrashLoop")
    failed = undo(scene, "--to-revision", "5")
    assert warned(failed, "revision 5 (shop/web:5) failed at", "CrashLoop")
    result = undo(scene, "--to-revision", "1")
    assert_verified(result)
    assert warned(result, "no verification of revision 1 (shop/web:1) is remembered")


def fail_a_restart(scene: Scene) -> None:
    """Restart with new pods that are never ready: it goes back."""
    before = {pod["metadata"]["name"] for pod in scene.objects.list_all("pods")}
    with scene.gate.start("restart", "web", "--timeout", "25s", *DOCUMENT) as running:
        running.wait_for_line("replicaset ")
        scene.objects.wait("pods", lambda found: len(found) > len(before))
        pods = scene.objects.list_all("pods")
        new = [one for one in pods if one["metadata"]["name"] not in before]
        behave(scene, new, "never-ready")
        result = running.wait()
    assert (result.exit_code, result.document["outcome"]) == (4, "rolled-back"), str(result)


@pytest.mark.contract("B703", "B797")
def test_undo_after_a_failed_restart_skips_that_restart(scene: Scene) -> None:
    """What runs is the version of before it; its restart came later, and failed."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    fail_a_restart(scene)
    result = undo(scene)
    assert_verified(result)
    skipped = "skipped revision 3 (shop/web:2): it is a restart of the version that runs, and it "
    assert f"{skipped}failed at" in result.stderr
    assert "before a restart" not in result.stderr
    assert warned(result, "was rolled back already, from a restart of shop/web:2 at")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B703", "B797")
def test_an_undo_calls_a_restart_of_the_version_that_it_goes_to_that(scene: Scene) -> None:
    """It was verified later than the revision that is returned to, not earlier."""
    assert_verified(scene.apply(web()))
    assert_verified(scene.gate("restart", "web", *DOCUMENT))
    assert_verified(scene.apply(web(2)))
    result = undo(scene)
    assert_verified(result)
    assert "skipped revision 2 (shop/web:1): it is a restart of revision 1" in result.stderr
    assert "verified earlier" not in result.stderr


@pytest.mark.contract("B705", "B797")
def test_a_second_undo_does_not_bring_a_restart_back(scene: Scene) -> None:
    """The first went back before it."""
    assert_verified(scene.apply(web()))
    assert_verified(scene.gate("restart", "web", *DOCUMENT))
    assert_verified(undo(scene))
    result = scene.gate("undo", "web")
    assert_refused(result, "NoBaseline", "revision 2 (shop/web:1): it is a restart of the version")
    named = "to return to revision 2 anyway: rollout-gate undo web --to-revision 2"
    assert named in result.stderr


@pytest.mark.contract("B706", "B799")
@pytest.mark.parametrize("command", ["undo", "apply"])
def test_what_is_applied_again_is_not_passed_over_in_silence(scene: Scene, command: str) -> None:
    """Version 2 was verified last; it is what is applied, so a failure returns to 1."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    apply_and_keep(scene, web(3, behaviour=CRASH))
    result = undo(scene) if command == "undo" else scene.apply(web(2))
    assert_verified(result)
    to = "a failure returns to revision 1 (shop/web:1), verified before the one that is applied"
    assert to in result.stderr
    assert "the last verified" not in result.stderr
