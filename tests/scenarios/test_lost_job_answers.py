"""Writes of a Job whose answers are lost on their way: each Job is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.jobs import CRASH, REPLACE, ended, job
from tests.played.bed import sandbox_bed, scene_through


class LostAnswer:
    """Stands before the server: the answers to so many writes of a Job are lost on their way."""

    def __init__(self, losing: int) -> None:
        """Lose the answers to `losing` writes."""
        self.losing = losing
        self.is_dropping = False
        self.names: set[str] = set()

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Let a write be done, and break off instead of its answer; drop one apply on its way."""
        is_trial = dict(request.query).get("dryRun") == "All"
        if self.is_dropping and request.method == "PATCH" and not is_trial:
            self.is_dropping = "/jobs/" not in request.path
            return handle(request) if self.is_dropping else Answer(504, b"it gave up", {})
        answer = handle(request)
        if request.method == "GET" or is_trial or "/jobs/" not in request.path:
            return answer
        self.names.add(request.path.rpartition("/")[2])
        if not self.losing:
            return answer
        self.losing -= 1
        return Answer(504, b"the proxy gave up", {"content-type": "text/plain"})


@pytest.mark.contract("B965")
@pytest.mark.parametrize("losing", [0, 1])
def test_a_generated_name_makes_one_job_an_attempt(tmp_path: Path, losing: int) -> None:
    """A request that is repeated after a lost answer names the same Job; the next apply another."""
    body = job()
    body["metadata"] = {"generateName": "migrate-"}
    proxy = LostAnswer(losing)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, proxy)
        first = scene.apply(body)
        assert ended(first) == (0, "verified", "Complete")
        (made,) = scene.objects.list_all("jobs")
        assert made["metadata"]["name"].startswith("migrate-")
        assert len(made["metadata"]["name"]) == len("migrate-") + 10
        assert proxy.names == {made["metadata"]["name"]}
        assert ended(scene.apply(body)) == (0, "verified", "Complete")
        assert len(scene.objects.list_all("jobs")) == 2


@pytest.mark.contract("B964", "B965")
@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_replaced_job_whose_answers_are_lost_is_created_once(
    tmp_path: Path, *, is_dropped: bool
) -> None:
    """Neither a lost deletion nor a creation that was lost or dropped is called somebody else's."""
    proxy = LostAnswer(losing=0)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, proxy)
        assert ended(scene.apply(job(behaviour=CRASH))) == (6, "failed", "JobFailed")
        proxy.losing, proxy.is_dropping = 0 if is_dropped else 2, is_dropped
        assert ended(scene.apply(job(annotations={REPLACE: "true"}))) == (0, "verified", "Complete")
        assert (proxy.losing, proxy.is_dropping) == (0, False)
        assert len(scene.objects.list_all("jobs")) == 1
