"""What others set in a workload, and `recover` leaves: it is named, as by a run."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_refused, assert_verified, warned
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.versions import one_line, report

NEVER_READY = web(2, behaviour="never-ready", progress_deadline_seconds=20)
RECREATE = {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}
LABEL = {"metadata": {"labels": {"team": "shop"}}}


@pytest.mark.contract("B1872", "B140")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
@pytest.mark.parametrize(
    ("patch", "path"),
    [(RECREATE, ".spec.strategy.type"), (LABEL, ".metadata.labels.team")],
    ids=["strategy", "label"],
)
def test_what_others_set_beside_the_pods_is_named(
    scene: Scene, patch: JSON, path: str, *, is_dead: bool
) -> None:
    """By a recovery as well, which saw the workload after that alone."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), NEVER_READY) as running:
        running.wait_for_line("progress")
        if is_dead:
            running.kill()
        scene.change_as("kubectl-edit", patch)
        result = recover(scene, "web") if is_dead else running.wait()
    assert result.exit_code == 4, str(result)
    assert warned(result, f"the rollback left {path} of deployment/web as others have it")


@pytest.mark.contract("B1872")
def test_a_recovery_names_nothing_that_nobody_set(scene: Scene) -> None:
    """The server's own defaults and its controllers' notes are none of it."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), NEVER_READY) as running:
        running.wait_for_line("progress")
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert not warned(result, "as others have it")


@pytest.mark.contract("B1901", "B911")
@pytest.mark.parametrize(
    ("manager", "is_refused"), [("kubectl-set", True), ("kubectl-client-side-apply", False)]
)
def test_the_next_apply_takes_over_what_others_put_back(
    scene: Scene, manager: str, *, is_refused: bool
) -> None:
    """The report names the flag without which it is refused, and none that it does not need."""
    assert_verified(scene.apply(settings("one"), web()))
    template = scene.objects.get("deployments", "web")["spec"]["template"]
    with scene.applying(settings("two"), NEVER_READY) as running:
        running.wait_for_line("progress")
        running.kill()
    scene.change_as(manager, {"spec": {"template": {"spec": template["spec"]}}})
    result = recover(scene, "web")
    assert_ended(result, 8, "superseded", "Superseded")
    (item,) = (one for one in result.document["objects"] if one["kind"] == "Deployment")
    assert (item["at_end"]["state"], item["at_end"]["managers"]) == ("changed", [manager])
    flags = ("--take-over", manager) if is_refused else ()
    text, good = one_line(report(scene, result)), (settings("three"), web(3))
    assert ("--take-over" in text) is is_refused
    assert " ".join(flags) in text
    if is_refused:
        assert_refused(scene.apply(*good), "Conflict", manager)
    assert_verified(scene.apply(*good, flags=flags))
