"""What `history` marks is what the next run does: one rule for both."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.scene import Scene, secret, settings, web
from tests.scenarios.test_undo_advice import advised
from tests.scenarios.versions import CRASH, DOCUMENT, KEEP, apply_and_keep

EXTRA = {**settings("extra"), "metadata": {"name": "extra"}}


def rows_of(scene: Scene) -> list[dict[str, Any]]:
    """Return the revisions as a program reads them."""
    rows: list[dict[str, Any]] = json.loads(scene.gate("history", "web", *DOCUMENT).stdout)
    return rows


@pytest.mark.contract("B865", "B190")
def test_history_marks_where_the_next_failure_returns_to(scene: Scene) -> None:
    """Something of a failed attempt stands beside the verified version, which runs again."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_rolled_back(scene.apply(settings("two"), EXTRA, web(2, behaviour=CRASH)), "CrashLoop")
    shown = scene.gate("history", "web").stdout
    (marked,) = [line for line in shown.splitlines() if "<-" in line]
    assert marked.endswith("running <- a failure would return here")
    failed = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert "revision 3 (shop/web:1)" in failed.stderr
    assert_rolled_back(failed, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B865", "B701")
def test_history_says_what_a_failure_could_not_return(scene: Scene) -> None:
    """The Secret of then is not kept: the next failure ends as it is foretold."""
    assert_verified(scene.apply(secret("b25l"), web()))
    apply_and_keep(scene, secret("dHdv"), web(2, behaviour=CRASH))
    (marked,) = [row for row in rows_of(scene) if row["returned_to"]]
    assert (marked["revision"], marked["return_lacks"]) == (1, ["secret/keys"])
    shown = scene.gate("history", "web").stdout
    assert "<- a failure would return here, without secret/keys <- undo --deployment-only" in shown
    failed = scene.apply(secret("dHdv"), web(3, behaviour=CRASH))
    assert_ended(failed, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert "secret/keys could not be returned after a failure" in failed.stderr
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B897")
def test_history_names_what_an_undo_without_a_lock_leaves(scene: Scene) -> None:
    """Nothing remembers the configuration of then: the mark returns the pod template alone."""
    lockless = ("--no-lock",)
    before, after = (web(n, behaviour=CRASH if n == 2 else "") for n in (1, 2))
    for body in (before, after):
        container = body["spec"]["template"]["spec"]["containers"][0]
        container["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    assert_verified(scene.apply(settings("one"), before, flags=lockless))
    kept = scene.apply(settings("two"), after, flags=[*lockless, *KEEP])
    assert kept.exit_code == 6, str(kept)
    (marked,) = [row for row in rows_of(scene) if row["undo_returns"]]
    assert (marked["revision"], marked["undo_lacks"]) == (1, ["configmap/settings"])
    shown = scene.gate("history", "web").stdout
    assert "<- undo --deployment-only would return here, without configmap/settings" in shown
    assert_verified(scene.gate("undo", "web", "--deployment-only", *DOCUMENT))
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "two"}


@pytest.mark.contract("B866", "B721")
@pytest.mark.parametrize("is_paused", [True, False])
def test_history_marks_no_undo_that_a_conflict_refuses(scene: Scene, *, is_paused: bool) -> None:
    """Another manager owns the image: the mark names the flag with which the undo works."""
    assert_verified(scene.apply(settings("one"), web()))
    if is_paused:
        scene.gate("pause", "web", check=True)
    scene.change(web(7, behaviour=CRASH))
    (marked,) = [row for row in rows_of(scene) if row["undo_returns"]]
    (manager,) = marked["undo_conflicts"]
    shown = scene.gate("history", "web").stdout
    assert f"<- undo --take-over {manager} would return here" in shown
    assert "<- undo would return here" not in shown
    refused = scene.gate("undo", "web", *DOCUMENT)
    assert_refused(refused, "Conflict", f"({manager})")
    assert f"--take-over {manager}" in refused.stderr
    assert "manifest" not in refused.stderr
    assert_verified(scene.gate("undo", "web", "--take-over", manager, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B866", "B766")
def test_verify_advises_the_undo_that_takes_over(scene: Scene) -> None:
    """Somebody set an image that crashes: the advised command is not refused for it."""
    assert_verified(scene.apply(settings("one"), web()))
    scene.change(web(7, behaviour=CRASH))
    _, words = advised(scene, scene.gate("verify", "web", *DOCUMENT))
    assert words == ["undo", "web", *words[2:]]
    assert "--take-over" in words
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B867", "B721")
def test_history_of_a_pause_as_a_program_reads_it(scene: Scene) -> None:
    """What has pods runs; what waits is there, and is no revision yet."""
    assert_verified(scene.apply(web()))
    scene.gate("pause", "web", check=True)
    scene.change(web(7))
    waiting, running = rows_of(scene)
    assert (waiting["revision"], waiting["waiting"], waiting["running"]) == (None, True, False)
    assert waiting["images"] == ["shop/web:7"]
    assert (running["revision"], running["waiting"], running["running"]) == (1, False, True)
    assert "shop/web:7 has no revision until it is resumed" in scene.gate("history", "web").stdout


@pytest.mark.contract("B868", "B763")
@pytest.mark.parametrize("flag", ["--observe", "--on-failure=keep"])
def test_what_was_complete_beside_a_failure_is_called_so(scene: Scene, flag: str) -> None:
    """The verdict of the run and what is remembered of it are one: complete, and no set."""
    assert_verified(scene.apply(web(), web(name="api")))
    path = scene.manifest(web(2, behaviour=CRASH), web(2, name="api"))
    shown = scene.gate("apply", "-f", path, flag).stdout
    assert ["complete", "deployment/api", "Complete"] in [
        line.split()[:3] for line in shown.splitlines()
    ]
    assert re.search(r"complete \ds ago  ", scene.gate("history", "api").stdout)
    (row, _) = json.loads(scene.gate("history", "api", *DOCUMENT).stdout)
    assert (row["verdict"], row["reason"]) == ("complete", "Complete")


@pytest.mark.contract("B868", "B723")
def test_what_is_complete_by_now_is_not_held_against_for_another_ones_failure(
    scene: Scene,
) -> None:
    """Taken back for its sibling at first, then kept, complete: it is what a failure returns to."""
    assert_verified(scene.apply(web(), web(name="api")))
    both = (web(2), web(2, name="api", behaviour=CRASH))
    assert scene.apply(*both).exit_code == 4
    assert scene.apply(*both, flags=KEEP).exit_code == 6
    (row, _) = rows_of(scene)
    assert (row["revision"], row["verdict"], row["returned_to"]) == (4, "complete", True)
    failed = scene.apply(web(3, behaviour=CRASH))
    assert "SiblingFailed" not in failed.stderr
    assert_rolled_back(failed, "CrashLoop")
    assert_runs(scene.objects, "shop/web:2")
