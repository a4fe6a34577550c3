"""Which versions count as verified: what preflight, undo, a rollback and `history` agree on."""

from __future__ import annotations

import json

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.scenarios.versions import CRASH, DOCUMENT, KEEP, mode

TOO_SHORT = ("--timeout", "0.5", *KEEP)
SLOW = "ready=1"


def undo_returns(scene: Scene) -> list[int]:
    """Return the revisions that `history` marks as those that undo would return to.

    A failure of the next apply returns to the same ones.
    """
    rows = json.loads(scene.gate("history", "web", *DOCUMENT).stdout)
    assert all(row["returned_to"] == row["undo_returns"] for row in rows)
    return [row["revision"] for row in rows if row["undo_returns"]]


def fail_what_was_verified(scene: Scene) -> None:
    """Verify v1 and v2, then give v1 too little time, and keep it."""
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    assert_verified(scene.apply(settings("two"), web(2)))
    kept = scene.apply(settings("one"), web(behaviour=SLOW), flags=TOO_SHORT)
    assert_ended(kept, 6, "failed", "Timeout")
    scene.objects.wait_complete("web")


@pytest.mark.contract("B762", "B700")
def test_a_failure_after_its_verification_makes_a_version_a_failed_one(scene: Scene) -> None:
    """A later failure returns to the set that did not fail since."""
    fail_what_was_verified(scene)
    assert undo_returns(scene) == [2]
    result = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert "a failure returns to the last verified revision 2" in result.stderr
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:2")
    assert mode(scene) == "two"


@pytest.mark.contract("B762", "B703")
def test_undo_leaves_a_version_that_failed_since(scene: Scene) -> None:
    """To the last that did not; and from there not forward to the one that did."""
    fail_what_was_verified(scene)
    assert_verified(scene.gate("undo", "web", *DOCUMENT))
    assert_runs(scene.objects, "shop/web:2")
    again = scene.gate("undo", "web", *DOCUMENT)
    assert_refused(again, "NoBaseline", "shop/web:1", "Timeout")
    named = scene.gate("undo", "web", "--to-revision", "3", *DOCUMENT)
    assert_verified(named)
    assert mode(scene) == "one"


@pytest.mark.contract("B762")
def test_what_is_verified_again_counts_again(scene: Scene) -> None:
    """The newest judgement of a version is the one that counts."""
    fail_what_was_verified(scene)
    assert_verified(scene.apply(settings("two"), web(2)))
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    result = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")


def observed(result: Result) -> None:
    """Assert that a run only observed."""
    assert (result.exit_code, result.document["outcome"]) == (0, "observed"), str(result)


@pytest.mark.contract("B763", "B34")
def test_what_was_observed_complete_is_verified(scene: Scene) -> None:
    """It is what a later failure returns to, with its configuration."""
    assert_verified(scene.apply(settings("one"), web()))
    observed(scene.apply(settings("two"), web(2), flags=["--observe"]))
    scene.apply(settings("nine"), web(9, behaviour=CRASH), flags=KEEP)
    result = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:2")
    assert mode(scene) == "two"


@pytest.mark.contract("B763", "B34")
@pytest.mark.parametrize("bad", ["crash", "check"])
def test_what_was_observed_to_fail_is_not(scene: Scene, bad: str) -> None:
    """Neither where its pods failed nor where a check did not pass."""
    assert_verified(scene.apply(settings("one"), web()))
    flags = ["--observe", *(["--smoke-test", "false"] if bad == "check" else ())]
    behaviour = CRASH if bad == "crash" else "ready=0"
    observed(scene.apply(settings("two"), web(2, behaviour=behaviour), flags=flags))
    result = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B763", "B720")
def test_a_version_without_pods_is_not_verified(scene: Scene) -> None:
    """Nobody saw it work: `undo` returns past it."""
    assert_verified(scene.apply(settings("one"), web()))
    empty = scene.apply(settings("two"), web(2, replicas=0))
    assert_verified(empty, "Vacuous", running="none")
    assert warned(empty, "0 replicas")
    scene.apply(settings("nine"), web(9, behaviour=CRASH), flags=KEEP)
    result = scene.gate("undo", "web", *DOCUMENT)
    assert result.exit_code == 0, str(result)
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"
