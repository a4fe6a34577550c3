"""A command that first finishes what an earlier attempt has left."""

from __future__ import annotations

import re
import signal

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import CRASHED, interrupted
from tests.bed.leases import held_locks
from tests.bed.scene import Scene, crashing, web
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, kill_apply, recover, signal_at
from tests.scenarios.test_recovering import three
from tests.scenarios.versions import one_line, report

pytestmark = pytest.mark.sandbox_only("minutes of waiting")


@pytest.mark.contract("B540")
def test_the_next_apply_finishes_first(scene: Scene, program: PlayedGate) -> None:
    """What was left goes back, and the next version is applied over what served before."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    result = scene.apply(web(3))
    assert_verified(result)
    assert "recovered   deployment/web: rolled-back" in result.stderr
    assert result.document["deployments"][0]["baseline"]["images"] == ["shop/web:1"]
    assert_runs(scene.objects, "shop/web:3", revision=4)


@pytest.mark.contract("B910")
def test_a_run_says_that_it_first_finished_another(scene: Scene, program: PlayedGate) -> None:
    """Nothing was to be changed then; the Deployment was written all the same."""
    assert_verified(scene.apply(web()))
    kill_apply(scene, program, web(2, behaviour=SLOW))
    result = scene.apply(web())
    assert_verified(result, "NoChange")
    assert warned(
        result,
        "this run first finished what an earlier attempt had left of deployment/web: rolled-back",
    )
    shown = one_line(report(scene, result))
    said = "this run finished what an attempt had left; then deployment/web had nothing to change"
    assert said in shown, shown


@pytest.mark.contract("B546")
@pytest.mark.parametrize("output", ["text", longer("json")])
def test_a_refusal_after_a_recovery_tells_of_it(
    scene: Scene, program: PlayedGate, output: str
) -> None:
    """The rollback was written, and of the version that is refused nothing."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    invalid = web(3) | {"spec": web(3)["spec"] | {"replicas": -1}}
    result = program("apply", "-f", scene.manifest(invalid), "--output", output)
    assert result.exit_code == 3, str(result)
    said = "nothing was written, except to finish an earlier attempt"
    assert f"refused (exit 3, Rejected): {said}" in result.stderr
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B544", "B546", "B1021")
def test_a_signal_in_a_recovery_before_an_apply_ends_the_apply(
    scene: Scene, program: PlayedGate
) -> None:
    """The result is that of the attempt which was being finished, and tells of what it wrote."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    result = signal_at(
        program, "finishing what", "apply", "-f", scene.manifest(web(3)), "--output", "json"
    )
    assert "before anything" not in result.document["message"], result.document["message"]
    left = (
        "that is of an earlier attempt, which this run was to finish first; it began nothing else"
    )
    assert result.document["message"].endswith(f"; {left}")
    assert result.document["deployments"]
    assert images(scene.objects.get("deployments", "web")) != ["shop/web:3"]


@pytest.mark.contract("B1394")
def test_a_way_back_that_another_run_wrote_is_advised_as_one(
    scene: Scene, program: PlayedGate
) -> None:
    """Two signals: one in the way back, one in the apply that is to finish it."""
    scene.serve(web())
    left = "apply", "-f", scene.manifest(crashing())
    assert signal_at(program, CRASHED, *left).exit_code == 143
    again = "apply", "-f", scene.manifest(web(3)), "--output", "json"
    result = signal_at(program, "finishing what", *again)
    _, _, advice = report(scene, result).partition("next ")
    assert "finish the rollback, and follow it to its end" in advice
    assert "verify" not in advice, advice


@pytest.mark.contract("B548", "B531")
@pytest.mark.parametrize("cut", ["kill", "signal"])
@pytest.mark.parametrize("then", ["recover", "apply"])
def test_a_recovery_that_was_cut_off_hides_no_record(
    scene: Scene, program: PlayedGate, cut: str, then: str
) -> None:
    """The record stands in db's lock; api's is the first of those that its finder takes."""
    scene.serve(*three())
    left = [web(2, name="db", behaviour=SLOW), web(2, behaviour=SLOW)]
    kill_apply(scene, program, *left)
    with program.start("apply", "-f", scene.manifest(web(3, name="api"), web(3))) as running:
        running.wait_for_line("finishing what")
        if cut == "kill":
            running.kill()
        else:
            running.send(signal.SIGTERM)
            assert running.wait().exit_code == 143
    if then == "recover":
        assert_ended(recover(scene, "web"), 4, "rolled-back", "Interrupted")
    else:
        result = program("apply", "-f", scene.manifest(web(4)))
        assert result.exit_code == 0, str(result)
        assert "recovered   deployment/db, deployment/web: rolled-back" in result.stderr
        assert_runs(scene.objects, "shop/web:4")
    assert images(scene.objects.get("deployments", "db")) == ["shop/db:1"]
    assert held_locks(scene) == []


STUCK = web(behaviour="never-ready", progress_deadline_seconds=60)
API = web(name="api", behaviour="never-ready", progress_deadline_seconds=20)
COMPLETE = web(name="api")
PAST_IT = r"rollout-gate recover \w+ -n shop --context sandbox --timeout 5"


@pytest.mark.contract("B1948", "B1949", "B1952")
@pytest.mark.parametrize(
    ("left", "flags", "is_closed"),
    [
        ((STUCK,), (), True),
        longer((STUCK, API), (), False),
        longer((STUCK, COMPLETE), (), False),
        ((STUCK,), ("--on-first-failure", "scale-to-zero"), False),
        longer((STUCK,), ("--on-failure", "pause"), False),
    ],
    ids=["alone", "another", "complete", "scaled", "pause"],
)
def test_a_first_version_that_was_left_incomplete_holds_up_no_fix(
    scene: Scene,
    program: PlayedGate,
    left: tuple[JSON, ...],
    flags: tuple[str, ...],
    *,
    is_closed: bool,
) -> None:
    """Its deadline is awaited only where its failure would change something, or is not ours."""
    kill_apply(scene, program, *left, line="progress", flags=flags)
    fix = scene.manifest(web(2, min_ready_seconds=2))
    foreseen = scene.gate("apply", "-f", fix, "--dry-run").stderr
    result = scene.gate("apply", "-f", fix, "--output", "json")
    assert_verified(result)
    assert (result.duration_seconds < 10) is is_closed, str(result)
    assert ("would first close it as interrupted: nothing of it can be" in foreseen) is is_closed
    assert bool(re.search(f"to let it fail after 5 s, {PAST_IT}", foreseen)) is not is_closed
    said = f"to let it fail after 5 s, end this run and then: {PAST_IT}"
    assert bool(re.search(said, result.stderr)) is not is_closed
    if is_closed:
        assert "left of deployment/web: interrupted before it was complete; " in result.stderr
        assert warned(result, "deployment/web: failed: Interrupted: the gate ended before")
        shown = scene.gate("history", "web").stdout
        assert re.search(r"verified 0s ago +shop/web:2 .*\n +1 .* interrupted ", shown)
        undo = scene.gate("undo", "web", "--dry-run").stderr
        assert "no other good version to return to" in undo
        assert "rolled back already" not in undo
    assert not held_locks(scene)


@pytest.mark.contract("B1950", "B1951")
def test_a_first_version_is_followed_by_recover_until_its_timeout(scene: Scene) -> None:
    """It goes nowhere back, and what leads to `recover` says so."""
    with scene.applying(STUCK) as running:
        result = interrupted(running, "progress")
    first = "(nothing served before to go back to: it is followed until it is complete or fails):"
    assert first in one_line(report(scene, result))
    way = "to finish it (if all was written, followed until it is complete or fails): rollout-gate"
    assert way in scene.gate("status", "web").stdout
    ended = recover(scene, "web", "--timeout", "5")
    assert ended.exit_code == 6, str(ended)
    assert ended.duration_seconds < 10


@pytest.mark.contract("B1948")
def test_a_restart_awaits_no_first_version_either(scene: Scene, program: PlayedGate) -> None:
    """It replaces the pods that never got ready; a `resume` goes on with them."""
    kill_apply(scene, program, STUCK, line="progress")
    with scene.gate.start("restart", "web") as running:
        running.wait_for_line("recover +closing what attempt .* left of deployment/web: inter")
        running.wait_for_line("applied +deployment/web changed", 5.0)
