"""A Deployment that somebody paused: nothing is waited for that cannot move."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_refused, assert_verified, images, warned
from tests.bed.jobs import PHASE, job
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import JOB, SLOW, is_observed, kill_apply, recover
from tests.scenarios.rights import MakeGate
from tests.scenarios.versions import CRASH, DOCUMENT, mode, one_line, report

RESUME = "rollout-gate resume web"
AT_ONCE_SECONDS = 30


def pause(scene: Scene) -> None:
    """Pause the Deployment, as somebody who is not the gate."""
    scene.kubectl("rollout", "pause", "deployment/web", check=True)


@pytest.mark.contract("B760", "B110")
def test_verify_of_a_paused_deployment_that_is_half_way(scene: Scene) -> None:
    """A change that does not roll out is no version that was verified."""
    scene.serve(web())
    pause(scene)
    scene.change(web(2))
    result = scene.gate("verify", "web", "--timeout", "5s", *DOCUMENT)
    assert_ended(result, 6, "failed", "Paused")
    assert not warned(result, "is paused")


@pytest.mark.contract("B760", "B110")
def test_less_than_all_is_not_complete_under_a_pause(scene: Scene) -> None:
    """What is enough of a rollout that goes on is half of one that was stopped."""
    scene.serve(web())
    scene.change(web(2, behaviour="ready=1;only=1, never-ready"))
    with scene.gate.start("verify", "web", "--require", "1", "--bake", "9s", *DOCUMENT) as running:
        running.wait_for_line("1 of 2 new pods available|complete; watching")
        pause(scene)
        running.kill()
    words = ("--require", "1", "--timeout", "5s", "--bake", "0s")
    result = scene.gate("verify", "web", *words, *DOCUMENT)
    assert_ended(result, 6, "failed", "Paused")


RECREATED: JSON = {"strategy": {"type": "Recreate"}}


def killed_and_paused(scene: Scene, program: PlayedGate, line: str, *bodies: JSON) -> None:
    """Kill a gate at a line, after somebody has paused the Deployment."""
    with program.start("apply", "-f", scene.manifest(*bodies), env=JOB) as running:
        running.wait_for_line(line, 60.0)
        pause(scene)
        running.kill()
    scene.objects.wait_for("deployments", "web", is_observed)


@pytest.mark.sandbox_only("minutes of waiting")
@pytest.mark.contract("B761")
def test_a_recovery_leaves_what_was_paused_half_way(scene: Scene, program: PlayedGate) -> None:
    """The old pods are gone: writing would bring none of them. It names the way on."""
    scene.serve(settings("one"), web(**RECREATED))
    bodies = (settings("two"), web(2, behaviour=SLOW, **RECREATED))
    killed_and_paused(scene, program, "following replicaset/.*shop/web:2", *bodies)
    result = recover(scene, "web")
    assert_ended(result, 6, "failed", "Paused")
    assert result.duration_seconds < AT_ONCE_SECONDS
    assert (mode(scene), images(scene.objects.get("deployments", "web"))) == ("two", ["shop/web:2"])
    assert RESUME in report(scene, result)
    assert_verified(scene.gate("resume", "web", *DOCUMENT))


@pytest.mark.sandbox_only("minutes of waiting")
@pytest.mark.contract("B761", "B8")
def test_a_recovery_after_a_death_before_the_resumption(scene: Scene, program: PlayedGate) -> None:
    """No new pod was made: what was written goes back, and is complete at once."""
    scene.serve(settings("one"), web())
    pause(scene)
    kill_apply(scene, program, settings("two"), web(2, behaviour=SLOW), flags=["--resume"])
    pause(scene)
    scene.objects.wait_for("deployments", "web", is_observed)
    result = recover(scene, "web")
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert result.duration_seconds < AT_ONCE_SECONDS
    assert (mode(scene), images(scene.objects.get("deployments", "web"))) == ("one", ["shop/web:1"])
    assert warned(result, "deployment/web is paused")


@pytest.mark.sandbox_only("minutes of waiting")
@pytest.mark.contract("B761")
def test_a_recovered_rollback_that_was_paused_half_way(scene: Scene, program: PlayedGate) -> None:
    """It was going back already: that stays so, nothing is waited for, and the way on is named."""
    scene.serve(web(**RECREATED))
    bad = web(2, behaviour="crash=0.1", **RECREATED)
    killed_and_paused(scene, program, "restored +deployment", bad)
    result = recover(scene, "web")
    deployment = assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert result.duration_seconds < AT_ONCE_SECONDS
    assert "Paused" in [cause["reason"] for cause in deployment["causes"]]
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
    assert RESUME in report(scene, result)


@pytest.mark.sandbox_only("minutes of waiting")
@pytest.mark.contract("B900")
@pytest.mark.parametrize("dies", [False, True])
def test_of_several_that_go_back_the_paused_one_leads_the_report(
    scene: Scene, program: PlayedGate, dies: bool
) -> None:
    """What is back is said to be back, and `resume` names the one that is not."""
    scene.serve(web(), web(name="api"), web(name="db"))
    bad = web(2, name="api", behaviour="crash=5")
    path = scene.manifest(bad, web(2), web(2, name="db"))
    words = ("apply", "-f", path, "--rollback-timeout", "20s", *DOCUMENT)
    with program.start(*words, env=JOB) as running:
        running.wait_for_line("deployment/web: 2 of 2 new pods available", 60.0)
        pause(scene)
        running.wait_for_line("deployment/db: 2 of 2 old pods available", 200.0)
        if dies:
            running.kill()
        result = recover(scene, "api") if dies else running.wait()
    assert (result.exit_code, result.document["reason"]) == (5, "CrashLoop"), str(result)
    ended = {one["name"]: one for one in result.document["deployments"]}
    assert {name: one["outcome"] for name, one in ended.items()} == {
        "api": "rolled-back",
        "web": "rollback-failed",
        "db": "rolled-back",
    }
    assert ended["web"]["running"] == "new"
    assert "Paused" in [cause["reason"] for cause in ended["web"]["causes"]]
    said = one_line(report(scene, result))
    assert "deployment/api failed; 2 of 3 Deployments went back, verified;" in said
    assert "the rollback of deployment/web is not verified: it needs a person" in said
    assert "about deployment/web" in said
    assert "rollback-failed deployment/web SiblingFailed runs shop/web:2" in said
    assert "the rollback did not complete: Complete" not in said
    assert RESUME in said
    assert "undo" not in said
    assert "rollback not written" not in said
    assert_verified(scene.gate("resume", "web", *DOCUMENT))


@pytest.mark.contract("B1366", "B110")
def test_a_pause_takes_nothing_back_where_a_job_waits_for_it(scene: Scene) -> None:
    """Neither the Deployment nor its siblings: the Job is not written, and whoever paused acts."""
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))
    smoke = job("smoke", annotations={PHASE: "after"})
    bodies = settings("two"), web(2, behaviour=SLOW), web(2, name="api"), smoke
    with scene.applying(*bodies, flags=["--timeout", "20s"]) as running:
        running.wait_for_line("applied +deployment/api changed")
        pause(scene)
        result = running.wait()
    assert_ended(result, 6, "failed", "Paused")
    assert mode(scene) == "two"
    for name in ("web", "api"):
        assert images(scene.objects.get("deployments", name)) == [f"shop/{name}:2"]
    assert scene.objects.find("jobs", "smoke") is None
    said = one_line(report(scene, result))
    assert "job/smoke, which was never written" in said
    assert "job/smoke stays" not in said


@pytest.mark.contract("B767", "B195")
def test_pause_needs_no_more_than_to_change_the_deployment(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """It follows nothing: who may not list pods may pause."""
    scene.serve(web())
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "patch"]}
    result = gate_with_rules([rule])("pause", "web", *DOCUMENT)
    assert (result.exit_code, result.document["outcome"]) == (0, "applied"), str(result)
    assert scene.objects.get("deployments", "web")["spec"]["paused"]


@pytest.mark.contract("B767", "B2")
def test_pause_names_the_right_that_is_missing(scene: Scene, gate_with_rules: MakeGate) -> None:
    """To patch, and none to follow."""
    scene.serve(web())
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}
    refused = gate_with_rules([rule])("pause", "web", *DOCUMENT)
    assert_refused(refused, "Forbidden", "patch deployments.apps")
    assert "pods" not in refused.stderr


@pytest.mark.sandbox_only("the gate is killed as its lock is read")
@pytest.mark.contract("B767", "B195")
def test_pause_tells_of_the_run_that_has_the_lock(scene: Scene, program: PlayedGate) -> None:
    """It does not wait for that: a pause stops what goes wrong."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=SLOW)), env=JOB) as running:
        running.wait_for_line("following replicaset/.*shop/web:2", 60.0)
        result = scene.gate("pause", "web", *DOCUMENT)
        running.kill()
    assert result.exit_code == 0, str(result)
    assert warned(result, "deployment/web is locked by shop/web/7/1/deploy", "Paused")


@pytest.mark.sandbox_only("the gate is killed as its lock is read")
@pytest.mark.contract("B767", "B761")
@pytest.mark.parametrize("state", ["dead", "free"])
def test_pause_tells_of_what_a_dead_run_left(scene: Scene, program: PlayedGate, state: str) -> None:
    """Nobody waits: `recover` leaves what was paused half-way."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=SLOW)), env=JOB) as running:
        running.wait_for_line("following replicaset/.*shop/web:2", 60.0)
        running.kill()
    if state == "free":
        program("locks", "--release", "web", "--yes")
    assert f"{state}, unfinished" in program("locks").stdout
    result = program("pause", "web", *DOCUMENT)
    assert result.exit_code == 0, str(result)
    assert not warned(result, "wait for the pause to end")
    assert warned(
        result, "deployment/web", "that attempt is unfinished", "recover` does not end a pause"
    )


@pytest.mark.contract("B190")
def test_history_does_not_say_that_nothing_runs(scene: Scene) -> None:
    """Scaled to 0, the live revision is the current one, and runs nowhere."""
    scene.serve(web())
    scene.objects.patch("deployments", "web", {"spec": {"replicas": 0}})
    scene.objects.wait_for("deployments", "web", lambda one: not one["status"].get("replicas"))
    result = scene.gate("history", "web")
    assert "running" not in result.stdout
    assert " current" in result.stdout


@pytest.mark.sandbox_only("minutes of waiting")
@pytest.mark.contract("B859", "B913", "B2024")
def test_a_way_back_that_is_paused_says_what_ends_the_pause(
    scene: Scene, program: PlayedGate
) -> None:
    """The run has the lock, so the gate's own `resume` would wait for it; kubectl's does not."""
    scene.serve(web(behaviour="ready=20"))
    path = scene.manifest(web(2))
    with program.start("apply", "-f", path, "--smoke-test", "false", "--bake", "5s") as running:
        running.wait_for_line("restored +deployment/web", 60.0)
        beside = program("pause", "web")
        assert "to end the pause before that, use `kubectl rollout resume`" in beside.stderr
        command = "kubectl rollout resume deployment/web -n shop --context sandbox"
        running.wait_for_line(
            f"waiting +deployment/web: .*paused: it goes on after {command}"
            " .rollout-gate resume waits for a run that has the lock",
            60.0,
        )
        resumed = program("resume", "web", "--lock-wait", "5s")
        assert_refused(resumed, "Locked", "deployment/web is locked by")
        scene.kubectl("rollout", "resume", "deployment/web", check=True)
        assert running.wait().exit_code == 4
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.contract("B859")
def test_a_pause_is_told_when_it_is_seen_and_when_it_ends(scene: Scene) -> None:
    """Also one that is over before the first sign of life: the rollout stood still for it."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="ready=9")) as running:
        running.wait_for_line("progress +deployment/web: 0 of 2 new pods available, 2 old")
        pause(scene)
        running.wait_for_line("paused +deployment/web is paused: it does not progress", 5.0)
        scene.kubectl("rollout", "resume", "deployment/web", check=True)
        running.wait_for_line("resumed +deployment/web continues: it was resumed", 5.0)
        result = running.wait()
    assert_verified(result)
    assert "is paused: it goes on after" not in result.stderr


@pytest.mark.contract("B906")
def test_a_first_deployment_that_was_left_paused_is_resumed_as_its_report_says(
    scene: Scene,
) -> None:
    """No undo is named, which would be refused; `resume`, which is named, ends the pause."""
    paused = scene.apply(web(behaviour="crash=0.1"), flags=["--on-failure", "pause"])
    assert paused.exit_code == 6, str(paused)
    assert warned(paused, "`resume` or the next apply resumes it")
    assert scene.objects.get("deployments", "web")["spec"]["paused"]
    assert scene.gate("undo", "web").exit_code == 3
    scene.gate("resume", "web", "--on-failure", "keep", "--timeout", "20s")
    assert "paused" not in scene.objects.get("deployments", "web")["spec"]


@pytest.mark.contract("B1583")
@pytest.mark.parametrize("served", [True, False])
def test_a_version_that_was_paused_is_not_said_to_be_the_only_one(
    scene: Scene, *, served: bool
) -> None:
    """No pod of another one is left: whether one served before, the first line says."""
    crashing = {"strategy": {"type": "Recreate"}, "behaviour": "crash=0.1"}
    if served:
        scene.serve(web(strategy=crashing["strategy"]))
    else:
        scene.apply(web(**crashing))
    path = scene.manifest(web(2, **crashing))
    result = scene.gate("apply", "-f", path, "--on-failure", "pause")
    why = "was not taken back" if served else "nothing is known that served before"
    headline = f"FAILED (exit 6): the new version of deployment/web failed, and {why} where"
    assert headline in one_line(result.stdout)


@pytest.mark.contract("B1501")
@pytest.mark.parametrize(("command", "flag"), [("resume", "--resume "), ("restart", "")])
def test_a_refused_resume_names_the_apply_that_takes_over(
    scene: Scene, command: str, flag: str
) -> None:
    """`kubectl set image` beside a pause: a failure could not take that image back."""
    assert_verified(scene.apply(settings("one"), web()))
    if flag:
        scene.gate("pause", "web", check=True)
    changed = web(9, behaviour="" if flag else "never-ready")
    scene.change_as("kubectl-set", {"spec": {"template": changed["spec"]["template"]}})
    refused = scene.gate(command, "web", *DOCUMENT)
    advised = f"apply the manifest of what should run with {flag}--take-over kubectl-set; or"
    assert_refused(refused, "Irreversible", 'containers[name="web"].image (kubectl-set)')
    assert advised in refused.stderr
    flags = (*flag.split(), "--take-over", "kubectl-set")
    assert_verified(scene.apply(settings("one"), web(2), flags=flags))


PAUSE_IT = ("--on-failure", "pause")


@pytest.mark.contract("B1601")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
@pytest.mark.parametrize("fault", ["crash", "check", ""])
def test_what_fails_is_not_resumed_first(scene: Scene, fault: str) -> None:
    """By its pods, or by a check while more pods of it start; what nothing speaks against is."""
    assert_verified(scene.apply(web()))
    if fault:
        behaviour = CRASH if fault == "crash" else "ready=20"
        flags = (*PAUSE_IT, "--smoke-test", "false")
        assert scene.apply(web(2, behaviour=behaviour), flags=flags).exit_code == 6
    else:
        pause(scene)
        scene.change(web(2))
    if fault == "check":
        scene.objects.patch("deployments", "web", {"spec": {"replicas": 4}})
    result = scene.gate("verify", "web", "--timeout", "5s", *DOCUMENT)
    assert_ended(result, 6, "failed", "Paused")
    said = one_line(report(scene, result))
    back, on = said.index("rollout-gate undo web"), said.index("rollout-gate resume web")
    assert (back < on) is bool(fault), said
    assert ("once nothing speaks against its version any more" in said) is bool(fault)
    assert ("what this run judges failed a check in an attempt that ended at 2" in said) is (
        fault == "check"
    )
    shown = one_line(scene.gate("status", "web").stdout)
    assert ("before anybody resumes it, see what there is to return to" in shown) is bool(fault)
    assert (RESUME in shown) is not bool(fault)
    assert ("a check left this version unverified" in shown) is (fault == "check")
    assert ("pods of this version failed" in shown) is (fault == "crash")


@pytest.mark.contract("B1601", "B1554")
def test_verify_says_how_a_check_left_what_is_complete(scene: Scene) -> None:
    """It asks none itself; and `status` does not pass over it either."""
    assert_verified(scene.apply(web()))
    bad = scene.apply(web(2), flags=(*PAUSE_IT, "--smoke-test", "false"))
    assert_ended(bad, 6, "failed", "CheckFailed")
    result = scene.gate("verify", "web", *DOCUMENT)
    assert_verified(result)
    assert warned(
        result,
        "what this run judges failed a check in an attempt that ended at 2",
        "history does not call it verified",
    )
    assert "a check left this version unverified" in scene.gate("status", "web").stdout
    asked = scene.gate("verify", "web", "--smoke-test", "false", *DOCUMENT)
    assert not warned(asked, "which this run does not ask")
