"""What is said of a version that was complete while a check had still to decide of it."""

from __future__ import annotations

import pytest

from tests.bed.scene import Scene, web
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_at
from tests.scenarios.versions import one_line, screen

pytestmark = pytest.mark.sandbox_only("the words of a run; the same code says them anywhere")


@pytest.mark.contract("B1891")
def test_recover_of_a_complete_version_says_that_its_check_had_still_to_decide(
    scene: Scene, program: PlayedGate
) -> None:
    """It was complete: it goes back because nobody asks the check again."""
    scene.serve(web())
    flags = ("--bake", "60s", "--smoke-test", "true", "--on-inconclusive", "rollback")
    kill_at(program, "baking", "apply", "-f", scene.manifest(web(2)), *flags)
    result = program("recover", "web")
    said = one_line(result.stdout)
    assert result.exit_code == 4, str(result)
    assert "deployment/web was not verified; revision 3" in said
    until = "the gate ended before the check true had decided"
    assert f"why Interrupted: the new version was complete, and {until}" in said
    assert "did not complete" not in said


@pytest.mark.contract("B1891", "B414")
def test_a_version_whose_check_did_not_decide_is_not_said_to_be_incomplete(scene: Scene) -> None:
    """It goes back as the policy asks."""
    scene.serve(web())
    flags = ("--smoke-test", "sh -c 'exit 75'", "--bake", "2s")
    result = scene.apply(web(2), flags=[*flags, "--on-inconclusive", "rollback"])
    assert result.document["outcome"] == "rolled-back", str(result)
    assert "deployment/web was not verified; revision 3" in one_line(screen(result))
