"""What `recover` says of a Job that went after its end, wherever the gate was killed.

Each step plays the same run again: the gate is killed once its n-th write is answered. Only the
API server knows whether the Job was written; no sentence may say otherwise.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sandbox.face import Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.jobs import CRASH, PHASE, REPLACE, ended, job
from tests.bed.scene import settings
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedRun
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, is_dry_run, kills, nth, proxy_before_a_sandbox
from tests.scenarios.versions import one_line, screen
from tests.scenarios.walked import CRASHING, DEPLOYMENT, STATEFUL_SET, Walked

pytestmark = [pytest.mark.sandbox_only("dozens of runs"), pytest.mark.long]

LEAST_KILLS, MOST_WRITES = 2, 99
DONE = {"created", "changed", "gone"}


@dataclass(frozen=True, slots=True)
class Walk:
    """A Job beside a workload, how the workload's new pods behave, and the flags of the run.

    With `stop_at`, the line at which a signal ends the run, the gate is killed only after that.
    With `is_replaced` one that failed before is deleted so that it can run.
    """

    name: str
    behaviour: str
    flags: tuple[str, ...] = ()
    stop_at: str = ""
    runs: str = "complete=1"
    phase: str = "before"
    is_replaced: bool = False

    @property
    def job(self) -> JSON:
        """Return the Job, which goes once it has ended."""
        annotations = {PHASE: self.phase, REPLACE: "true"}
        return job(
            self.name, behaviour=self.runs, annotations=annotations, ttlSecondsAfterFinished=0
        )


BEFORE = Walk("first", CRASHING)
AFTER = Walk("smoke", "ready-then-crash=6", ("--bake", "20s"), phase="after")
WALKS = {
    "before": BEFORE,
    "after": AFTER,
    "replaced": replace(BEFORE, is_replaced=True),
    "replaced-after": replace(AFTER, is_replaced=True),
    "stopped": Walk(
        "first", CRASHING, ("--on-interrupt", "rollback"), "1 pod running", runs="complete=5"
    ),
}
KINDS = pytest.mark.parametrize(
    "kind", [DEPLOYMENT, STATEFUL_SET], ids=["Deployment", "StatefulSet"]
)


@KINDS
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
@pytest.mark.contract("B2005", "B2028", "B1346")
def test_no_kill_makes_recover_say_what_is_untrue_of_a_job(
    tmp_path: Path, walk: Walk, kind: Walked
) -> None:
    """Before it was written, while it ran, and at each write of the way back."""
    told = []
    for number in range(1, MOST_WRITES):
        with applying(tmp_path, walk, kind) as (proxy, running):
            if walk.stop_at:
                running.wait_for_line(walk.stop_at)
                running.send(signal.SIGTERM)
            if not is_killed_at(proxy, number, running):
                break
            told.append(assert_true(proxy, walk))
    assert len(told) > LEAST_KILLS
    assert told[-1]


@KINDS
@pytest.mark.parametrize("line", ["0 of 2 new pods available", "1 pod running"])
@pytest.mark.parametrize("walk", [BEFORE, WALKS["replaced"]], ids=["created", "replaced"])
@pytest.mark.contract("B2005", "B2028")
def test_no_kill_of_a_recovery_makes_the_next_one_say_it(
    tmp_path: Path, line: str, walk: Walk, kind: Walked
) -> None:
    """The Job had completed, or ran, as the gate was killed; then `recover` is, on the way back."""
    told = []
    for number in range(1, MOST_WRITES):
        with applying(tmp_path, walk, kind) as (proxy, running):
            running.wait_for_line(line)
            running.kill()
            proxy.scene.objects.wait("jobs", lambda found: not found)
            with proxy.program.start("recover") as recovering:
                if not is_killed_at(proxy, number, recovering):
                    break
            told.append(assert_true(proxy, walk))
    assert len(told) > LEAST_KILLS
    assert all(told)


@contextmanager
def applying(folder: Path, walk: Walk, kind: Walked) -> Iterator[tuple[Proxy, CheckedRun]]:
    """Apply one version over another, through a proxy that has met each write."""
    with proxy_before_a_sandbox(folder) as proxy:
        scene = proxy.scene
        scene.serve(settings("one"), kind.version(1, "ready=1"))
        if walk.is_replaced:
            assert ended(scene.apply(job(walk.name, behaviour=CRASH)))[2] == "JobFailed"
        proxy.on(is_write, lambda request, handle: handle(request))
        bodies = settings("two"), walk.job, kind.version(2, walk.behaviour)
        with scene.applying(*bodies, flags=walk.flags) as running:
            yield proxy, running
    for manifest in folder.iterdir():
        manifest.unlink()


def is_killed_at(proxy: Proxy, number: int, running: CheckedRun | PlayedRun) -> bool:
    """Kill a run once its write of that number is answered; tell whether it came to that."""
    proxy.on(nth(number, is_write), kills(running, after=True))
    return running.wait(300.0).exit_code == -signal.SIGKILL


def is_write(request: Request) -> bool:
    """Tell whether a request is to change something."""
    return request.method in ("PATCH", "POST", "PUT", "DELETE") and not is_dry_run(request)


def assert_true(proxy: Proxy, walk: Walk) -> bool:
    """Assert that `recover` says nothing untrue of the Job; return whether that was written."""
    proxy.rest()
    of_job = [one.method for one in proxy.met if one.path.endswith(f"/jobs/{walk.name}")]
    was_written = any(one != "DELETE" for one in of_job)
    if was_written:
        proxy.scene.objects.wait("jobs", lambda found: not found)
    is_there = bool(proxy.scene.objects.list_all("jobs"))
    result = recover(proxy.scene)
    actions = {one["action"] for one in result.document["objects"] if one["name"] == walk.name}
    said = one_line(f"{result.stderr} {screen(result)}")
    if was_written:
        untrue = [f"not written job/{walk.name}", f"job/{walk.name} was never written"]
        untrue += ["has not run", f"job/{walk.name} is left", f"job/{walk.name}, created by it"]
        untrue += ["no new one was created"]
        assert actions <= {*DONE, "in-doubt"}, said
        assert "gone" not in actions or f"what job/{walk.name} did stays" in said, said
    else:
        untrue = [f"what job/{walk.name} did", "ran shop/migrate", "it had completed"]
        untrue += ["it is not there"] if is_there else []
        assert not actions & DONE, said
    assert not [each for each in untrue if each in said], said
    return was_written
