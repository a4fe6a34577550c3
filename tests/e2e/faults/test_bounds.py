"""What a failing server is asked: never more than 10 requests in any second."""

from __future__ import annotations

import itertools

import pytest

from tests.bed.expectations import assert_rolled_back, assert_runs
from tests.bed.scene import Scene, web
from tests.e2e.faults.bounds import applied_at, assert_bounded, first_fault_at
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import BAD, BUDGETS
from tests.faults import answers, connections, streams
from tests.faults.proxy import Proxy
from tests.faults.request import ANYTHING, APPLIES, READING, WATCHES, WRITES
from tests.faults.script import Fault, Rule

STORMS = {
    "429": answers.too_many(),
    "429 with Retry-After": answers.too_many(1),
    "500": answers.page(500),
    "closed": connections.Drop(),
    "401": answers.UNAUTHORIZED,
}


@pytest.mark.contract("B503")
@pytest.mark.parametrize("fault", STORMS.values(), ids=STORMS.keys())
def test_a_storm_is_not_fed(scene: Scene, play: Play, proxy: Proxy, fault: Fault) -> None:
    """Every request fails at once, for as long as the gate runs."""
    scene.serve(web())
    play(
        Rule(WATCHES, streams.CutAfter(seconds=1.0), count=4), Rule(ANYTHING, fault, after=APPLIES)
    )
    flags = ("--timeout", "10s", "--rollback-timeout", "4s")
    result = scene.apply(web(2, behaviour="never-ready"), flags=flags)
    assert result.exit_code == 9, str(result)
    assert_bounded(proxy, scene.objects.namespace, since=applied_at(proxy))


STORM_BUDGETS = (*BUDGETS, "--connect-timeout", "60s")
"""The last one bounds a request with its repetitions."""

ENDINGS = {
    "ended": streams.EndAfter(0.0),
    "cut": streams.CutAfter(seconds=0.0),
    "410": answers.GONE,
    "malformed": streams.Lines(lambda line: [line[:-1]]),
}


@pytest.mark.contract("B503")
@pytest.mark.parametrize("fault", ENDINGS.values(), ids=ENDINGS.keys())
def test_watches_that_end_at_once_are_not_a_storm(
    scene: Scene, play: Play, proxy: Proxy, fault: Fault
) -> None:
    """No watch lives: the reads come to the verdict, and the watches are tried ever more rarely."""
    scene.serve(web())
    play(Rule(WATCHES, fault))
    BAD.assert_judged(scene, scene.apply(BAD.manifest, flags=BUDGETS))
    assert_bounded(proxy, scene.objects.namespace, since=first_fault_at(proxy))


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
