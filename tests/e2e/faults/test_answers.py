"""Answers that say: not now. They are waited for, with pauses, inside the budgets."""

from __future__ import annotations

import pytest

from tests.bed.scene import Scene, web
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import BOTH, BUDGETS, Version
from tests.faults import answers
from tests.faults.proxy import Proxy
from tests.faults.request import APPLIES, READING, WATCHES, WRITES
from tests.faults.script import Rule

judged = pytest.mark.parametrize("version", BOTH, ids=["good", "bad"])


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
