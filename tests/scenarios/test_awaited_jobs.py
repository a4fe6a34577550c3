"""An apply waits for the Jobs of earlier attempts, and for pods of Jobs that are gone."""

from __future__ import annotations

import re
import signal

import pytest

from tests.bed.expectations import assert_refused, assert_verified
from tests.bed.jobs import PHASE, job, mode
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import die_at
from tests.scenarios.versions import one_line

DOCUMENT = ("--output", "json")
LEFT = "job/first of the earlier attempt has not ended"


def die_beside(scene: Scene, behaviour: str) -> None:
    """Kill an apply while its Job runs; the Deployment behind it was never written."""
    scene.serve(settings("one"), web())
    line = "job/first: 0 of 1 completions, 1 pod running"
    die_at(scene, line, settings("two"), job("first", behaviour=behaviour), web(2))


@pytest.mark.contract("B1395")
@pytest.mark.parametrize("behaviour", ["complete=15", "crash=15"])
def test_the_next_apply_waits_for_the_job_of_a_dead_gate(scene: Scene, behaviour: str) -> None:
    """However it ends, two migrations never run at the same time."""
    die_beside(scene, behaviour)
    result = scene.apply(settings("two"), job("second"), web(2))
    assert result.exit_code == 0, str(result)
    waits, _, _ = result.stderr.partition(" applied ")
    assert f"{LEFT}: nothing else is written before it has" in waits
    first, second = (scene.objects.get("jobs", name) for name in ("first", "second"))
    (ended,) = [
        one["lastTransitionTime"]
        for one in first["status"]["conditions"]
        if one["type"] in ("Complete", "Failed")
    ]
    assert second["metadata"]["creationTimestamp"] >= ended


@pytest.mark.contract("B1395", "B1517")
@pytest.mark.sandbox_only("what is said of it")
def test_an_apply_is_refused_while_the_job_of_a_dead_gate_does_not_end(
    scene: Scene, program: PlayedGate
) -> None:
    """Its own budget bounds the wait; tried again, it waits again, and then all is finished."""
    die_beside(scene, "complete=60")
    path = scene.manifest(settings("two"), job("second"), web(2))
    foreseen = one_line(program("preflight", "-f", path).stderr)
    assert "; it would wait for the end of job/first as well" in foreseen
    for _ in range(2):
        result = program("apply", "-f", path, "--timeout", "5s")
        assert_refused(result, "Locked", f"error: {LEFT}")
        assert "nothing was written" in result.stderr
        assert "rollout-gate verify job/first" in result.stderr
        assert "kubectl delete --cascade=foreground job/first" in result.stderr
        assert [one["metadata"]["name"] for one in scene.objects.list_all("jobs")] == ["first"]
    result = program("apply", "-f", path)
    assert result.exit_code == 0, str(result)
    assert f"{LEFT}: nothing else is written before it has" in result.stderr


@pytest.mark.contract("B1395")
def test_an_apply_that_is_cut_off_as_it_waits_leaves_the_wait_to_the_next(scene: Scene) -> None:
    """It began nothing of its own, and what it was to finish first is open still."""
    die_beside(scene, "complete=25")
    again = settings("two"), job("second"), web(2)
    with scene.applying(*again) as running:
        running.wait_for_line(LEFT)
        running.send(signal.SIGTERM)
        assert running.wait().exit_code == 128 + signal.SIGTERM
    assert [one["metadata"]["name"] for one in scene.objects.list_all("jobs")] == ["first"]
    result = scene.apply(*again)
    assert result.exit_code == 0, str(result)
    assert f"{LEFT}: nothing else is written before it has" in result.stderr


@pytest.mark.contract("B1482")
@pytest.mark.sandbox_only("a budget that only has to run out")
def test_an_apply_goes_on_once_what_it_awaits_was_suspended(scene: Scene) -> None:
    """Within its budget somebody may resume it; after that it is as one that was found so."""
    die_beside(scene, "ready")
    path = scene.manifest(settings("two"), job("second"), web(2))
    with scene.gate.start("apply", "-f", path, "--timeout", "20s") as running:
        running.wait_for_line(LEFT)
        scene.objects.patch("jobs", "first", {"spec": {"suspend": True}})
        result = running.wait()
    assert result.exit_code == 0, str(result)


@pytest.mark.contract("B1395")
def test_an_apply_waits_for_no_job_that_has_ended(scene: Scene) -> None:
    """It ended after its gate had died."""
    die_beside(scene, "complete=15")
    scene.objects.wait_for("jobs", "first", lambda one: "completionTime" in one["status"])
    result = scene.apply(settings("two"), job("second"), web(2))
    assert result.exit_code == 0, str(result)
    assert LEFT not in result.stderr


@pytest.mark.contract("B1349", "B1482")
@pytest.mark.sandbox_only("what is said of it")
def test_a_restart_names_the_job_of_a_dead_gate_that_goes_on(
    scene: Scene, program: PlayedGate
) -> None:
    """Before its own first write, and in its report; the next apply starts no other beside it."""
    die_beside(scene, "complete=15")
    result = program("restart", "web")
    assert result.exit_code == 0, str(result)
    before, _, _ = result.stderr.partition(" applied ")
    for said in (before, one_line(result.stdout)):
        assert f"{LEFT}: this run does not wait for it; to follow it:" in said
        assert "rollout-gate verify job/first" in said
    again = program("apply", "-f", scene.manifest(settings("two"), job("second"), web(2)))
    assert again.exit_code == 0, str(again)
    assert f"{LEFT}: nothing else is written before it has" in again.stderr


@pytest.mark.contract("B1482")
def test_an_apply_waits_for_a_job_whose_attempt_is_finished(scene: Scene) -> None:
    """The Job itself says of which apply it is; a dry run names the wait, and writes nothing."""
    die_beside(scene, "complete=25")
    assert scene.gate("recover", "web", *DOCUMENT).exit_code == 4
    again = settings("two"), job("second"), web(2)
    foreseen = scene.gate("apply", "-f", scene.manifest(*again), "--dry-run")
    assert f"{LEFT}: an apply would first wait for its end" in foreseen.stderr
    result = scene.apply(*again)
    assert result.exit_code == 0, str(result)
    assert f"{LEFT}: nothing else is written before it has" in result.stderr
    first, second = (scene.objects.get("jobs", name) for name in ("first", "second"))
    assert second["metadata"]["creationTimestamp"] >= first["status"]["completionTime"]


def leave_a_pod(scene: Scene, behaviour: str) -> str:
    """Delete the Job of a dead gate, whose attempt is finished, without its pod; return that."""
    die_beside(scene, behaviour)
    assert scene.gate("recover", "web", *DOCUMENT).exit_code == 4
    scene.objects.delete("jobs", "first", "Orphan")
    (pod,) = [one for one in scene.objects.list_all("pods") if "first-" in one["metadata"]["name"]]
    return str(pod["metadata"]["name"])


@pytest.mark.contract("B1590")
@pytest.mark.parametrize("behaviour", ["complete=40", "crash=40"])
def test_an_apply_waits_for_the_pod_of_a_job_that_was_deleted(scene: Scene, behaviour: str) -> None:
    """Deleted as an orphan, as kubectl can, it runs on, however it ends."""
    pod = leave_a_pod(scene, behaviour)
    left = f"pod/{pod} of the earlier attempt has not ended, though its Job was deleted"
    again = settings("two"), job("second"), web(2)
    foreseen = scene.gate("apply", "-f", scene.manifest(*again), "--dry-run")
    assert left in foreseen.stderr
    result = scene.apply(*again)
    assert result.exit_code == 0, str(result)
    waits, _, _ = result.stderr.partition(" applied ")
    assert f"{left} or suspended: nothing else is written before it has" in waits
    (ended,) = scene.objects.get("pods", pod)["status"]["containerStatuses"]
    second = scene.objects.get("jobs", "second")
    assert second["metadata"]["creationTimestamp"] >= ended["state"]["terminated"]["finishedAt"]


@pytest.mark.contract("B1620")
@pytest.mark.parametrize("has_job", [True, False])
def test_a_record_is_finished_after_the_pods_of_its_deleted_job(
    scene: Scene, *, has_job: bool
) -> None:
    """Its configuration stays as they found it, whether or not the next apply has a Job."""
    die_beside(scene, "complete=40")
    scene.objects.delete("jobs", "first", "Orphan")
    again = scene.manifest(settings("three"), *([job("second")] if has_job else []), web(2))
    foreseen = one_line(scene.gate("apply", "-f", again, "--dry-run").stderr)
    assert re.search(r"; it would wait for the end of pod/first-\w+ as well", foreseen), foreseen
    refused = scene.gate("apply", "-f", again, "--timeout", "5s")
    assert refused.exit_code == 3, str(refused)
    assert "of the earlier attempt has not ended, though its Job was deleted" in refused.stderr
    assert mode(scene) == "two"
    result = scene.gate("apply", "-f", again)
    assert result.exit_code == 0, str(result)
    waits, _, _ = result.stderr.partition("finishing what")
    assert "of the earlier attempt has not ended, though its Job was deleted" in waits
    assert mode(scene) == "three"


@pytest.mark.contract("B1620")
def test_an_apply_without_jobs_waits_for_the_pod_of_a_deleted_smoke_test(scene: Scene) -> None:
    """It is finished as the record says, and nothing else is written beside its pod."""
    scene.serve(settings("one"), web())
    smoke = job("first", behaviour="complete=40", annotations={PHASE: "after"})
    line = "job/first: 0 of 1 completions, 1 pod running"
    die_at(scene, line, settings("two"), web(2), smoke)
    scene.objects.delete("jobs", "first", "Orphan")
    result = scene.apply(settings("three"), web(3))
    assert result.exit_code == 0, str(result)
    _, _, after = result.stderr.partition("finishing what")
    assert "of the earlier attempt has not ended, though its Job was deleted" in after


@pytest.mark.contract("B1590")
def test_an_apply_waits_for_a_job_whose_deletion_is_held_up(scene: Scene) -> None:
    """Until its pod has ended, and not for the Job, which a finalizer may keep for ever."""
    die_beside(scene, "complete=40")
    assert scene.gate("recover", "web", *DOCUMENT).exit_code == 4
    scene.objects.patch("jobs", "first", {"metadata": {"finalizers": ["example.com/hold"]}})
    scene.objects.delete("jobs", "first")
    result = scene.apply(settings("two"), job("second"), web(2))
    assert result.exit_code == 0, str(result)
    assert "of the earlier attempt has not ended" in result.stderr
    second = scene.objects.get("jobs", "second")["metadata"]["creationTimestamp"]
    (pod,) = [
        one
        for one in scene.objects.list_all("pods")
        if one["metadata"]["name"].startswith("first-")
    ]
    (ended,) = pod["status"]["containerStatuses"]
    assert second >= ended["state"]["terminated"]["finishedAt"]
    scene.objects.patch("jobs", "first", {"metadata": {"finalizers": None}})


@pytest.mark.contract("B1590")
@pytest.mark.sandbox_only("what is said of it")
def test_an_apply_is_refused_while_the_pod_of_a_deleted_job_does_not_end(
    scene: Scene, program: PlayedGate
) -> None:
    """Its budget bounds this wait as well, in which that is said again every 30 s."""
    pod = leave_a_pod(scene, "complete=600")
    path = scene.manifest(settings("two"), job("second"), web(2))
    result = program("apply", "-f", path, "--timeout", "45s")
    assert_refused(result, "Locked", f"error: pod/{pod} of the earlier attempt has not ended")
    assert result.stderr.count("nothing else is written before it has") == 2
    assert f"kubectl get pod/{pod} --watch" in result.stderr
    assert f"kubectl delete pod/{pod}" in result.stderr
    assert not scene.objects.list_all("jobs")


def is_being_ended(pod: JSON) -> bool:
    """Tell whether it is a pod of the first Job that is being deleted."""
    metadata = pod["metadata"]
    return metadata["name"].startswith("first-") and "deletionTimestamp" in metadata


def end_slowly(scene: Scene, way: str) -> str:
    """Leave a pod of a dead gate's Job that takes its time to end; return its name."""
    slow = job("first", behaviour="ready,slow-termination=25")
    slow["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 30
    scene.serve(settings("one"), web())
    line = "job/first: 0 of 1 completions, 1 pod running"
    die_at(scene, line, settings("two"), slow, web(2))
    assert scene.gate("recover", "web", *DOCUMENT).exit_code == 4
    if way == "deleted":
        scene.objects.delete("jobs", "first")
    else:
        assert scene.gate("pause", "job/first").exit_code == 0
    pods = scene.objects.wait("pods", lambda pods: any(map(is_being_ended, pods)))
    (pod,) = filter(is_being_ended, pods)
    return str(pod["metadata"]["name"])


@pytest.mark.contract("B1590")
@pytest.mark.sandbox_only("how long a pod takes to end is not determined there")
@pytest.mark.parametrize("way", ["deleted", "suspended"])
def test_an_apply_waits_for_a_pod_that_is_being_ended(scene: Scene, way: str) -> None:
    """Until its containers have ended they may still write."""
    end_slowly(scene, way)
    result = scene.apply(settings("two"), job("second"), web(2))
    assert result.exit_code == 0, str(result)
    waits, _, _ = result.stderr.partition(" applied ")
    assert "of the earlier attempt has not ended, though its Job was deleted or suspended" in waits
    assert "job/first" not in waits


@pytest.mark.contract("B1622")
@pytest.mark.sandbox_only("what is said of it")
def test_nobody_is_told_to_delete_a_pod_that_is_being_deleted(
    scene: Scene, program: PlayedGate
) -> None:
    """What ends the wait is the end of its containers, which its node alone tells."""
    pod = end_slowly(scene, "deleted")
    path = scene.manifest(settings("two"), job("second"), web(2))
    result = program("apply", "-f", path, "--timeout", "5s")
    assert_refused(result, "Locked", f"error: pod/{pod} of the earlier attempt has not ended")
    found = scene.objects.get("pods", pod)
    said = one_line(result.stderr)
    until = found["metadata"]["deletionTimestamp"]
    assert f"it is being deleted already, and its containers have until {until} to end" in said
    assert f"kubectl describe node/{found['spec']['nodeName']}" in said
    assert "kubectl delete" not in said


@pytest.mark.contract("B1482")
def test_an_apply_waits_for_no_job_of_another_workload(scene: Scene) -> None:
    """Api, in the same namespace, was left with a Job that goes on."""
    assert_verified(scene.apply(settings("one"), web(name="api")))
    line = "job/first: 0 of 1 completions, 1 pod running"
    die_at(scene, line, settings("two"), job("first", behaviour="complete=25"), web(2, name="api"))
    assert scene.gate("recover", "api", *DOCUMENT).exit_code == 4
    result = scene.apply(job("second"), web())
    assert result.exit_code == 0, str(result)
    assert "job/first" not in result.stderr
    assert "completionTime" not in scene.objects.get("jobs", "first")["status"]


@pytest.mark.contract("B1483")
def test_an_undo_names_the_migrations_that_it_does_not_undo(scene: Scene) -> None:
    """Those since the version that it goes to; a smoke test changes nothing."""
    smoke = job("smoke", annotations={PHASE: "after"})
    for number in (1, 2):
        bodies = settings(str(number)), job(f"first-{number}"), web(number), smoke
        assert scene.apply(*bodies).exit_code == 0
    result = scene.gate("undo", "web", *DOCUMENT)
    assert_verified(result)
    (said,) = [one for one in result.document["warnings"] if "not undone" in one]
    assert said == "created since revision 1 (shop/web:1), and not undone: what job/first-2 did"
