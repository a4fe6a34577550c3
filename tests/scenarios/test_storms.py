"""A server that fails every request is not asked more often for it, whatever its answers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from gate.kube.pace import MOST_A_SECOND
from sandbox.face import Answer, Request
from tests.bed.scene import web
from tests.played.bed import PlayedUsers, sandbox_bed, scene_through
from tests.scenarios.test_contact import UNAUTHORIZED, status

pytestmark = pytest.mark.sandbox_only("requests are counted by a clock that no load moves")

SHED = status(429, "too many requests")
NAMES = ("one", "two", "three", "four", "five", "six")
STORMS = {
    "429": SHED,
    "429 with Retry-After": replace(SHED, headers={**SHED.headers, "retry-after": "1"}),
    "500": status(500, "etcdserver: no leader"),
    "401": UNAUTHORIZED,
}


class Storm:
    """Stands between the gate and its server; from some time on it answers in its place.

    Watches that are open stay so, and tell of no trouble. `at` has the seconds at which requests
    came, `began_at` how many came before.
    """

    def __init__(self, answer: Answer) -> None:
        """Pass requests on."""
        self.answer = answer
        self.now: Callable[[], float] = float
        self.at: list[float] = []
        self.began_at: int | None = None

    def begin(self) -> None:
        """Answer every request from now on."""
        self.began_at = len(self.at)

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Note a request, and pass it on or answer it."""
        self.at.append(self.now())
        if self.began_at is not None:
            return self.answer
        return handle(request)


@pytest.mark.contract("B503", "B1632")
@pytest.mark.parametrize("answer", STORMS.values(), ids=STORMS)
def test_a_storm_is_not_fed(tmp_path: Path, answer: Answer) -> None:
    """With each of its requests, the second until then has seen ten at most, earlier ones too."""
    storm = Storm(answer)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, storm)
        assert isinstance(bed.users, PlayedUsers)
        storm.now = bed.users.played.clock.now
        scene.serve(*(web(name=name) for name in NAMES))
        late = [web(2, name=name, behaviour="never-ready") for name in NAMES]
        budgets = ("--timeout", "10s", "--rollback-timeout", "4s")
        with scene.applying(*late, flags=budgets) as running:
            running.wait_for_line("applied +deployment/six changed")
            storm.begin()
            result = running.wait()
    assert result.exit_code == 9, str(result)
    assert storm.began_at is not None
    seen = [
        sum(at - 1.0 < earlier for earlier in storm.at[:number])
        for number, at in enumerate(storm.at[storm.began_at :], storm.began_at + 1)
    ]
    assert max(seen) <= MOST_A_SECOND
