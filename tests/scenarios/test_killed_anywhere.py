"""A gate that dies at any of its writes: what it leaves is sound, and the next run goes on from it.

Each walk plays the same run over and over, killed at its first write, then at its second, and so
on, the moment before the server hears of it or the moment after it was done. The sample
of these walks is the crash walk.
"""

from __future__ import annotations

import itertools
import signal
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_runs, assert_verified
from tests.bed.scene import Scene, settings, web
from tests.played.bed import sandbox_bed, scene_through

pytestmark = pytest.mark.sandbox_only("dozens of runs")

KILLED = -signal.SIGKILL


class Killer:
    """Stands between a gate and its server, and ends it at its n-th write; dry runs are counted."""

    def __init__(self, number: int, *, after: bool) -> None:
        """Have no gate yet."""
        self._left = number
        self._after = after
        self.victim: CheckedRun | None = None

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, unless the gate dies of it."""
        if request.method != "GET" and self.victim is not None:
            self._left -= 1
        due = self._left == 0 and self.victim is not None and request.method != "GET"
        if due and not self._after:
            self.kill()
        answer = handle(request)
        if due:
            self.kill()
        return answer

    def kill(self) -> None:
        """End the gate: this does not return."""
        assert self.victim is not None
        self.victim.kill()


def survives(folder: Path, behaviour: str, number: int, *, after: bool) -> bool:
    """Play a run that is killed at a write, and the run after it; False where it was not killed."""
    killer = Killer(number, after=after)
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed, killer)
        scene.serve(web(), settings("one"))
        with scene.applying(web(2, behaviour=behaviour), settings("two")) as running:
            killer.victim = running
            result = running.wait()  # held against the invariants, as far as it came
            killer.victim = None
        _goes_on(scene)
    for manifest in folder.iterdir():
        manifest.unlink()
    return result.exit_code == KILLED


def _goes_on(scene: Scene) -> None:
    """Apply the next version, which nothing that was left stands in the way of."""
    assert_verified(scene.apply(web(3), settings("three")))
    assert_runs(scene.objects, "shop/web:3")
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "three"}


@pytest.mark.long
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("behaviour", "writes"), [("ready=1", 4), ("crash=0.1", 6)])
def test_a_kill_at_any_write(tmp_path: Path, behaviour: str, writes: int, after: bool) -> None:
    """Nothing is written twice or over others, no thread is left, and the next run is verified."""
    numbers = itertools.takewhile(
        lambda number: survives(tmp_path, behaviour, number, after=after), itertools.count(1)
    )
    assert len(list(numbers)) >= writes
