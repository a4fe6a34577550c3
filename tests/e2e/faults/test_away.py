"""The API server is not to be had: at the start, for a while, for good."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_refused
from tests.bed.scene import Scene, web
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import APPLIED, BOTH, Version, assert_unknown
from tests.faults import answers, connections, streams
from tests.faults.proxy import Proxy
from tests.faults.request import ANYTHING, APPLIES, WATCHES
from tests.faults.script import Fault, Rule

AWAY_SECONDS = 30.0
CONNECT_SECONDS = 3.0
NOT_THERE = [
    connections.Drop(),
    connections.Blackhole(),
    answers.page(503),
    answers.too_many(),
]


def name_of(fault: object) -> str:
    """Return a test's name of a parameter."""
    reply = getattr(fault, "reply", None)
    return str(reply.status) if reply else type(fault).__name__.lower()


@pytest.mark.fault(1)
@pytest.mark.contract("B500")
@pytest.mark.parametrize("fault", NOT_THERE, ids=name_of)
def test_a_server_that_does_not_answer_is_refused(scene: Scene, play: Play, fault: Fault) -> None:
    """However it fails: 3 within the connect budget, and nothing was written."""
    scene.serve(web())
    play(Rule(ANYTHING, fault))
    flags = ("--connect-timeout", f"{CONNECT_SECONDS:g}s")
    result = scene.apply(web(2), flags=flags)
    assert_refused(result, "Unreachable")
    assert result.duration_seconds < CONNECT_SECONDS + 10


@pytest.mark.fault(2)
@pytest.mark.contract("B164")
@pytest.mark.parametrize("version", BOTH, ids=["good", "bad"])
def test_half_a_minute_without_a_server_changes_no_verdict(
    scene: Scene, play: Play, proxy: Proxy, version: Version
) -> None:
    """Every connection breaks after the apply, and for 30 s none is answered."""
    scene.serve(web())
    play(Rule(ANYTHING, connections.Drop(), after=APPLIES, seconds=AWAY_SECONDS))
    with scene.applying(version.manifest) as running:
        running.wait_for_line(APPLIED)
        proxy.cut_all()
        result = running.wait()
    version.assert_judged(scene, result)
    dropped = [seen.at for seen in proxy.log.like(ANYTHING, "Drop")]
    assert dropped[-1] - dropped[0] > AWAY_SECONDS / 2


@pytest.mark.fault(3)
@pytest.mark.contract("B28", "B163", "B501")
@pytest.mark.parametrize("fault", NOT_THERE, ids=name_of)
def test_a_server_that_is_gone_for_good_is_lost_contact(
    scene: Scene, play: Play, fault: Fault
) -> None:
    """After the apply nothing is answered any more: 9 within the budgets, and no claim."""
    scene.serve(web())
    play(Rule(WATCHES, streams.HalfOpen(once=APPLIES)), Rule(ANYTHING, fault, after=APPLIES))
    flags = ("--timeout", "4s", "--rollback-timeout", "2s")
    result = scene.apply(web(2, behaviour="never-ready"), flags=flags)
    assert_unknown(scene, result)
