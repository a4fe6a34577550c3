"""Somebody scales a workload after the write that fails: their number stays, and is said so."""

from __future__ import annotations

import pytest

from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, autoscaler, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.killing import recover
from tests.scenarios.versions import CRASH, KEEP

IMPOSED = ("--replicas", "apply")
LONG_SECONDS = 300.0
SCALED = "deployment/web keeps 7 replicas, not the 5 of before: tests has scaled it since"
BAD: dict[str, object] = {"behaviour": "never-ready", "progress_deadline_seconds": 15}
SANDBOX = pytest.mark.sandbox_only("minutes of waiting for the lock of the dead gate")
KEEPS_THE_LIVE = pytest.mark.parametrize(
    ("replicas", "flags"), [(3, ("--replicas", "keep")), (None, ())], ids=["kept", "not-named"]
)
DIES_ON_ITS_WAY = pytest.mark.parametrize("line", [UNDER_WAY, "restored +deployment/web"])


def scale(scene: Scene, replicas: int, name: str = "web") -> None:
    """Scale a workload through its subresource, under a name that shows."""
    plural = "deployments" if name == "web" else "statefulsets"
    scene.objects.patch(plural, name, {"spec": {"replicas": replicas}}, subresource="scale")


def serve(scene: Scene, before: int = 5, *, is_older: bool = False) -> None:
    """Let a verified version run, or one that failed stand over it, with somebody's number."""
    assert_verified(scene.apply(web(replicas=3)))
    if is_older:
        kept = scene.apply(web(2, behaviour=CRASH, replicas=3), flags=KEEP)
        assert_ended(kept, 6, "failed", "CrashLoop")
    scale(scene, before)


@pytest.mark.contract("B1821", "B75")
@pytest.mark.parametrize("is_older", [False, True])
def test_the_number_and_whose_it_is_are_said(scene: Scene, *, is_older: bool) -> None:
    """Neither the 5 of before nor the 3 of the attempt are wanted any more."""
    serve(scene, is_older=is_older)
    with scene.applying(web(3, replicas=3, **BAD), flags=IMPOSED) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert warned(result, SCALED)
    assert not warned(result, "the rollback left"), "it is said twice"
    assert_runs(scene.objects, "shop/web:1", replicas=7)
    assert_refused(scene.apply(web(4, replicas=3)), "Conflict", "has 7 replicas")


@pytest.mark.contract("B1821", "B530")
@SANDBOX
@pytest.mark.parametrize("is_older", [False, True])
@DIES_ON_ITS_WAY
def test_a_recovery_says_it_too(scene: Scene, line: str, *, is_older: bool) -> None:
    """Whether it was scaled before the dead gate had returned it, or after."""
    serve(scene, is_older=is_older)
    with scene.applying(web(3, replicas=3, **BAD), flags=IMPOSED) as running:
        running.wait_for_line(line, LONG_SECONDS)
        scale(scene, 7)
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert warned(result, SCALED)
    assert_runs(scene.objects, "shop/web:1", replicas=7)
    assert_refused(scene.apply(web(4, replicas=3)), "Conflict", "has 7 replicas")


@pytest.mark.contract("B1821", "B530")
@SANDBOX
@DIES_ON_ITS_WAY
def test_it_is_said_once_where_the_number_was_the_gates(scene: Scene, line: str) -> None:
    """The last look at what the dead gate had returned says it, too."""
    serve(scene, before=3)
    with scene.applying(web(3, replicas=4, **BAD)) as running:
        running.wait_for_line(line, LONG_SECONDS)
        scale(scene, 7)
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    looked = "deployment/web is not as this run restored it: tests changed spec.replicas"
    numbers = "deployment/web keeps 7 replicas, not the 3 of before: tests has scaled it since"
    assert result.document["warnings"] == [numbers if line == UNDER_WAY else looked]


@pytest.mark.contract("B1821")
@pytest.mark.parametrize("is_older", [False, True])
def test_the_attempts_own_number_is_somebodys_once_they_have_set_it(
    scene: Scene, *, is_older: bool
) -> None:
    """They went to 7 and back to the 3 that the gate had taken the field for by force."""
    serve(scene, is_older=is_older)
    with scene.applying(web(3, replicas=3, **BAD), flags=IMPOSED) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        scale(scene, 3)
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert warned(result, "keeps 3 replicas, not the 5 of before: tests has scaled it since")
    assert not warned(result, "taken from tests")
    assert_runs(scene.objects, "shop/web:1", replicas=3)


@pytest.mark.contract("B1821", "B72")
def test_one_replica_is_called_so(scene: Scene) -> None:
    """By the refusal, by what keeps it, and of what went back."""
    assert_verified(scene.apply(web(replicas=3)))
    scale(scene, 1)
    again = scene.apply(web(3, replicas=3, **BAD))
    assert_refused(again, "Conflict", "web has 1 replica, the manifest asks for 3")
    kept = web(3, replicas=3, **BAD)
    with scene.applying(kept, flags=("--replicas", "keep")) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 2)
        scale(scene, 1)
        result = running.wait(LONG_SECONDS)
    assert warned(result, "deployment/web keeps its 1 replica, not the manifest's 3")
    with scene.applying(web(4, replicas=2, **BAD), flags=IMPOSED) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 4)
        result = running.wait(LONG_SECONDS)
    assert warned(result, "web keeps 4 replicas, not the 1 of before: tests has scaled it since")
    with scene.applying(web(5, replicas=1, **BAD), flags=IMPOSED) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 2)
        scale(scene, 1)
        result = running.wait(LONG_SECONDS)
    assert warned(result, "web goes from 4 to 1 replica: --replicas apply")
    assert warned(result, "web keeps 1 replica, not the 4 of before: tests has scaled it since")


@pytest.mark.contract("B1821", "B71", "B72")
@KEEPS_THE_LIVE
def test_it_is_said_where_the_attempt_keeps_the_live_number(
    scene: Scene, replicas: int | None, flags: tuple[str, ...]
) -> None:
    """Nobody but people decides on it: they meant the version that failed, or the one of before."""
    serve(scene)
    with scene.applying(web(3, replicas=replicas, **BAD), flags=flags) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert warned(result, SCALED)
    assert_runs(scene.objects, "shop/web:1", replicas=7)


@pytest.mark.contract("B1821", "B530")
@SANDBOX
@KEEPS_THE_LIVE
@DIES_ON_ITS_WAY
def test_a_recovery_says_it_of_a_kept_number(
    scene: Scene, line: str, replicas: int | None, flags: tuple[str, ...]
) -> None:
    """The record tells what people decide on from what an autoscaler does."""
    serve(scene)
    with scene.applying(web(3, replicas=replicas, **BAD), flags=flags) as running:
        running.wait_for_line(line, LONG_SECONDS)
        scale(scene, 7)
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert warned(result, SCALED)
    assert_runs(scene.objects, "shop/web:1", replicas=7)


@pytest.mark.contract("B1821")
def test_it_is_said_of_an_undo_that_fails(scene: Scene) -> None:
    """It has no manifest: the live number is nobody's but whoever scales it."""
    assert_verified(scene.apply(web(replicas=3)))
    assert scene.apply(web(2, replicas=3, **BAD)).exit_code == 4
    scale(scene, 5)
    undo = ("undo", "web", "--to-revision", "2", "--output", "json")
    with scene.gate.start(*undo) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert warned(result, SCALED)
    assert_runs(scene.objects, "shop/web:1", replicas=7)


@pytest.mark.contract("B1821", "B71")
@pytest.mark.parametrize("replicas", [3, None])
@pytest.mark.parametrize("is_older", [False, True])
def test_nothing_is_said_where_an_autoscaler_decides(
    scene: Scene, replicas: int | None, *, is_older: bool
) -> None:
    """It may have any number at any time, whatever its field manager is called."""
    assert_verified(scene.apply(web(replicas=3), autoscaler()))
    if is_older:
        kept = scene.apply(web(2, behaviour=CRASH, replicas=3), flags=KEEP)
        assert_ended(kept, 6, "failed", "CrashLoop")
    with scene.applying(web(3, replicas=replicas, **BAD)) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert not warned(result, "has scaled it since"), result.document["warnings"]
    assert not warned(result, "the rollback left"), result.document["warnings"]
    assert_runs(scene.objects, "shop/web:1", replicas=7)


def begin_undo_under_an_autoscaler(scene: Scene) -> CheckedRun:
    """Begin to return to a version that fails, where an autoscaler decides on the replicas."""
    assert_verified(scene.apply(web(replicas=3), autoscaler()))
    assert scene.apply(web(2, replicas=3, **BAD), autoscaler()).exit_code == 4
    return scene.gate.start("undo", "web", "--to-revision", "2", "--output", "json")


@pytest.mark.contract("B1861", "B1821")
def test_nor_of_an_undo_that_fails_under_one(scene: Scene) -> None:
    """It asks for autoscalers as an apply does."""
    with begin_undo_under_an_autoscaler(scene) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert not warned(result, "has scaled it since"), result.document["warnings"]
    assert_runs(scene.objects, "shop/web:1", replicas=7)


@pytest.mark.contract("B1861", "B530")
@SANDBOX
def test_nor_by_a_recovery_of_such_an_undo(scene: Scene) -> None:
    """The record says whose the number is."""
    with begin_undo_under_an_autoscaler(scene) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert not warned(result, "has scaled it since"), result.document["warnings"]
    assert_runs(scene.objects, "shop/web:1", replicas=7)


@pytest.mark.contract("B1821", "B71", "B530")
@SANDBOX
def test_nor_by_a_recovery(scene: Scene) -> None:
    """The record says that an autoscaler decides."""
    assert_verified(scene.apply(web(replicas=3), autoscaler()))
    with scene.applying(web(3, replicas=None, **BAD)) as running:
        running.wait_for_line(UNDER_WAY)
        scale(scene, 7)
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert not warned(result, "has scaled it since"), result.document["warnings"]
    assert_runs(scene.objects, "shop/web:1", replicas=7)


@pytest.mark.contract("B1821", "B530")
@SANDBOX
@pytest.mark.parametrize("is_older", [False, True])
def test_a_recovery_that_may_force_leaves_it_theirs(scene: Scene, *, is_older: bool) -> None:
    """It forces what others had as the dead gate wrote, and not what they have set since."""
    serve(scene, before=3, is_older=is_older)
    flags = (*IMPOSED, "--force-conflicts")
    with scene.applying(web(3, replicas=4, **BAD), flags=flags) as running:
        running.wait_for_line(UNDER_WAY)
        scene.change_as("kubectl-edit", {"spec": {"replicas": 7}})
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert warned(result, "keeps 7 replicas, not the 3 of before: kubectl-edit has scaled it since")
    assert_runs(scene.objects, "shop/web:1", replicas=7)
    assert_refused(scene.apply(web(4, replicas=4)), "Conflict", "has 7 replicas")


@pytest.mark.contract("B1821", "B1581")
@SANDBOX
@pytest.mark.parametrize("is_older", [False, True])
@DIES_ON_ITS_WAY
def test_a_recovery_calls_a_0_of_somebodys_so(scene: Scene, line: str, *, is_older: bool) -> None:
    """Whether the dead gate had returned it by then or not: 5 were there before."""
    serve(scene, is_older=is_older)
    with scene.applying(web(3, replicas=3, **BAD), flags=IMPOSED) as running:
        running.wait_for_line(line, LONG_SECONDS)
        scene.change_as("kubectl-edit", {"spec": {"replicas": 0}})
        running.kill()
    result = recover(scene, "web")
    ended = assert_ended(result, 8, "superseded", "ScaledToZero", running="none")
    assert ended["scaled_from"] in (3, 5), ended
    assert not warned(result, "has scaled it since"), "the ending says so"
    assert_runs(scene.objects, "shop/web:1", replicas=0)
    assert_refused(scene.apply(web(4, replicas=3)), "Conflict", "has 0 replicas")


@pytest.mark.contract("B1821")
@pytest.mark.parametrize("is_older", [False, True])
def test_a_stateful_sets_number_stays_too(scene: Scene, *, is_older: bool) -> None:
    """Also with its older version."""
    assert_verified(scene.apply(stateful_set()))
    if is_older:
        kept = scene.apply(stateful_set(image="shop/db:2", behaviour=CRASH), flags=KEEP)
        assert_ended(kept, 6, "failed", "CrashLoop")
    scale(scene, 5, "db")
    flags = (*IMPOSED, "--progress-deadline", "15s")
    bad = stateful_set(image="shop/db:3", behaviour="never-ready")
    with scene.applying(bad, flags=flags) as running:
        running.wait_for_line("applied +statefulset/db changed")
        scale(scene, 4, "db")
        result = running.wait(LONG_SECONDS)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert warned(result, "statefulset/db keeps 4 replicas, not the 5 of before: tests has scaled")
    live: JSON = scene.objects.get("statefulsets", "db")
    assert (images(live), live["spec"]["replicas"]) == (["shop/db:1"], 4)
