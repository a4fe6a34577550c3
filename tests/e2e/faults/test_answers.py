"""Answers that say: not now, or that do not come. They are waited for, inside the budgets."""

from __future__ import annotations

import itertools

import pytest

from tests.bed.expectations import assert_refused, assert_rolled_back, assert_runs
from tests.bed.scene import Scene, web
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import (
    APPLIED,
    BAD,
    BUDGETS,
    Version,
    applied_at,
    assert_bounded,
    assert_unknown,
    judged,
)
from tests.faults import answers, connections, streams
from tests.faults.proxy import Proxy
from tests.faults.request import ANYTHING, APPLIES, READING, WATCHES, WRITES
from tests.faults.script import Fault, Rule


def for_a_while(fault: answers.Says) -> list[Rule]:
    """Return rules by which reads, watches and writes of all kinds meet a fault a few times."""
    return [
        Rule(READING, fault, first=2, count=2),
        Rule(WATCHES, fault, count=4),
        Rule(WRITES, fault, count=2),
        Rule(READING, fault, count=2, after=APPLIES),
    ]


@pytest.mark.fault(9)
@pytest.mark.contract("B160")
@pytest.mark.parametrize("retry_after", [None, 1, 4])
@judged
def test_too_many_requests_are_waited_for(
    scene: Scene, play: Play, proxy: Proxy, version: Version, retry_after: int | None
) -> None:
    """What was shed is sent again, not before Retry-After, and not all at the same moment."""
    scene.serve(web())
    play(*for_a_while(answers.too_many(retry_after)))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    first, second, done = proxy.log.like(WRITES)[:3]
    assert [first.status, second.status, done.status] == [429, 429, 200]
    for earlier, later in ((first, second), (second, done)):
        assert later.at - earlier.at >= (retry_after or 0.05)


@pytest.mark.fault(10)
@pytest.mark.contract("B160", "B162")
@pytest.mark.parametrize("code", [500, 502, 503, 504])
@judged
def test_a_server_that_stumbles_is_asked_again(
    scene: Scene, play: Play, version: Version, code: int
) -> None:
    """Errors of a balancer, in HTML, on reads, watches and writes; a write is read back first."""
    scene.serve(web())
    play(*for_a_while(answers.page(code)))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))


# -- a server that is not there -------------------------------------------------------------------


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
@judged
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


# -- storms ---------------------------------------------------------------------------------------


STORM_BUDGETS = (*BUDGETS, "--connect-timeout", "60s")
"""The last one bounds a request with its repetitions."""


@pytest.mark.fault(9)
@pytest.mark.contract("B505")
@pytest.mark.parametrize("retry_after", [None, 1, 3])
def test_the_way_back_comes_through_a_storm(
    scene: Scene, play: Play, proxy: Proxy, retry_after: int | None
) -> None:
    """Two of three requests are shed, writes too: the rollback is written within its budget."""
    scene.serve(web())
    play(
        Rule(APPLIES, answers.too_many(retry_after), first=2, count=3),
        Rule(WRITES, answers.too_many(retry_after), chance=0.6, after=APPLIES),
        Rule(READING, answers.too_many(retry_after), chance=0.6, after=APPLIES),
        Rule(WATCHES, answers.too_many(retry_after), chance=0.6, after=APPLIES),
        seed=9,
    )
    result = scene.apply(BAD.manifest, flags=STORM_BUDGETS)
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", revision=3)
    shed = [seen.at for seen in proxy.log.like(APPLIES) if seen.status == 429]
    assert len(shed) >= 3
    pauses = [later - earlier for earlier, later in itertools.pairwise(shed)]
    assert min(pauses) >= (retry_after or 0)
    assert_bounded(proxy, scene.objects.namespace, since=applied_at(proxy))
