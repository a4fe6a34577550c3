"""The next apply of a version that a check has left unverified, and that the check is not asked."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import CRASH, mode

FAILS = ("--smoke-test", "false", "--on-failure", "keep")
IN_DOUBT = ("--smoke-test", "sh -c 'exit 75'")


def apply_both(scene: Scene, flags: tuple[str, ...]) -> None:
    """Let version 1 be verified, and version 2 be kept, with its settings, unverified."""
    assert_verified(scene.apply(settings("1"), web(1)))
    kept = scene.apply(settings("2"), web(2), flags=flags)
    assert kept.exit_code in (6, 7), str(kept)


@pytest.mark.contract("B1302")
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(FAILS, "this version failed a check at 2", id="failed"),
        pytest.param(IN_DOUBT, "this version was left undecided by a check at 2", id="in-doubt"),
    ],
)
@pytest.mark.parametrize("command", ["apply", "restart"])
def test_what_a_check_found_stays_until_the_check_is_asked_again(
    scene: Scene, flags: tuple[str, ...], said: str, command: str
) -> None:
    """It is said before the write and at the end, and the next failure returns to version 1."""
    apply_both(scene, flags)
    if command == "apply":
        again = scene.apply(settings("2"), web(2))
    else:
        again = scene.gate("restart", "web", "--output", "json")
    assert (again.exit_code, again.document["outcome"]) == (0, "verified"), str(again)
    assert warned(again, said, "exit", "not remembered as verified"), again.document["warnings"]
    before, _, _ = again.stderr.partition(" progress ")
    assert said in before
    result = scene.apply(settings("3"), web(3, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "1"


@pytest.mark.contract("B1302")
def test_a_check_that_passes_now_verifies_the_version(scene: Scene) -> None:
    """The same check decides anew: nothing is said, and the next failure returns to version 2."""
    check = scene.folder / "check"
    command = ("--smoke-test", f"test -e {check}", "--on-failure", "keep")
    apply_both(scene, command)
    check.touch()
    again = scene.apply(settings("2"), web(2), flags=command)
    assert (again.exit_code, again.document["outcome"]) == (0, "verified"), str(again)
    assert "this version failed a check" not in again.stderr
    assert not warned(again, "not remembered as verified")
    result = scene.apply(settings("3"), web(3, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:2")
    assert mode(scene) == "2"


@pytest.mark.contract("B1302")
@pytest.mark.parametrize("fix", [web(3), web(2)], ids=["other-image", "other-settings"])
def test_a_fix_of_what_a_check_failed_is_verified_without_the_check(
    scene: Scene, fix: JSON
) -> None:
    """Another version, or the same pods with other settings, is none that the check has seen."""
    apply_both(scene, FAILS)
    fixed = scene.apply(settings("3"), fix)
    assert (fixed.exit_code, fixed.document["outcome"]) == (0, "verified"), str(fixed)
    assert not warned(fixed, "not remembered as verified"), fixed.document["warnings"]
    assert_rolled_back(scene.apply(settings("4"), web(4, behaviour=CRASH)), "CrashLoop")
    assert mode(scene) == "3"
