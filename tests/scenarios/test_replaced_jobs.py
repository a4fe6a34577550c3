"""A failed Job that is deleted and created again, and a gate that dies or fails in between."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.jobs import CRASH, REPLACE, ended, entry, job, mode
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.bed import sandbox_bed, scene_through

GONE = (
    "job/migrate: the failed one was deleted so that it could run again, and no new one was"
    " created: the next apply runs it"
)


class AtWrite:
    """Stands before the server: does something in place of one write of a Job, or after it."""

    def __init__(self) -> None:
        """Let everything pass until `instead` is set."""
        self.verb = ""
        self.instead: Callable[[], Answer] | None = None
        self.is_after = False

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Answer a request."""
        is_trial = dict(request.query).get("dryRun") == "All"
        is_it = "/jobs/" in request.path and request.method == self.verb and not is_trial
        if self.instead is None or not is_it:
            return handle(request)
        if self.is_after:
            handle(request)
        return self.instead()


@contextmanager
def failed_before(folder: Path) -> Iterator[tuple[Scene, AtWrite, JSON]]:
    """Play a scene in which a Job has failed; yield what stands before the server, and the Job."""
    before = AtWrite()
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed, before)
        scene.serve(settings("one"), web())
        assert ended(scene.apply(job(behaviour=CRASH))) == (6, "failed", "JobFailed")
        yield scene, before, scene.objects.get("jobs", "migrate")


def replacing(**spec: object) -> list[JSON]:
    """Return a manifest whose Job may replace the one that failed."""
    return [settings("two"), job(annotations={REPLACE: "true"}, **spec), web(2)]  # type: ignore[arg-type]


def die_at(scene: Scene, before: AtWrite, verb: str, *, is_after: bool) -> None:
    """Kill the gate in place of a write of the Job, or once that write was done."""
    path = scene.manifest(*replacing())
    with scene.gate.start("apply", "-f", path) as running:

        def die() -> Answer:
            before.instead = None
            running.kill()
            return Answer(504, b"nobody hears it", {})

        before.verb, before.is_after, before.instead = verb, is_after, die
        assert running.wait().exit_code < 0


@pytest.mark.contract("B1073")
@pytest.mark.parametrize("then", ["recover", "apply"])
@pytest.mark.parametrize(
    ("verb", "is_after"),
    [("DELETE", False), ("DELETE", True), ("PATCH", False), ("PATCH", True)],
    ids=["before-deletion", "after-deletion", "before-creation", "after-creation"],
)
def test_a_gate_that_dies_while_it_replaces_a_job_leaves_one_job(
    tmp_path: Path, then: str, verb: str, *, is_after: bool
) -> None:
    """Nobody else is blamed, what was written goes back, and the next apply runs one Job."""
    with failed_before(tmp_path) as (scene, before, failed):
        die_at(scene, before, verb, is_after=is_after)
        assert mode(scene) == "two"
        left = {one["metadata"]["uid"] for one in scene.objects.list_all("jobs")}
        if then == "recover":
            result = scene.gate("recover", "web", "--output", "json")
            assert ended(result) == (4, "rolled-back", "Interrupted")
            assert mode(scene) == "one"
            assert "somebody" not in result.stdout + result.stderr
            is_gone = not left
            assert (GONE in result.document["warnings"]) == is_gone, result.document["warnings"]
            migrate = entry(result, "migrate")
            was_created = bool(left) and failed["metadata"]["uid"] not in left
            assert migrate["outcome"] == ("failed" if was_created else "refused"), migrate
        again = scene.apply(*replacing())
        assert ended(again) == (0, "verified", "Complete"), str(again)
        assert mode(scene) == "two"
        (only,) = scene.objects.list_all("jobs")
        assert only["metadata"]["uid"] != failed["metadata"]["uid"]


@pytest.mark.contract("B1074")
def test_a_job_that_could_not_be_created_again_is_not_said_to_be_there(tmp_path: Path) -> None:
    """A webhook refuses it once the failed one was deleted: the report says so."""

    def deny() -> Answer:
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403}
        status |= {"reason": "Forbidden", "message": 'admission webhook "jobs" denied the request'}
        body = json.dumps(status).encode()
        return Answer(403, body, {"content-type": "application/json"})

    with failed_before(tmp_path) as (scene, before, _):
        before.verb, before.instead = "PATCH", deny
        path = scene.manifest(*replacing())
        with scene.gate.start("apply", "-f", path) as running:
            said = running.wait().stdout
        assert (
            "the apply was rejected half-way; what was written went back, but the failed"
            " job/migrate was deleted and not created again" in " ".join(said.split())
        )
        assert re.search(r"not written +job/migrate +ApplyRejected +runs no pod\n", said), said
        assert "scaled to 0" not in said
        assert "deleted   job/migrate" in said
        assert mode(scene) == "one"
        assert not scene.objects.list_all("jobs")
