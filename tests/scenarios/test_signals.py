"""Signals: what a cancelled job leaves behind."""

from __future__ import annotations

import json
import re
import shlex
import signal
from functools import partial

import pytest

from tests.bed.expectations import assert_refused, assert_runs, assert_verified, images
from tests.bed.interrupting import CRASHED, ENDING, UNDER_WAY, interrupted
from tests.bed.scene import Scene, crashing, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.versions import CRASH, DOCUMENT, one_line, report

TERM = (signal.SIGTERM, 143)
SLOW = web(2, behaviour="ready=30")


@pytest.mark.fault(17)
@pytest.mark.contract("B29", "B151", "B153")
@pytest.mark.parametrize(
    ("policy", "body", "line", "ends", "image"),
    [
        *(("", SLOW, UNDER_WAY, ends, "shop/web:2") for ends in ENDING),
        ("rollback", SLOW, UNDER_WAY, TERM, "shop/web:1"),
        ("keep", crashing(), CRASHED, TERM, "shop/web:2"),
    ],
)
def test_without_evidence_the_rollout_is_left_alone_unless_a_policy_says_otherwise(
    scene: Scene, policy: str, body: JSON, line: str, ends: tuple[signal.Signals, int], image: str
) -> None:
    """The end comes in 5 s; --on-interrupt rollback goes back in any case, keep in none."""
    scene.serve(web())
    flags = ["--on-interrupt", policy] if policy else []
    with scene.applying(body, flags=flags) as running:
        result = interrupted(running, line, *ends)
    assert bool(result.document["rollback"]) is (policy == "rollback")
    assert images(scene.objects.get("deployments", "web")) == [image]


@pytest.mark.fault(17)
@pytest.mark.contract("B29", "B151", "B153")
def test_with_evidence_the_rollback_is_written(scene: Scene, audit: Trail) -> None:
    """A signal after a crash writes the way back, once, and waits for nothing."""
    scene.serve(web())
    with scene.applying(crashing()) as running:
        result = interrupted(running, CRASHED)
    assert result.document["rollback"]["verified"] is False
    assert len(audit.requests().rollbacks(scene.objects.namespace, "web")) == 1
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
    scene.objects.wait_complete("web")


@pytest.mark.contract("B1373")
@pytest.mark.parametrize("beside", [(), ("api",)])
def test_a_crash_is_not_forgotten_while_its_container_runs_again(
    scene: Scene, beside: tuple[str, ...]
) -> None:
    """It is what the signal goes back for, and `recover` says so as well: no probe is blamed.

    Nor is that of a slow one, which was written first.
    """
    assert_verified(scene.apply(*(web(name=name) for name in beside), web()))
    slow = [web(2, name=name, behaviour="ready=60") for name in beside]
    with scene.applying(*slow, web(2, behaviour="crash=0.5")) as running:
        running.wait_for_line("1 restart")
        scene.objects.wait("pods", lambda pods: any(map(_runs_again, pods)))
        running.send(signal.SIGTERM)
        stopped = running.wait()
    recovered = scene.gate("recover", "web", "--output", "json")
    assert (stopped.exit_code, recovered.exit_code) == (143, 4), f"{stopped}\n{recovered}"
    for result in (stopped, recovered):
        found = [one["causes"] for one in result.document["workloads"]]
        assert any(causes[:1] and causes[0]["reason"] == "CrashLoop" for causes in found), found
        assert "readiness probe" not in report(scene, result)


@pytest.mark.contract("B1665")
@pytest.mark.sandbox_only("what a lock remembers is the gate's own, whatever cluster keeps it")
def test_history_says_what_was_found_before_a_signal(scene: Scene) -> None:
    """It is no verdict, and no less seen; a `recover` keeps it."""
    assert_verified(scene.apply(web()))
    with scene.applying(web(2, behaviour=CRASH)) as running:
        interrupted(running, CRASHED)
    told = [scene.gate("history", "web", *DOCUMENT)]
    assert scene.gate("recover", "web").exit_code == 4
    told.append(scene.gate("history", "web", *DOCUMENT))
    for result in told:
        (one,) = (one for one in json.loads(result.stdout) if one["images"] == ["shop/web:2"])
        assert (one["verdict"], one["reason"]) == ("interrupted", "Interrupted"), str(result)
        assert one["message"].startswith("CrashLoop: web: Error, exit code 1"), str(result)
    assert re.search(r"interrupted \d+s ago: CrashLoop", scene.gate("history", "web").stdout)


def _runs_again(pod: JSON) -> bool:
    statuses = pod["status"].get("containerStatuses") or ()
    return any(one["restartCount"] and "running" in one["state"] for one in statuses)


@pytest.mark.fault(17)
@pytest.mark.contract("B752")
def test_the_advice_after_an_interrupt_without_a_lock_works_as_printed(scene: Scene) -> None:
    """There is no record for `recover`: the old version returns by the command that is named."""
    scene.serve(web())
    with scene.applying(SLOW, flags=["--no-lock"]) as running:
        result = interrupted(running, UNDER_WAY)
    assert result.document["recoverable"] is False
    lines = report(scene, result).splitlines()
    assert not any("recover" in line for line in lines)
    (undo,) = [line.strip() for line in lines if line.strip().startswith("rollout-gate undo")]
    undone = scene.gate(*shlex.split(undo)[1:])
    assert undone.exit_code == 0, str(undone)
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1394")
def test_a_way_back_that_a_signal_cut_off_is_finished_before_anything_is_judged(
    scene: Scene,
) -> None:
    """A canary that failed its check is complete by its old partition, but two pods too large."""
    scene.serve(stateful_set(replicas=4))
    canary = partial(stateful_set, replicas=4, image="shop/db:2")
    assert scene.apply(canary(partition=3)).exit_code == 0
    fails = ("--bake", "4s", "--smoke-test", "false")
    with scene.applying(canary(partition=1), flags=fails) as running:
        result = interrupted(running, "restored +statefulset/db")
    _, _, advice = report(scene, result).partition("next ")
    assert "finish the rollback, and follow it to its end" in advice
    assert "verify" not in advice
    refused = scene.gate("verify", "sts/db")
    assert_refused(refused, "Locked", "was on its way back (CheckFailed) and is unfinished")
    assert "rollout-gate recover statefulset/db" in refused.stderr
    assert scene.gate("recover", "sts/db", "--output", "json").exit_code == 4
    assert scene.gate("verify", "sts/db").exit_code == 0


@pytest.mark.contract("B1966")
@pytest.mark.parametrize(
    ("flags", "unseen"),
    [((), "bake were"), (("--smoke-test", "true"), "bake and checks were")],
)
@pytest.mark.parametrize("beside", [(), ("api",)])
def test_a_signal_in_the_bake_window_leaves_nothing_that_goes_on(
    scene: Scene, flags: tuple[str, ...], unseen: str, beside: tuple[str, ...]
) -> None:
    """The rollout was complete: the seconds that nobody watched are said."""
    names = ("web", *beside)
    scene.serve(*(web(name=name) for name in names))
    bodies = [web(2, name=name) for name in names]
    with scene.applying(*bodies, flags=["--bake", "10m", *flags]) as running:
        result = interrupted(running, "baking")
    assert all(one["complete_after_signal"] for one in result.document["workloads"])
    shown = one_line(report(scene, result))
    assert re.search(rf"the rollout was complete; the last \d+ s of {unseen} not watched", shown)
    assert "goes on by itself" not in shown
    assert "it is complete; to judge it again, add the --bake and check flags" in shown


@pytest.mark.contract("B1966")
def test_after_a_signal_what_is_under_way_is_followed(scene: Scene) -> None:
    """One of two is complete: it is the other one that goes on."""
    scene.serve(web(), web(name="worker"))
    slow = web(2, name="worker", behaviour="ready=8")
    with scene.applying(web(2), slow) as running:
        result = interrupted(running, "deployment/worker: 1 of 2 new pods available")
    ends = {one["name"]: one["complete_after_signal"] for one in result.document["workloads"]}
    assert ends == {"web": True, "worker": False}
    advice = report(scene, result).partition("which goes on by itself:")[2]
    assert "rollout-gate verify worker" in advice.splitlines()[1]
