"""What is said of a Job that a killed gate left and that is gone."""

from __future__ import annotations

import signal

import pytest

from tests.bed.expectations import assert_runs
from tests.bed.jobs import CRASH, PHASE, ended, entry, job, mode
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.scenarios.killing import die_at
from tests.scenarios.proxy import Proxy, kills, writes
from tests.scenarios.versions import one_line, screen


def recover_without_jobs(scene: Scene) -> Result:
    """Recover once every Job has gone by its time to live."""
    scene.objects.wait("jobs", lambda found: not found)
    return scene.gate("recover", "web", "--output", "json")


@pytest.mark.contract("B1247", "B1917")
@pytest.mark.sandbox_only("what is said of a recovery that other scenarios play there")
@pytest.mark.parametrize("is_deleted", [False, True], ids=["gone", "deleted"])
def test_recover_does_not_know_whether_a_job_was_written_that_may_have_gone(
    scene: Scene, *, is_deleted: bool
) -> None:
    """The gate died while it ran; then its time to live was over, or somebody deleted it."""
    scene.serve(settings("one"), web())
    passing = job(behaviour="complete=5", ttlSecondsAfterFinished=None if is_deleted else 0)
    die_at(scene, "1 pod running", settings("two"), passing, web(2))
    if is_deleted:
        scene.objects.delete("jobs", "migrate", "Orphan")
    result = recover_without_jobs(scene)
    assert ended(result) == (4, "rolled-back", "Interrupted")
    migrate = entry(result, "migrate")
    assert (migrate["outcome"], entry(result, "web")["outcome"]) == ("inconclusive", "refused")
    assert migrate["message"].startswith("it is not there: whether it was written")
    text = one_line(screen(result))
    assert "; whether job/migrate was written is not known" in text
    assert "not written job/migrate" not in text
    pods, again = text.find("kubectl get pods -l job-name=migrate"), text.find("repeat the command")
    assert 0 < pods < again


@pytest.mark.contract("B1346", "B1080")
def test_recover_does_not_say_of_a_smoke_test_that_ran_that_it_was_not_written(
    scene: Scene,
) -> None:
    """It completed in the bake window and is gone, as the Job before it, which is known to be."""
    scene.serve(settings("one"), web())
    before = job("first", ttlSecondsAfterFinished=0)
    after = job("smoke", annotations={PHASE: "after"}, ttlSecondsAfterFinished=0)
    die_at(scene, "baking", settings("two"), before, web(2), after, flags=("--bake", "20s"))
    result = recover_without_jobs(scene)
    assert ended(result) == (7, "inconclusive", "Interrupted"), str(result)
    assert (mode(scene), entry(result, "web")["running"]) == ("two", "new")
    text = one_line(screen(result))
    assert "it was not written" not in text
    assert "runs unknown: whether it was written" in text
    assert "job/smoke is in doubt; what was applied stands, and is not verified" in text
    assert "in-doubt job/smoke" in text
    assert "gone job/first" in text
    assert "the next apply runs job/smoke" in text


@pytest.mark.contract("B2005", "B1346")
@pytest.mark.sandbox_only("the gate may have ended before a kill comes")
def test_recover_says_of_a_job_whose_version_was_restored_already_that_it_ran(scene: Scene) -> None:
    """Nothing that was written is left: that the Deployment behind it was, the record says."""
    scene.serve(settings("one"), web())
    die_at(
        scene,
        "restored +deployment/web",
        settings("two"),
        job(ttlSecondsAfterFinished=0),
        web(2, behaviour=CRASH, progress_deadline_seconds=5),
    )
    result = recover_without_jobs(scene)
    assert ended(result)[:2] == (4, "rolled-back"), str(result)
    migrate = entry(result, "migrate")
    assert (migrate["outcome"], migrate["reason"]) == ("verified", "Complete")
    text = one_line(screen(result))
    assert "job/migrate was never written" not in text
    assert "what job/migrate did stays" in text
    assert "gone job/migrate" in text


@pytest.mark.contract("B2005")
@pytest.mark.sandbox_only("what is said of a gate that dies between two of its writes")
@pytest.mark.parametrize("is_deleted", [False, True], ids=["gone", "deleted"])
def test_a_job_that_was_left_running_and_is_gone_has_an_end_that_nobody_saw(
    proxy: Proxy, *, is_deleted: bool
) -> None:
    """The gate went back for a signal, and died on that way: the pods of what was deleted may run.

    Its record says that the Job was written.
    """
    scene = proxy.scene
    scene.serve(settings("one"), web())
    passing = job(behaviour="complete=5", ttlSecondsAfterFinished=None if is_deleted else 0)
    flags = ("--on-interrupt", "rollback")
    with scene.applying(settings("two"), passing, web(2), flags=flags) as running:
        running.wait_for_line("1 pod running")
        proxy.on(writes("/configmaps/"), kills(running, after=True))
        running.send(signal.SIGTERM)
        running.wait()
    proxy.rest()
    if is_deleted:
        scene.objects.delete("jobs", "migrate", "Orphan")
    result = recover_without_jobs(scene)
    assert ended(result) == (4, "rolled-back", "Interrupted")
    migrate = entry(result, "migrate")
    assert (migrate["outcome"], migrate["changed"]) == ("inconclusive", True)
    assert migrate["message"] == "it was written, and is gone since: how it ended is not known"
    text = one_line(screen(result))
    assert f"job/migrate Interrupted {'may run' if is_deleted else 'ran'} shop/migrate:1" in text
    assert f"what job/migrate {'may have done' if is_deleted else 'did'} stays" in text
    pods, again = text.find("kubectl get pods -l job-name=migrate"), text.find("repeat the command")
    assert 0 < pods < again


@pytest.mark.contract("B1346", "B1277", "B1484")
@pytest.mark.parametrize("line", ["failed ", "restored "])
def test_recover_says_of_a_job_that_failed_and_is_gone_that_it_ran(scene: Scene, line: str) -> None:
    """The gate died on its way back, or as it said that: what it had recorded is why."""
    scene.serve(settings("one"), web(behaviour="ready=3"))
    after = job("smoke", behaviour="crash=0.5", annotations={PHASE: "after"})
    after["spec"]["ttlSecondsAfterFinished"] = 0
    die_at(scene, line, settings("two"), web(2), after)
    result = recover_without_jobs(scene)
    assert ended(result) == (4, "rolled-back", "JobFailed"), str(result)
    text = one_line(screen(result))
    assert "it was not written" not in text
    assert "JobFailed ran" in text
    assert "gone job/smoke" in text
    assert "kubectl logs" not in text
    assert "the next apply runs it again" in text


@pytest.mark.contract("B1254")
@pytest.mark.sandbox_only("what a lock remembers")
def test_no_lock_is_left_of_what_a_dead_gate_never_wrote(scene: Scene) -> None:
    """Once its record is gone, the locks that lead to it lead nowhere."""
    scene.serve(settings("one"), web(), web(name="zone"))
    die_at(
        scene, "1 pod running", settings("two"), job(behaviour="ready"), web(2), web(2, name="zone")
    )
    assert len(scene.objects.list_all("leases")) == 2
    result = scene.gate("recover", "--output", "json")
    assert ended(result) == (4, "rolled-back", "Interrupted")
    left = {one["metadata"]["name"] for one in scene.objects.list_all("leases")}
    assert left == set()


@pytest.mark.contract("B955", "B961", "B1079")
def test_recover_takes_back_what_came_before_a_job_that_failed(scene: Scene) -> None:
    """The gate died while it waited; the Job has ended by then, and stays."""
    scene.serve(settings("one"), web())
    die_at(scene, "1 pod running", settings("two"), job(behaviour="crash=3;code=3"), web(2))
    result = scene.gate("recover", "deployment/web", "--output", "json")
    assert result.exit_code == 4, str(result)
    assert "the gate ended before the attempt was complete" in result.document["message"]
    assert "version" not in entry(result, "migrate")["message"]
    assert mode(scene) == "one"
    assert_runs(scene.objects, "shop/web:1")
    assert scene.objects.get("jobs", "migrate")


@pytest.mark.contract("B1080")
@pytest.mark.sandbox_only("what is said of a recovery that other scenarios play there")
def test_recover_does_not_call_a_job_unwritten_that_went_after_its_end(scene: Scene) -> None:
    """The Deployment behind it was written, so the dead gate had seen it complete."""
    scene.serve(settings("one"), web())
    passing = job(ttlSecondsAfterFinished=0)
    die_at(
        scene,
        "deployment/web: 0 of 2 new pods available",
        settings("two"),
        passing,
        web(2, behaviour="ready=20"),
    )
    assert not scene.objects.list_all("jobs")
    result = scene.gate("recover", "web", "--output", "json")
    assert ended(result) == (4, "rolled-back", "Interrupted")
    migrate = entry(result, "migrate")
    assert (migrate["outcome"], migrate["reason"]) == ("verified", "Complete")
    assert "is gone since" in migrate["message"]
    said = screen(result)
    assert "never written" not in said, said
    assert "not written" not in said, said
    assert "has not run" not in said, said


@pytest.mark.contract("B530", "B1080")
@pytest.mark.sandbox_only("what is said of a recovery that other scenarios play there")
def test_a_complete_version_stays_where_the_job_before_it_is_gone(scene: Scene) -> None:
    """Killed in the bake window: all was written and is complete, and the Job is not run again."""
    scene.serve(settings("one"), web())
    die_at(
        scene,
        "baking +complete",
        settings("two"),
        job(ttlSecondsAfterFinished=0),
        web(2),
        flags=("--bake", "60s"),
    )
    assert not scene.objects.list_all("jobs")
    result = scene.gate("recover", "web", "--output", "json")
    assert ended(result) == (0, "verified", "Complete"), str(result)
    assert mode(scene) == "two"
    assert_runs(scene.objects, "shop/web:2")
    assert entry(result, "migrate")["outcome"] == "verified"
    assert "is gone since" in entry(result, "migrate")["message"]
    assert not scene.objects.list_all("jobs")
