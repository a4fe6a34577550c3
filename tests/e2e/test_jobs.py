"""Jobs that the sandbox does not play: those that end by their indexes, or by a success policy."""

from __future__ import annotations

import pytest

from tests.bed.jobs import CRASH, ended, job
from tests.bed.scene import Scene


@pytest.mark.contract("B1255")
def test_a_job_ends_by_its_success_policy(scene: Scene) -> None:
    """One index of three is enough: the others never run, and the Job is complete."""
    policy = {"rules": [{"succeededCount": 1}]}
    indexed = job(completions=3, parallelism=1, completionMode="Indexed", successPolicy=policy)
    result = scene.apply(indexed)
    assert ended(result) == (0, "verified", "Complete"), str(result)
    status = scene.objects.get("jobs", "migrate")["status"]
    assert (status["succeeded"], status["completedIndexes"]) == (1, "0")


@pytest.mark.contract("B1255")
def test_a_job_fails_by_its_indexes(scene: Scene) -> None:
    """Each index has failures of its own; the Job has failed once all of them are over."""
    by_index = job(behaviour=CRASH, completions=2, completionMode="Indexed", backoffLimitPerIndex=0)
    del by_index["spec"]["backoffLimit"]
    result = scene.apply(by_index)
    assert ended(result) == (6, "failed", "JobFailed"), str(result)
    assert "FailedIndexes" in result.document["message"]
    assert scene.objects.get("jobs", "migrate")["status"]["failedIndexes"] == "0,1"
