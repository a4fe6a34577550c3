"""A failed Job that is deleted and created again, and a gate that dies or fails in between."""

from __future__ import annotations

import re

import pytest

from tests.bed.interrupting import UNDER_WAY
from tests.bed.jobs import CRASH, PHASE, REPLACE, ended, entry, job, mode
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import die_at, recover
from tests.scenarios.proxy import Proxy, kills, says, status, writes
from tests.scenarios.versions import one_line, screen

GONE = (
    "job/migrate: the failed one was deleted so that it could run again, and no new one was"
    " created: the next apply runs it"
)


def fail_a_job(scene: Scene) -> JSON:
    """Let a Job fail; return it."""
    scene.serve(settings("one"), web())
    assert ended(scene.apply(job(behaviour=CRASH))) == (6, "failed", "JobFailed")
    return scene.objects.get("jobs", "migrate")


def replacing(**spec: object) -> list[JSON]:
    """Return a manifest whose Job may replace the one that failed."""
    return [settings("two"), job(annotations={REPLACE: "true"}, **spec), web(2)]  # type: ignore[arg-type]


@pytest.mark.contract("B1073")
@pytest.mark.parametrize("then", ["recover", "apply"])
@pytest.mark.parametrize(
    ("method", "is_after"),
    [("DELETE", False), ("DELETE", True), ("PATCH", False), ("PATCH", True)],
    ids=["before-deletion", "after-deletion", "before-creation", "after-creation"],
)
def test_a_gate_that_dies_while_it_replaces_a_job_leaves_one_job(
    proxy: Proxy, then: str, method: str, *, is_after: bool
) -> None:
    """Nobody else is blamed, what was written goes back, and the next apply runs one Job."""
    scene = proxy.scene
    failed = fail_a_job(scene)
    with scene.applying(*replacing()) as running:
        proxy.on(writes("/jobs/", method=method), kills(running, after=is_after))
        assert running.wait().exit_code < 0
    proxy.rest()
    assert mode(scene) == "two"
    left = {one["metadata"]["uid"] for one in scene.objects.list_all("jobs")}
    if then == "recover":
        result = recover(scene, "web")
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


@pytest.mark.contract("B2028")
@pytest.mark.sandbox_only("what is said of a recovery that other scenarios play there")
@pytest.mark.parametrize(
    ("line", "outcome"),
    [("1 pod running", "inconclusive"), ("0 of 2 new pods available", "verified")],
)
def test_a_replaced_job_that_is_gone_is_not_said_not_to_have_been_created(
    scene: Scene, line: str, outcome: str
) -> None:
    """Its time to live was over: what waits for it was written, or nobody knows whether it ran."""
    fail_a_job(scene)
    slow = web(2, behaviour="ready=20")
    *others, _ = replacing(behaviour="complete=5", ttlSecondsAfterFinished=0)
    die_at(scene, line, *others, slow)
    scene.objects.wait("jobs", lambda found: not found)
    result = recover(scene, "web")
    assert ended(result) == (4, "rolled-back", "Interrupted")
    assert entry(result, "migrate")["outcome"] == outcome
    assert "no new one was created" not in one_line(result.stderr + screen(result))


@pytest.mark.contract("B2028")
def test_a_failed_job_that_is_still_there_was_not_replaced(scene: Scene) -> None:
    """It was to come last, and the gate died before."""
    fail_a_job(scene)
    later = {PHASE: "after", REPLACE: "true"}
    smoke = job(annotations=later, ttlSecondsAfterFinished=0)
    die_at(scene, UNDER_WAY, settings("two"), smoke, web(2, behaviour="ready=20"))
    result = recover(scene, "web")
    assert ended(result) == (4, "rolled-back", "Interrupted")
    migrate = entry(result, "migrate")
    assert (migrate["outcome"], migrate["changed"]) == ("refused", False)
    text = one_line(screen(result))
    assert "not written job/migrate" in text
    assert "it is not there" not in text


@pytest.mark.contract("B1074")
def test_a_job_that_could_not_be_created_again_is_not_said_to_be_there(proxy: Proxy) -> None:
    """A webhook refuses it once the failed one was deleted: the report says so."""
    scene = proxy.scene
    fail_a_job(scene)
    denied = status(403, 'admission webhook "jobs" denied the request')
    proxy.on(writes("/jobs/"), says(denied))
    said = scene.gate("apply", "-f", scene.manifest(*replacing())).stdout
    assert (
        "the apply was rejected half-way; what was written went back, but the failed"
        " job/migrate was deleted and not created again" in one_line(said)
    )
    assert re.search(r"not written +job/migrate +ApplyRejected +runs no pod\n", said), said
    assert "scaled to 0" not in said
    assert "deleted   job/migrate" in said
    assert mode(scene) == "one"
    assert not scene.objects.list_all("jobs")
