"""Somebody scales a workload to 0 while it is followed: nobody is left to show that it works."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import CRASHED, UNDER_WAY
from tests.bed.jobs import PHASE, job
from tests.bed.pods import wait_until_gone
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.versions import CRASH, history_rows, mode, one_line, report

SLOW, SOON, LONG_SECONDS = "ready=60", "ready=4", 300.0


def assert_scaled_to_zero(result: Result, by: str = "not recorded") -> JSON:
    """Assert that somebody's 0 is no verdict of the gate; return the document of the workload."""
    ended = assert_ended(result, 8, "superseded", "ScaledToZero", running="none")
    assert by in result.document["message"], str(result)
    return ended


def follow_advice(scene: Scene, result: Result, version: str, *verbs: str) -> None:
    """Do what a report advises, in its order: the pods that were wanted are judged at last."""
    lines = [line.split() for line in result.stdout.splitlines()]
    steps = [one for one in lines if one[:1] == ["rollout-gate"] or one[:2] == ["kubectl", "scale"]]
    assert [words[1] for words in steps] == [*verbs], str(result)
    *others, (_, *verify) = steps
    for program, *words in others:
        if program == "kubectl":
            assert "--replicas=2" in words, str(result)
            scene.kubectl(*words[:3], check=True)
        else:
            done = scene.gate(*words)
            assert done.exit_code == 0, str(done)
    judged = scene.gate(*verify, "--output", "json")
    assert_verified(judged)
    assert judged.document["workloads"][0]["new"]["images"] == [version]


@pytest.mark.contract("B1580", "B52")
def test_a_deployment_that_somebody_scales_to_0_is_not_verified(scene: Scene) -> None:
    """The end is theirs, nothing goes back, and the advice leads to a judgement."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour=SOON))
    with scene.gate.start("apply", "-f", path) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait()
    assert "SUPERSEDED (exit 8): somebody else scaled deployment/web to 0" in result.stdout
    follow_advice(scene, result, "shop/web:2", "history", "scale", "verify")


@pytest.mark.contract("B1615")
def test_what_crashed_before_it_was_scaled_to_0_is_said_and_can_be_undone(scene: Scene) -> None:
    """The pods are gone by the end: what was wrong with them is in every report all the same."""
    assert_verified(scene.apply(web()))
    path = scene.manifest(web(2, behaviour=CRASH))
    with scene.gate.start("apply", "-f", path) as running:
        running.wait_for_line(CRASHED)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait()
    assert result.exit_code == 8, str(result)
    said = one_line(result.stdout)
    assert "(exit 8): somebody else scaled deployment/web to 0 after CrashLoop: no pod" in said, (
        said
    )
    assert "the schema is missing (1 of 1 created pods)" in said, said
    follow_advice(scene, result, "shop/web:1", "undo", "scale", "verify")


@pytest.mark.contract("B1680")
@pytest.mark.parametrize("behaviour", [SOON, "never-ready"])
def test_what_is_scaled_to_0_and_back_is_judged_while_another_is_followed(
    scene: Scene, behaviour: str
) -> None:
    """An autoscaler may do that: the pods that come back decide, and not that there were none."""
    scene.serve(web(), web(name="api"))
    slow, flags = web(2, name="api", behaviour="ready=20"), ("--progress-deadline", "15s")
    with scene.applying(web(2, behaviour=behaviour), slow, flags=flags) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        wait_until_gone(scene, "web")
        scene.kubectl("scale", "deployment/web", "--replicas=2", check=True)
        result = running.wait(LONG_SECONDS)
    if behaviour == SOON:
        assert_verified(result)
    else:
        assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded", running="baseline")
    assert_runs(scene.objects, "shop/web:2" if behaviour == SOON else "shop/web:1")


@pytest.mark.contract("B1681", "B1615")
@pytest.mark.sandbox_only("which of both fails first")
def test_what_was_scaled_to_0_goes_back_with_another_that_fails(scene: Scene) -> None:
    """Its configuration goes back: its template does too, and the 0 stays somebody's."""
    assert_verified(scene.apply(settings("1"), web(), stateful_set()))
    late = stateful_set(image="shop/db:2", behaviour="crash=3")
    path = scene.manifest(settings("2"), web(2, behaviour=CRASH), late)
    with scene.gate.start("apply", "-f", path) as running:
        running.wait_for_line("pod/web.*CrashLoop")
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait()
    said = one_line(result.stdout)
    first = "(exit 8): somebody else scaled down deployment/web after CrashLoop; it went back at 0;"
    assert first in said, str(result)
    assert "it went back to the version before, of which no pod runs" in said, str(result)
    assert "rolled-back  statefulset/db" in result.stdout, str(result)
    live = scene.objects.get("deployments", "web")
    assert (images(live), live["spec"]["replicas"], mode(scene)) == (["shop/web:1"], 0, "1")
    verdicts = {one["images"][0]: one["verdict"] for one in history_rows(scene)}
    assert verdicts == {"shop/web:1": "verified", "shop/web:2": "not verified"}
    follow_advice(scene, result, "shop/web:1", "scale", "verify")


@pytest.mark.contract("B1681")
@pytest.mark.sandbox_only("a real crash loop would add nothing but waiting")
def test_what_is_at_0_beside_a_pause_is_left_as_it_is(scene: Scene) -> None:
    """No way back writes it: it ends as somebody's, and not by the failure of the other."""
    scene.serve(web(), web(name="api"))
    api = web(2, name="api", behaviour="crash=3")
    flags = ("--on-failure", "pause")
    with scene.applying(web(2, behaviour=SLOW), api, flags=flags) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait()
    ends = {one["name"]: (one["outcome"], one["reason"]) for one in result.document["workloads"]}
    assert ends["web"] == ("superseded", "ScaledToZero"), str(result)
    assert ends["api"] == ("failed", "CrashLoop"), str(result)


@pytest.mark.contract("B1680")
def test_what_stays_at_0_beside_a_good_one_takes_nothing_back(scene: Scene) -> None:
    """It ends as somebody's once the other is verified, which stays."""
    scene.serve(web(), web(name="api"))
    api = web(2, name="api", behaviour=SOON)
    with scene.applying(web(2, behaviour=SLOW), api) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait()
    assert_scaled_to_zero(result)
    ends = {one["name"]: one["outcome"] for one in result.document["workloads"]}
    assert ends == {"web": "superseded", "api": "verified"}
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B1615", "B1616")
def test_what_crashed_before_is_a_cause_in_the_result(scene: Scene) -> None:
    """Also of a first version, which has nothing to go back to."""
    with scene.applying(stateful_set(behaviour=CRASH)) as running:
        running.wait_for_line(CRASHED)
        nought = {"spec": {"replicas": 0}}
        scene.objects.patch("statefulsets", "db", nought, subresource="scale")
        ended = assert_scaled_to_zero(running.wait())
    assert "CrashLoop" in [one["reason"] for one in ended["causes"]], ended
    assert ended["scaled_from"] == 3


@pytest.mark.contract("B1580")
def test_who_wrote_a_0_is_named(scene: Scene) -> None:
    """An edit of the object leaves its name beside the 0, as a scale does not."""
    scene.serve(web())
    with scene.applying(web(2, behaviour=SLOW)) as running:
        running.wait_for_line(UNDER_WAY)
        scene.change_as("kubectl-edit", {"spec": {"replicas": 0}})
        assert_scaled_to_zero(running.wait(), "from 2 to 0 replicas (by kubectl-edit at 20")


@pytest.mark.contract("B1580")
def test_what_was_scaled_to_0_in_the_bake_window_is_not_remembered_as_verified(
    scene: Scene,
) -> None:
    """It was complete, and nobody watched it to the end of the window."""
    assert_verified(scene.apply(web()))
    with scene.applying(web(2), flags=["--bake", "60"]) as running:
        running.wait_for_line("baking")
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        assert_scaled_to_zero(running.wait())
    shown = history_rows(scene, "web")
    verdicts = {one["images"][0]: one["verdict"] for one in shown}
    assert verdicts == {"shop/web:1": "verified", "shop/web:2": "not verified"}


@pytest.mark.contract("B1580")
def test_a_scale_to_0_before_the_write_is_no_verification(scene: Scene) -> None:
    """The live 0 stays, since the manifest names no number, and the preflight saw two pods."""
    scene.serve(web())
    bare = web(2)
    del bare["spec"]["replicas"]
    migration = job("first", behaviour="complete=5", annotations={PHASE: "before"})
    with scene.applying(bare, migration, flags=("--take-over", "tests")) as running:
        running.wait_for_line("applied +job/first")
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        assert_scaled_to_zero(running.wait())


@pytest.mark.contract("B1580", "B1820")
@pytest.mark.sandbox_only("what is remembered is the same on any cluster")
@pytest.mark.parametrize("is_scaled_back", [False, True])
def test_what_was_scaled_to_0_unjudged_is_not_returned_to(
    scene: Scene, *, is_scaled_back: bool
) -> None:
    """A version was verified before it, and a failure goes there; the number is that of before."""
    assert_verified(scene.apply(web()))
    with scene.applying(web(2, behaviour=SLOW)) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        assert_scaled_to_zero(running.wait())
    if is_scaled_back:
        scene.kubectl("scale", "deployment/web", "--replicas=2", check=True)
        scene.objects.wait_complete("web", timeout_seconds=100.0)
    failed = scene.apply(web(3, behaviour=CRASH), flags=("--replicas", "apply"))
    assert_rolled_back(failed, "CrashLoop", running="baseline" if is_scaled_back else "none")
    assert_runs(scene.objects, "shop/web:1", replicas=2 if is_scaled_back else 0)


@pytest.mark.contract("B1581", "B1615")
def test_a_way_back_that_somebody_scales_to_0_is_not_verified(scene: Scene) -> None:
    """What was before is back without a pod: the failure is told, and whose the 0 is."""
    recreate = {"type": "Recreate"}
    scene.serve(web(strategy=recreate, behaviour=SOON))
    with scene.applying(web(2, strategy=recreate, behaviour=CRASH)) as running:
        running.wait_for_line("restored +deployment/web")
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait()
    ended = assert_scaled_to_zero(result)
    assert ended["causes"][0]["reason"] == "CrashLoop", str(result)
    assert not warned(result, "went back, but 0 replicas"), str(result)
    assert "rollout-gate undo" not in report(scene, result)


@pytest.mark.contract("B1580", "B1581")
@pytest.mark.parametrize("is_complete", [True, False], ids=["forward", "back"])
def test_a_recovery_does_not_call_a_0_of_somebodys_verified(
    scene: Scene, *, is_complete: bool
) -> None:
    """Forward, since no pod is missing, or back: the record knows how many were wanted."""
    scene.serve(web())
    with scene.applying(web(2, behaviour=SLOW)) as running:
        running.wait_for_line(UNDER_WAY)
        running.kill()
    scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
    if is_complete:
        scene.objects.wait_complete("web")
    assert_scaled_to_zero(scene.gate("recover", "web", "--output", "json"))


@pytest.mark.contract("B1682", "B1842")
@pytest.mark.sandbox_only("what is remembered is the same on any cluster")
def test_a_restart_that_was_scaled_to_0_unjudged_is_returned_to_as_verified(scene: Scene) -> None:
    """What it restarted was verified, and has all its pods again as the next apply fails."""
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    with scene.gate.start("restart", "web", "--output", "json") as running:
        running.wait_for_line("replicaset  deployment/web: following")
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        assert_scaled_to_zero(running.wait())
    scene.kubectl("scale", "deployment/web", "--replicas=2", check=True)
    scene.objects.wait_complete("web", timeout_seconds=100.0)
    failed = scene.apply(settings("two"), web(2, behaviour=CRASH))
    assert_rolled_back(failed, "CrashLoop")
    assert mode(scene) == "one"
    assert failed.document["workloads"][0]["baseline"]["unverified"] == ""
    assert failed.document["rollback"]["verified"]
    assert "not verified" not in report(scene, failed)
    serves = history_rows(scene)[0]
    assert (serves["verdict"], serves["came_back"]) == ("verified", True)
