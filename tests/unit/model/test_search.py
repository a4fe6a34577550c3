"""The model check itself, at a small bound: nothing is wrong, and all that matters is reached."""

from __future__ import annotations

import functools

import pytest

from gate.core.model.outcome import Outcome
from tests.model.cluster import READY
from tests.model.scenes import SCENES, scene
from tests.model.search import Bounds, Visited, search
from tests.model.world import WANTED, Scene

SMALL = [
    scene(name)
    for name in ("good", "crashing", "first-deleted", "configured-crashing", "back-on-signal")
]


@functools.cache
def deviating_once(where: Scene) -> Visited:
    """Return what is seen of all runs that deviate at most once."""
    return search(where, Bounds(deviations=1))


@pytest.mark.long
@pytest.mark.contract("B550", "B551", "B552", "B553")
@pytest.mark.parametrize("where", SMALL, ids=lambda where: where.name)
def test_one_deviation_breaks_no_invariant(where: Scene) -> None:
    """S1 to S4, S6, S7 and L1 to L3 hold in each run that deviates once, to its end."""
    visited = deviating_once(where)
    assert not visited.violations


@pytest.mark.contract("B18", "B163", "B550", "B551", "B552", "B553")
def test_no_interleaving_of_the_first_moves_breaks_an_invariant() -> None:
    """The same holds whatever comes first, without any usual course."""
    visited = search(scene("good"), Bounds(moves=3))
    assert visited.longest == 3
    assert not visited.violations


@pytest.mark.contract("B553")
@pytest.mark.parametrize("where", SCENES, ids=lambda where: where.name)
def test_the_usual_course_comes_to_its_end(where: Scene) -> None:
    """Left alone, each scene ends as its version and its policy say."""
    visited = search(where, Bounds(deviations=0))
    served, good = where.served, where.fate(WANTED) == READY
    goes_back = served and where.name != "paused-on-failure"
    expected = Outcome.VERIFIED if good else Outcome.ROLLED_BACK if goes_back else Outcome.FAILED
    assert not visited.violations
    assert set(visited.ends) == {expected.value}


@pytest.mark.long
def test_one_deviation_reaches_every_end() -> None:
    """The search is not blind: each outcome of an attempt on a Deployment is among what it sees."""
    ends = {end for where in SMALL for end in deviating_once(where).ends}
    unseen = {Outcome.INTERNAL_ERROR, Outcome.USAGE, Outcome.INCONCLUSIVE, Outcome.OBSERVED}
    assert ends == {one.value for one in set(Outcome) - unseen - {Outcome.APPLIED}}


def test_a_search_is_the_same_each_time() -> None:
    """Nothing depends on chance, so that a course found once is found again."""
    first, second = (search(scene("crashing"), Bounds(deviations=0)) for _ in range(2))
    assert first == second
