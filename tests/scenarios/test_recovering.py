"""`recover`: who may finish what a dead gate left, what goes back, and what is said of it."""

from __future__ import annotations

import signal

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import CRASHED, UNDER_WAY
from tests.bed.leases import held_locks, on_another_machine
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.played.gate import PlayedGate
from tests.scenarios.killing import JOB, RECORD, SLOW, annotate, kill_apply, recover
from tests.scenarios.versions import CRASH, history, report

pytestmark = pytest.mark.sandbox_only("minutes of waiting")


@pytest.mark.contract("B539")
@pytest.mark.parametrize(
    ("elsewhere", "least", "most"), [(False, 0, 2), (True, 60, 70)], ids=["here", "elsewhere"]
)
def test_who_can_prove_a_death_need_not_wait(
    scene: Scene, program: PlayedGate, elsewhere: bool, least: float, most: float
) -> None:
    """The process is gone from this machine; of one elsewhere the Lease has to expire."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    if elsewhere:
        on_another_machine(scene)
    result = program("recover", "web", env=JOB)
    assert result.exit_code == 4, str(result)
    assert least <= result.duration_seconds < most
    assert_runs(scene.objects, "shop/web:1")


JENKINS = {
    "JENKINS_URL": "https://jenkins.test/",
    "BUILD_URL": "https://jenkins.test/job/shop/7/",
    "BUILD_TAG": "jenkins-shop-7",
}


@pytest.mark.contract("B539")
@pytest.mark.parametrize("env", [JENKINS, JOB], ids=["jenkins", "github"])
def test_a_live_rollout_of_the_same_build_is_left_alone(
    scene: Scene, program: PlayedGate, env: dict[str, str]
) -> None:
    """A stage beside it asks to recover: it is told who works, and the good version comes."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour=SLOW))
    with program.start("apply", "-f", path, env=env) as running:
        running.wait_for_line(UNDER_WAY)
        result = program("recover", "web", "--lock-wait", "5s", env=env)
        assert_refused(result, "Locked", "deployment/web is locked by")
        assert running.wait().exit_code == 0
    assert_runs(scene.objects, "shop/web:2", revision=2)


THREE = ("api", "db", "web")


def three(version: int = 1, **more: str) -> list[JSON]:
    """Return three Deployments."""
    return [web(version, name=name, **more) for name in THREE]


@pytest.mark.contract("B548")
@pytest.mark.parametrize("elsewhere", [False, longer(True)], ids=["here", "elsewhere"])
@pytest.mark.parametrize("name", [None, "web", longer("db")])
def test_all_locks_of_an_attempt_are_given_back(
    scene: Scene, program: PlayedGate, name: str | None, elsewhere: bool
) -> None:
    """Whichever Deployment is named: the next apply has every lock at once."""
    scene.serve(*three())
    kill_apply(scene, program, *three(2, behaviour=SLOW))
    assert len(held_locks(scene)) == len(THREE)
    if elsewhere:
        on_another_machine(scene)
    result = recover(scene, *filter(None, [name]))
    assert result.exit_code == 4, str(result)
    assert held_locks(scene) == []
    after = scene.gate("apply", "-f", scene.manifest(*three(3)), "--lock-wait", "1s")
    assert after.exit_code == 0, str(after)
    assert "locked" not in after.stderr


@pytest.mark.contract("B751")
@pytest.mark.parametrize("crash", ["db", longer("api"), longer("web")])
def test_recovered_innocents_are_not_given_the_culprits_reason(
    scene: Scene, program: PlayedGate, crash: str
) -> None:
    """The record says which one failed; nothing was found against the others."""
    scene.serve(*three())
    bodies = [web(2, name=name, behaviour=CRASH if name == crash else "ready=0") for name in THREE]
    kill_apply(scene, program, *bodies, line=r"restored .*deployment/\w+ restored")
    result = recover(scene)
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    document = result.document
    for one in document["deployments"]:
        is_culprit = one["name"] == crash
        assert (one["outcome"], one["reason"]) == (
            "rolled-back",
            "CrashLoop" if is_culprit else "SiblingFailed",
        )
    reasons = {one["why"]["reason"] for one in history(scene)["versions"] if one["why"]}
    assert reasons == {"CrashLoop" if crash == "web" else "SiblingFailed"}
    first = report(scene, result).splitlines()[0]
    assert f"deployment/{crash} failed" in first
    assert all(f"deployment/{name}" not in first for name in THREE if name != crash)


@pytest.mark.contract("B539", "B548")
def test_a_lock_of_a_gate_that_left_no_record_is_given_back(
    scene: Scene, program: PlayedGate
) -> None:
    """There is nothing to finish, and nobody need wait for it; whether it wrote is not known."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    annotate(scene, {RECORD: None})
    result = program("recover")
    assert result.exit_code == 0, str(result)
    assert "deployment/web: its gate died, and no record was found" in result.stderr
    assert "nothing is left" not in str(result)
    assert "wrote" not in result.stderr
    assert held_locks(scene) == []
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B532", "B539")
@pytest.mark.parametrize("elsewhere", [False, longer(True)], ids=["here", "elsewhere"])
@pytest.mark.parametrize("env", [JOB, longer(JENKINS)], ids=["github", "jenkins"])
def test_side_by_side(
    scene: Scene, program: PlayedGate, env: dict[str, str], elsewhere: bool
) -> None:
    """Of two at once in one job one finishes, and the other finds nothing left."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    if elsewhere:
        on_another_machine(scene)
    with program.start("recover", env=env) as one, program.start("recover", env=env) as other:
        assert sorted([one.wait().exit_code, other.wait().exit_code]) == [0, 4]
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B533", "B1254")
@pytest.mark.parametrize("reason", ["Superseded", "Deleted"])
def test_what_somebody_else_did_since_stays(scene: Scene, program: PlayedGate, reason: str) -> None:
    """A third version, or none, is nobody's to undo: 8, and no apply is held up by the record."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    if reason == "Deleted":
        scene.objects.delete("deployments", "web")
    else:
        scene.change(web(9))
    assert_ended(recover(scene), 8, "superseded", reason)
    live = scene.objects.find("deployments", "web")
    assert (images(live) if live else []) == (["shop/web:9"] if reason == "Superseded" else [])
    assert scene.objects.list_all("leases") == []


@pytest.mark.contract("B182", "B24")
def test_a_kept_failure_that_was_never_written_is_not_called_the_baseline(
    scene: Scene, program: PlayedGate
) -> None:
    """The apply died before its Deployment: its ConfigMap goes back, the bad v9 still stands."""
    assert_verified(scene.apply(settings("one"), web()))
    kept = scene.apply(settings("nine"), web(9, behaviour=CRASH), flags=["--on-failure", "keep"])
    assert kept.exit_code == 6, str(kept)
    kill_apply(scene, program, settings("two"), web(2), line="applied +configmap/settings changed")
    result = program("recover", "web", "--output", "json")
    assert_ended(result, 4, "rolled-back", "Interrupted", running="mixed")
    assert result.document["rollback"]["verified"] is False
    assert scene.objects.get("configmaps", "settings")["data"]["mode"] == "nine"
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:9"]


@pytest.mark.contract("B527", "B530")
def test_what_only_observed_is_finished_without_a_verdict(
    scene: Scene, program: PlayedGate
) -> None:
    """An attempt that was to take nothing back ends with 0, and a second look finds nothing."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW), flags=["--observe"])
    result = recover(scene)
    assert_ended(result, 0, "observed", "Complete")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert "no record of an unfinished attempt was found" in recover(scene).stderr


@pytest.mark.contract("B905")
@pytest.mark.parametrize("signalled", [True, False], ids=["signalled", "killed"])
def test_what_crashed_before_its_gate_ended_is_not_called_innocent(
    scene: Scene, program: PlayedGate, signalled: bool
) -> None:
    """What the record knows leads to what the container said; else what was seen does."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=CRASH))) as running:
        running.wait_for_line(CRASHED, 60.0)
        if signalled:
            running.send(signal.SIGTERM)
            assert running.wait().exit_code == 143
        else:
            running.kill()
    result = program("recover", "web")
    assert result.exit_code == 4, str(result)
    assert "nothing was found against" not in result.stdout, result.stdout
    expected = (
        "fix that, then apply again"
        if signalled
        else "was cut off before a verdict: check the evidence"
    )
    assert expected in " ".join(result.stdout.split()), result.stdout
    assert ("CrashLoop: " in result.stdout) is signalled


@pytest.mark.contract("B8", "B195", "B541")
def test_a_pause_of_ours_refuses_nobody_and_does_not_come_back(scene: Scene) -> None:
    """The next apply ends the pause that `--on-failure pause` left; its rollback leaves it so."""
    recreated = {"strategy": {"type": "Recreate"}}
    assert_verified(scene.apply(web(**recreated)))
    bad = web(2, behaviour=CRASH, **recreated)
    assert scene.apply(bad, flags=["--on-failure", "pause"]).exit_code == 6
    assert scene.objects.get("deployments", "web")["spec"]["paused"]
    result = scene.apply(web(3, behaviour=CRASH, **recreated))
    assert "deployment/web: an earlier run paused it" in result.stderr
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "deployment/web was paused before", "is not paused again")
    assert "paused" not in assert_runs(scene.objects, "shop/web:1")["spec"]


@pytest.mark.contract("B8", "B120")
def test_a_recovery_does_not_pause_again(scene: Scene, program: PlayedGate) -> None:
    """What a dead gate resumed goes back unpaused, and so serves."""
    recreated = {"strategy": {"type": "Recreate"}}
    scene.serve(web(**recreated))
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    kill_apply(
        scene,
        program,
        web(2, behaviour=SLOW, **recreated),
        line="following replicaset/.*shop/web:2",
        flags=["--resume"],
    )
    result = recover(scene)
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert warned(result, "deployment/web was paused before", "is not paused again")
    assert "paused" not in assert_runs(scene.objects, "shop/web:1")["spec"]
