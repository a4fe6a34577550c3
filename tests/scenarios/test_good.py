"""Rollouts that succeed: each ends with 0 when the new version is complete, and not before."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_runs, assert_verified, is_going
from tests.bed.history import version_of
from tests.bed.scene import Scene, web
from tests.cluster.audit import Requests, Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set

MOST_REQUESTS = 25


@pytest.mark.contract("B20", "B173", "B255")
def test_a_first_deployment_is_verified(scene: Scene) -> None:
    """A Deployment that did not exist is created, and verified when all its pods are available."""
    result = scene.apply(web())
    ended = assert_verified(result)
    assert (ended["baseline"], ended["new"]["revision"], ended["changed"]) == (None, 1, True)
    assert ended["new"]["images"] == ["shop/web:1"]
    assert [each["action"] for each in result.document["objects"]] == ["created"]
    assert_runs(scene.objects, "shop/web:1", revision=1)


@pytest.mark.contract("B4", "B16", "B20", "B41")
@pytest.mark.on_oldest
def test_a_changed_image_is_verified(scene: Scene, audit: Trail) -> None:
    """A new image replaces every pod; the way back was named before the first write."""
    scene.serve(web())
    result = scene.apply(web(2))
    ended = assert_verified(result)
    assert ended["baseline"]["images"] == ["shop/web:1"]
    assert (ended["baseline"]["revision"], ended["new"]["revision"]) == (1, 2)
    timeline = result.document["timeline"]
    baseline, applied = (_first(timeline, event) for event in ("baseline", "applied"))
    assert baseline < applied
    assert "revision 1 (shop/web:1)" in timeline[baseline]["message"]
    assert_runs(scene.objects, "shop/web:2", revision=2)
    agents = {request.user_agent.partition(" ")[0] for request in audit.requests("")}
    assert f"rollout-gate/{result.document['version']}" in agents


def _first(timeline: list[JSON], event: str) -> int:
    return next(number for number, each in enumerate(timeline) if each["event"] == event)


@pytest.mark.contract("B47")
def test_recreate_goes_through_no_pod_at_all(scene: Scene) -> None:
    """With the strategy Recreate, the moment without any pod is no failure."""
    strategy = {"type": "Recreate"}
    scene.serve(web(strategy=strategy))
    result = scene.apply(web(2, strategy=strategy, behaviour="ready=1"))
    assert_verified(result)
    live = assert_runs(scene.objects, "shop/web:2", revision=2)
    versions = scene.history.versions(scene.objects.namespace, "web", version_of(live))
    assert any(not each["status"].get("replicas") for each in versions[1:])


@pytest.mark.contract("B50")
@pytest.mark.parametrize(
    ("first", "again"),
    [(web(), web()), (web(), web(annotations={"team": "shop"})), (stateful_set(), stateful_set())],
    ids=["same", "annotations", "statefulset"],
)
def test_nothing_to_roll_out_is_no_change(scene: Scene, first: JSON, again: JSON) -> None:
    """The same manifest again, or with other annotations of the workload, makes no revision."""
    before = scene.serve(first)
    ended = assert_verified(scene.apply(again), "NoChange")
    annotations = again["metadata"].get("annotations") or {}
    assert ended["changed"] is bool(annotations)
    live = scene.wait_done(f"{first['kind'].lower()}s", first["metadata"]["name"])
    assert live["spec"]["template"] == before["spec"]["template"]
    assert annotations.items() <= live["metadata"].get("annotations", {}).items()


@pytest.mark.fault(24)
@pytest.mark.contract("B45", "B100")
def test_an_old_deadline_condition_is_no_failure(scene: Scene) -> None:
    """The condition of a version that failed long ago says nothing about the next one."""
    scene.serve(web())
    scene.change(web(2, progress_deadline_seconds=1, behaviour="never-ready"))
    scene.objects.wait_for("deployments", "web", _is_past_its_deadline)
    good = web(3, progress_deadline_seconds=20, behaviour="ready=1.5")
    result = scene.apply(good, flags=["--take-over", "tests"])
    ended = assert_verified(result)
    assert ended["baseline"] is None
    assert_runs(scene.objects, "shop/web:3")


def _is_past_its_deadline(live: JSON) -> bool:
    conditions = live.get("status", {}).get("conditions", [])
    return any(each.get("reason") == "ProgressDeadlineExceeded" for each in conditions)


@pytest.mark.contract("B1354")
def test_a_pod_that_was_going_before_is_not_waited_for(scene: Scene) -> None:
    """Its finalizer keeps it; one that the run itself deletes is waited for, and named."""

    def hold(held: bool) -> None:
        """Let finalizers keep the pods that run, or none of them any more."""
        patch = {"metadata": {"finalizers": ["example.com/hold"] if held else None}}
        for pod in scene.objects.list_all("pods"):
            if not (held and is_going(pod)):
                scene.objects.patch("pods", pod["metadata"]["name"], patch)

    scene.serve(web())
    hold(True)
    assert_verified(scene.apply(web(2)))
    assert any(map(is_going, scene.objects.list_all("pods")))
    assert_verified(scene.apply(web(3), flags=["--wait-for-termination"]))
    hold(True)
    flags = ["--wait-for-termination", "--timeout", "8s", "--rollback-timeout", "6s"]
    result = scene.apply(web(4), flags=flags)
    ended = assert_ended(result, 5, "rollback-failed", "Timeout", cause="BlockedByFinalizer")
    assert "until its finalizer example.com/hold is removed" in ended["causes"][0]["message"]
    hold(False)


@pytest.mark.contract("B1586", "B56")
def test_a_part_of_the_pods_is_said_to_be_enough(scene: Scene) -> None:
    """Two of four are ready for good: the reason says why that is complete."""
    body = web(replicas=4, behaviour="never-ready;only=2")
    result = scene.apply(body, flags=["--require", "50%"])
    assert_verified(result)
    said = "2 of 4 new pods available, enough for --require"
    assert result.document["message"] == said, str(result)


@pytest.mark.contract("B280")
def test_a_good_rollout_is_cheap(scene: Scene, audit: Trail) -> None:
    """A good rollout takes at most 25 requests, and as many for twelve pods as for two."""
    counts = []
    for replicas in (2, 12):
        scene.serve(web(replicas=replicas))
        before = len(audit.requests())
        assert_verified(scene.apply(web(2, replicas=replicas)))
        counts.append(len(audit.requests()) - before)
    assert counts[0] == counts[1] <= MOST_REQUESTS, _told(audit.requests())


def _told(requests: Requests) -> str:
    """Return the requests for people who look for one too many."""
    return "\n".join(f"{each.verb} {each.uri}" for each in requests)
