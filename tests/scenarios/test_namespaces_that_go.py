"""A namespace that somebody deletes in mid-flight, and that is still full as the run ends."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_verified, warned
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.played.gate import PlayedGate
from tests.scenarios.two_namespaces import both, placed_in
from tests.scenarios.versions import KEEP, one_line, report

pytestmark = pytest.mark.sandbox_only("a real controller may have emptied it before the run ends")

FAILED = "failed +deployment/web"
RESTORED = "restored +deployment/web"


def fail_while_it_goes(scene: Scene, line: str, *flags: str) -> Result:
    """Apply a version that crashes, and delete the namespace once the run says `line`."""
    scene.serve(settings("one"), web())
    bad = web(2, behaviour="crash=1", progress_deadline_seconds=10)
    with scene.applying(settings("two"), bad, flags=flags) as running:
        running.wait_for_line(line)
        scene.objects.delete("namespaces", scene.objects.namespace)
        return running.wait()


def says_it_goes(scene: Scene) -> str:
    """Return what is said of the namespace."""
    return f"somebody deleted namespace {scene.objects.namespace}, and everything in it goes"


@pytest.mark.contract("B1964")
@pytest.mark.parametrize("line", [FAILED, RESTORED])
def test_a_way_back_that_cannot_last_is_not_rolled_back(scene: Scene, line: str) -> None:
    """The version before serves at that moment; it goes, and the failure is told all the same."""
    result = fail_while_it_goes(scene, line)
    assert_ended(result, 8, "superseded", "Deleted")
    (workload,) = result.document["workloads"]
    assert (workload["running"], workload["deletion"]["done"]) == ("baseline", False)
    assert "CrashLoop" in [cause["reason"] for cause in workload["causes"]]
    shown, namespace = one_line(report(scene, result)), scene.objects.namespace
    assert says_it_goes(scene) in shown
    assert f"runs shop/web:1, until namespace {namespace} is gone" in shown
    assert "web cannot start: the schema is missing" in shown.partition("evidence")[2]
    assert "serves again" not in shown
    assert "somebody else is deleting the namespace of deployment/web" in shown
    assert f"superseded deployment/web: {says_it_goes(scene)}" in one_line(result.stderr)


@pytest.mark.contract("B1964")
def test_what_serves_in_another_namespace_is_back(scene: Scene, program: PlayedGate) -> None:
    """The run as a whole is superseded, and says of each workload what is so."""
    scene.objects.create("namespaces", {"metadata": {"name": "stage"}})
    assert program("apply", "-f", scene.manifest(*both("stage", 1, "one"))).exit_code == 0
    bad = scene.manifest(*both("stage", 2, "two", behaviour="crash=1"))
    with program.start("apply", "-f", bad, "--output", "json") as running:
        running.wait_for_line(RESTORED, timeout_seconds=120.0)
        scene.client.json("DELETE", "/api/v1/namespaces/stage")
        result = running.wait()
    assert_ended(result, 8, "superseded", "Deleted")
    ends = {one["name"]: one["outcome"] for one in result.document["workloads"]}
    assert ends == {"api": "superseded", "web": "rolled-back"}


@pytest.mark.contract("B1964")
def test_a_run_none_of_whose_workloads_goes_is_rolled_back(scene: Scene) -> None:
    """Configuration goes with its namespace, and that is said; what serves is in another one."""
    scene.objects.create("namespaces", {"metadata": {"name": "stage"}})
    good, bad = (
        [placed_in("stage", settings(mode)), web(version, behaviour=behaviour)]
        for mode, version, behaviour in (("one", 1, ""), ("two", 2, "crash=1"))
    )
    assert_verified(scene.apply(*good))
    with scene.applying(*bad) as running:
        running.wait_for_line(RESTORED, timeout_seconds=120.0)
        scene.client.json("DELETE", "/api/v1/namespaces/stage")
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "somebody deleted namespace stage, and everything in it goes")


@pytest.mark.contract("B1965")
def test_a_failure_that_stays_is_one_though_its_namespace_goes(scene: Scene) -> None:
    """No `undo` is advised: it would be refused."""
    result = fail_while_it_goes(scene, FAILED, *KEEP)
    assert_ended(result, 6, "failed", "ProgressDeadlineExceeded")
    assert warned(result, says_it_goes(scene))
    advice = one_line(report(scene, result)).partition(" next ")[2]
    assert advice.startswith(says_it_goes(scene))
    assert "undo" not in advice
