"""Bugs that are planted in the core are found, each by the invariant that it breaks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.long import longer
from tests.model.attempts import plan_of
from tests.model.scenes import scene
from tests.model.search import Bounds, search
from tests.unit.model.mutants import PLANTED, Planted

CASES = [
    (longer if one.is_long else pytest.param)(one, id=f"{one.invariant}-{one.plant.__name__}")
    for one in PLANTED
]


@pytest.fixture(autouse=True)
def plans_made_afresh() -> Iterator[None]:
    """Plans are remembered by the cluster that they were made for, not by the bug planted then."""
    plan_of.cache_clear()
    yield
    plan_of.cache_clear()


@pytest.mark.contract("B554")
@pytest.mark.parametrize("planted", CASES)
def test_a_planted_bug_is_found(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first counterexample names the invariant, and deviates no more often than it must."""
    planted.plant(monkeypatch)
    bounds = Bounds(deviations=planted.deviations)
    visited = search(scene(planted.scene), bounds, to_the_first=True)
    assert visited.violations, "nothing was found"
    first, *_ = visited.violations.values()
    assert first.what.startswith(f"{planted.invariant}: ")
    assert sum(choice > 0 for choice in first.course) == planted.deviations
