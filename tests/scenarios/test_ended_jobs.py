"""Jobs that have ended or are gone, by themselves or by somebody, and what is said of them."""

from __future__ import annotations

import json

import pytest

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.bed.jobs import CRASH, REPLACE, ended, entry, job, mode
from tests.bed.scene import Scene, settings, web
from tests.scenarios.versions import screen


@pytest.mark.contract("B1078")
@pytest.mark.sandbox_only("the words of an end that is played elsewhere")
@pytest.mark.parametrize(("behaviour", "exit_code"), [("ready=20", 0), ("never-ready", 4)])
def test_a_job_that_goes_by_its_time_to_live_is_nobodys_deletion(
    scene: Scene, behaviour: str, exit_code: int
) -> None:
    """It had ended, and is gone while the Deployment still rolls: nobody is blamed for it."""
    scene.serve(settings("one"), web())
    passing = job(ttlSecondsAfterFinished=0)
    result = scene.apply(settings("two"), passing, web(2, behaviour=behaviour))
    assert result.exit_code == exit_code, str(result)
    assert not scene.objects.list_all("jobs")
    assert entry(result, "migrate")["reason"] == "Complete"
    assert "somebody" not in result.stdout + result.stderr


@pytest.mark.contract("B981", "B1053", "B1054", "B1055", "B1677")
def test_a_job_that_somebody_deletes_ends_the_apply_before_what_waits_for_it(scene: Scene) -> None:
    """Configuration goes back, 4; nobody rejected anything, and its pod may run on."""
    scene.serve(settings("one"), web())
    with scene.applying(settings("two"), job(behaviour="ready"), web(2)) as running:
        running.wait_for_line("1 pod running")
        scene.objects.delete("jobs", "migrate")
        result = running.wait()
    assert ended(result) == (4, "rolled-back", "Deleted")
    said = {line["event"]: line["message"] for line in result.document["timeline"]}
    assert "rejected" not in said, said
    assert mode(scene) == "one"
    assert entry(result, "migrate")["outcome"] == "superseded"
    assert entry(result, "web")["outcome"] == "refused"
    assert entry(result, "web")["message"].startswith("it was not written, since")
    text = " ".join(screen(result).split())
    assert "the apply broke off half-way at job/migrate: the Job was deleted" in text
    assert "deployment/web was never written; what job/migrate may have done stays" in text
    assert "not written deployment/web Deleted runs shop/web:1" in text
    # The garbage collector may have taken the pod by then.
    left = ("1 of its pods was still there", "no pod of it was left")
    assert any(f"deleted before it ended; {one} when last seen" in text for one in left)


@pytest.mark.contract("B1063")
@pytest.mark.sandbox_only("what is said of an end that comes before the controller acts")
def test_what_somebody_edits_beside_a_deleted_job_is_not_as_it_was(scene: Scene) -> None:
    """Their version is about to roll out, though no pod of it was seen yet."""
    scene.serve(settings("one"), web())
    with scene.applying(settings("two"), job(behaviour="ready"), web(2)) as running:
        running.wait_for_line("1 pod running")
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)
        scene.objects.delete("jobs", "migrate")
        result = running.wait()
    found = entry(result, "web")
    assert (found["outcome"], found["running"]) == ("superseded", "mixed")


@pytest.mark.contract("B1677")
@pytest.mark.sandbox_only("what is said while its finalizer is still there")
def test_a_job_of_the_run_that_is_being_deleted_is_not_called_somebody_elses(scene: Scene) -> None:
    """Deleted as an orphan, it waits for its finalizer; there is no configuration of theirs."""
    scene.serve(settings("one"))
    with scene.applying(settings("two"), job(behaviour="ready")) as running:
        running.wait_for_line("1 pod running")
        scene.objects.delete("jobs", "migrate", "Orphan")
        result = running.wait()
    assert ended(result) == (8, "superseded", "Deleted")
    text = " ".join(screen(result).split())
    left = "configmap/settings still has what this run wrote, though job/migrate is being deleted"
    assert left in text, text
    assert "apply again what is to stand" in text
    assert "theirs" not in text


@pytest.mark.contract("B1592")
@pytest.mark.parametrize(("behaviour", "end"), [("complete=3", "Complete"), (CRASH, "Failed")])
def test_the_status_of_a_job_says_when_it_ran(scene: Scene, behaviour: str, end: str) -> None:
    """By its own status; what it ran, and how it ended, stands there as well."""
    scene.apply(job(behaviour=behaviour))
    status = scene.objects.get("jobs", "migrate")["status"]
    (ended_at,) = [c["lastTransitionTime"] for c in status["conditions"] if c["type"] == end]
    times = status["startTime"], ended_at
    first, *_ = scene.gate("status", "job/migrate").stdout.splitlines()
    assert f", started at {times[0]}, ended at {times[1]}, after " in first
    assert "wanted" not in first
    document = json.loads(scene.gate("status", "job/migrate", "--output", "json").stdout)
    assert (document["started_at"], document["ended_at"]) == times


@pytest.mark.contract("B1601")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
def test_the_status_of_a_suspended_job_leads_to_its_resumption_alone(scene: Scene) -> None:
    """Though its pods fail: it has no versions, and so no history to return by."""
    scene.objects.create("jobs", job(behaviour=CRASH, backoffLimit=9))
    scene.objects.wait("pods", lambda pods: any(p["status"]["phase"] == "Failed" for p in pods))
    assert scene.gate("pause", "job/migrate").exit_code == 0
    said = scene.gate("status", "job/migrate").stdout
    assert "PodFailed" in said
    assert "once whoever paused it agrees: rollout-gate resume job/migrate" in said


@pytest.mark.contract("B1591", "B1623")
@pytest.mark.parametrize("way", ["name", "both", "generateName", "replace"])
def test_a_failed_job_leads_to_what_runs_it_again(scene: Scene, way: str) -> None:
    """By its name and annotation; a `verify`, which has no manifest, sees them in the Job."""
    marked = {REPLACE: "true" if way == "replace" else "false"}
    body = job(behaviour=CRASH, annotations=marked)
    if way in ("both", "generateName"):
        body["metadata"]["generateName"] = "migrate-"
    if way == "generateName":
        del body["metadata"]["name"]
    failed = scene.gate("apply", "-f", scene.manifest(body))
    (made,) = scene.objects.list_all("jobs")
    looked = scene.gate("verify", f"job/{made['metadata']['name']}")
    ways = {
        "name": "a failed Job does not run again while it is there: apply it under a new name",
        "generateName": "apply again: each apply makes a Job of its own",
        "replace": "apply again: the failed Job is deleted then, and runs again",
    }
    for result in (failed, looked):
        assert result.exit_code == 6, str(result)
        said = " ".join(result.stdout.split())
        named = "name" if way == "both" else way
        assert [one for one, words in ways.items() if words in said] == [named], said


FALSE, DOUBT, KEEP = ["false"], ["sh", "-c", "exit 75"], ("--on-failure", "keep")
WENT_BACK = "what else was written went back; what job/migrate"
STANDS = "what else was written stands"


@pytest.mark.contract("B1057", "B1061", "B1317")
@pytest.mark.parametrize(
    ("command", "behaviour", "flags", "left", "said"),
    [
        (
            FALSE,
            "complete=1",
            (),
            (4, "rolled-back", "Complete", "one"),
            f"job/migrate has completed, but smoke: exit 1; {WENT_BACK} did stays",
        ),
        (
            FALSE,
            "complete=60",
            (),
            (4, "rolled-back", "CheckFailed", "one"),
            f"job/migrate was left running, but smoke: exit 1; {WENT_BACK} does stays",
        ),
        (
            FALSE,
            "complete=60",
            KEEP,
            (6, "failed", "CheckFailed", "two"),
            f"job/migrate was left running, but smoke: exit 1; {STANDS}",
        ),
        (
            DOUBT,
            "complete=1",
            (),
            (7, "inconclusive", "Complete", "two"),
            f"job/migrate has completed, but smoke: 9 errors in a row; last: exit 75; {STANDS}",
        ),
    ],
    ids=["ended", "running", "kept", "in-doubt"],
)
def test_a_check_beside_jobs_alone_is_about_the_run(
    scene: Scene,
    command: list[str],
    behaviour: str,
    flags: tuple[str, ...],
    left: tuple[int, str, str, str],
    said: str,
) -> None:
    """It can be about no Job: what it does stays, and what else was applied goes back."""
    checks = scene.folder / "gate.yaml"
    asked = json.dumps(command)
    checks.write_text(f"checks: [{{name: smoke, command: {asked}, initial-delay: 10s}}]\n")
    scene.serve(settings("one"))
    bodies = settings("two"), job(behaviour=behaviour)
    result = scene.apply(*bodies, flags=("--config", str(checks), *flags))
    found = result.document
    reason = entry(result, "migrate")["reason"]
    assert (result.exit_code, found["outcome"], reason, mode(scene)) == left
    text = verdict_text(found, Style(width=200))
    assert said in text
    assert f"why       {found['reason']}: smoke: " in text
    assert "rollout-gate checks" in text
    assert "--explain" in text
