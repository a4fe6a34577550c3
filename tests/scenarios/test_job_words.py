"""What is said of a Job once it has ended: when it ran, and how it runs again."""

from __future__ import annotations

import json

import pytest

from tests.bed.jobs import CRASH, REPLACE, job
from tests.bed.scene import Scene


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
