"""`undo` over an attempt whose gate died: its recovery may be the undo."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_runs,
    assert_verified,
    images,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import JOB, SLOW, is_observed, kill_apply, kill_at
from tests.scenarios.versions import (
    DOCUMENT,
    mode,
    one_line,
    report,
    undo,
    verify_versions,
)

pytestmark = pytest.mark.sandbox_only("minutes of waiting")


@pytest.mark.contract("B764", "B1914")
@pytest.mark.parametrize("line", [UNDER_WAY, "restored +deployment"])
@pytest.mark.parametrize("versions", [1, 2])
def test_a_recovery_that_undid_it_is_the_undo(
    scene: Scene, program: PlayedGate, versions: int, line: str
) -> None:
    """Back to what served, and no further; it does not advise the bad revision."""
    for version in range(1, versions + 1):
        assert_verified(scene.apply(web(version)))
    behaviour = "crash=0.1" if line.startswith("restored") else SLOW
    kill_apply(scene, program, web(9, behaviour=behaviour), line=line)
    result = undo(scene)
    reason = "CrashLoop" if line.startswith("restored") else "Interrupted"
    assert_ended(result, 4, "rolled-back", reason, running="baseline")
    assert "what an earlier attempt had left is undone" in result.stderr
    assert "--to-revision" not in str(result)
    said = one_line(report(scene, result))
    assert "ROLLED BACK (exit 4): what an earlier run had left is undone: deployment/web" in said
    assert "repeat the command" not in said
    assert_runs(scene.objects, f"shop/web:{versions}")


@pytest.mark.contract("B1138")
def test_a_dry_run_of_an_undo_says_that_a_recovery_comes_first(
    scene: Scene, program: PlayedGate
) -> None:
    """What would be left to undo then nobody can tell; the record stays."""
    assert_verified(scene.apply(web()))
    kill_apply(scene, program, web(9, behaviour=SLOW))
    leases = scene.objects.list_all("leases")
    tried = undo(scene, "--dry-run")
    assert_refused(tried, "Locked", "an attempt on deployment/web is unfinished")
    assert "rollout-gate recover web" in tried.document["hint"]
    assert scene.objects.list_all("leases") == leases


@pytest.mark.contract("B764")
def test_a_revision_that_was_named_is_gone_to(scene: Scene, program: PlayedGate) -> None:
    """The recovery comes first; then the undo does what it was asked for."""
    assert_verified(scene.apply(web()))
    assert_verified(scene.apply(web(2)))
    kill_apply(scene, program, web(9, behaviour=SLOW))
    assert_verified(undo(scene, "--to-revision", "1"))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B764", "B857")
@pytest.mark.parametrize(
    ("line", "is_renumbered"),
    [(UNDER_WAY, True), ("applied .*settings", False)],
    ids=["whole", "half"],
)
def test_a_revision_is_what_it_was_when_the_command_began(
    scene: Scene, program: PlayedGate, line: str, *, is_renumbered: bool
) -> None:
    """The recovery renumbers what it returns to; the number that a person saw still means it."""
    assert_verified(scene.apply(settings("one"), web()))
    kill_apply(scene, program, settings("two"), web(2, behaviour=SLOW), line=line)
    result = program("undo", "web", "--to-revision", "1")
    assert result.exit_code == 0, str(result)
    said = "revision 1 (shop/web:1) is revision 3 now"
    assert (said in result.stderr) is is_renumbered
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B857")
def test_a_revision_that_is_not_there_is_refused_before_the_recovery(
    scene: Scene, program: PlayedGate
) -> None:
    """What a recovery makes of the numbers is none of those that a person could name."""
    assert_verified(scene.apply(web()))
    kill_apply(scene, program, web(2, behaviour=SLOW))
    result = undo(scene, "--to-revision", "3")
    assert_refused(result, "NotFound", "deployment/web has no revision 3")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B857")
def test_a_revision_that_a_dead_undo_renumbered_is_named_with_its_recovery(
    scene: Scene, program: PlayedGate
) -> None:
    """Whoever repeats the command learns the number of now, and what finishes it."""
    for version in (1, 2, 3):
        assert_verified(scene.apply(web(version)))
    kill_at(program, UNDER_WAY, "undo", "web", "--to-revision", "2")
    scene.objects.wait_complete("web")
    again = undo(scene, "--to-revision", "2")
    assert_refused(again, "NotFound", "deployment/web has no revision 2")
    assert "the revisions are: 1, 3, 4; revision 2 is revision 4 now" in again.stderr
    assert "to finish it (back if incomplete): rollout-gate recover web" in again.stderr
    assert_verified(scene.gate("recover", "web", *DOCUMENT))
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B764", "B703")
@pytest.mark.parametrize("is_complete", [False, True])
def test_a_restart_that_was_interrupted_is_undone_alone(
    scene: Scene, program: PlayedGate, *, is_complete: bool
) -> None:
    """What ran before it is the same version, which nobody wants to leave by that."""
    assert_verified(scene.apply(settings("one"), web(behaviour="ready=9")))
    assert_verified(scene.apply(settings("two"), web(2, behaviour="ready=9")))
    with program.start("restart", "web", env=JOB) as running:
        running.wait_for_line(UNDER_WAY, 60.0)
        running.kill()
    if is_complete:
        scene.objects.wait_complete("web")
    result = undo(scene)
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert result.document["message"] == "an undo takes back what the gate had left"
    assert "before" not in result.document["message"]
    assert_runs(scene.objects, "shop/web:2")
    assert mode(scene) == "two"


@pytest.mark.contract("B764")
def test_an_undo_that_died_is_not_the_undo(scene: Scene, program: PlayedGate) -> None:
    """Its recovery brings back what is to be left: the undo goes on from there."""
    assert_verified(scene.apply(web(behaviour="ready=9")))
    assert_verified(scene.apply(web(2, behaviour="ready=9")))
    kill_at(program, UNDER_WAY, "undo", "web")
    scene.objects.wait("deployments", lambda found: all(map(is_observed, found)))
    result = undo(scene)
    assert_verified(result)
    assert "is undone" not in result.stderr
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B764")
def test_an_undo_that_died_and_is_completed_is_the_undo(scene: Scene, program: PlayedGate) -> None:
    """Whoever repeats a killed undo wants one version back, whenever it was killed."""
    for version in (1, 2, 3):
        assert_verified(scene.apply(web(version)))
    kill_at(program, UNDER_WAY, "undo", "web")
    scene.objects.wait_complete("web")
    result = undo(scene)
    assert_verified(result)
    assert "the undo that an earlier run began is complete" in result.stderr
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


def is_empty(deployment: JSON) -> bool:
    """Tell whether the controller has seen the 0 replicas, and no pod is left."""
    return is_observed(deployment) and not deployment["status"].get("replicas")


@pytest.mark.contract("B766", "B763")
@pytest.mark.parametrize("command", ["undo", "recover"])
def test_what_a_recovery_to_no_pods_finished_is_the_gates(
    scene: Scene, program: PlayedGate, command: str
) -> None:
    """Killed half-way and scaled to 0: the version stays the gate's, and `undo` takes it back."""
    verify_versions(scene, 1, 2, 3)
    bad = web(4, behaviour="never-ready")
    kill_apply(scene, program, settings("4"), bad)
    scene.objects.patch("deployments", "web", {"spec": {"replicas": 0}})
    scene.objects.wait_for("deployments", "web", is_empty)
    if command == "recover":
        recovered = scene.gate("recover", "web", *DOCUMENT)
        assert_ended(recovered, 8, "superseded", "ScaledToZero", running="none")
    result = undo(scene)
    assert "finishing what attempt" in result.stderr or command == "recover"
    assert result.exit_code == 0, str(result)
    assert "somebody else" not in result.stderr
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:3"]
    assert mode(scene) == "3"
