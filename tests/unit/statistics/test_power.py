"""The foreseen power of a comparison agrees with a simulation that decides independently."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from gate.core.statistics.count_decision import CountRule, End, judge
from gate.core.statistics.count_power import (
    NEVER,
    Chances,
    chances_to_fail,
    chances_to_pass,
    events_to_find,
    looks_to_find,
    smallest_found,
)
from gate.core.statistics.simulated_looks import PlannedTraffic, Uniform, draws_of
from gate.core.statistics.simulated_rollout import Alternatives, DecisionBounds, SimulatedRollout
from tests.statistics.cells import ANY_TIME, BAKE, Cell
from tests.statistics.measures import measure
from tests.statistics.traffic import TICK_SECONDS, Traffic
from tests.table import each

SIMULATED = 2000
THEIR_ERROR = 1.96 * (0.25 / SIMULATED) ** 0.5
SHARED = Traffic(2, 18)


def begin() -> Uniform:
    """Return a source of chance, the same each time."""
    return random.Random(7).random


def planned(traffic: Traffic) -> PlannedTraffic:
    """Return simulated traffic as one plans it."""
    total = traffic.new_per_second + traffic.old_per_second
    share = traffic.new_per_second / total
    return PlannedTraffic(total * TICK_SECONDS, traffic.rate, traffic.ticks, share, share)


def foreseen(rule: CountRule, traffic: Traffic) -> Chances:
    """Return the chance that is of interest for the traffic's ratio."""
    if traffic.ratio == 1:
        return chances_to_pass(rule, planned(traffic), begin)
    return chances_to_fail(rule, planned(traffic), traffic.ratio, begin)


@pytest.mark.contract("B1201")
@each(
    ("rule", "traffic"),
    [
        (BAKE, Traffic()),
        (BAKE, Traffic(ratio=1.5)),
        (BAKE, replace(SHARED, ratio=2)),
        (BAKE, replace(SHARED, ratio=3)),
        (BAKE, Traffic(1, 1, rate=0.3, ratio=2)),
        (replace(BAKE, split=4), Traffic(ratio=2)),
        (replace(BAKE, min_delta=0.012), Traffic(ratio=2)),
        (BAKE, Traffic(10, 10, rate=0.0001)),
        (ANY_TIME, Traffic()),
        (ANY_TIME, Traffic(ratio=2)),
        (ANY_TIME, replace(SHARED, ratio=3)),
    ],
)
def test_chances_agree_with_the_simulation(rule: CountRule, traffic: Traffic) -> None:
    """Within the error that is said, and that of the simulation; the median within four looks."""
    found = foreseen(rule, traffic)
    simulated = measure(Cell(f"{rule} {traffic}", traffic, rule), SIMULATED)
    passes = traffic.ratio == 1
    share = simulated.passed if passes else simulated.failed
    assert found.share == pytest.approx(share, abs=found.error + THEIR_ERROR)
    seconds = simulated.pass_seconds if passes else simulated.seconds
    if found.share > 0.6:
        assert found.half_at * TICK_SECONDS == pytest.approx(seconds, abs=40)
    if found.share < 0.4:
        assert found.half_at == NEVER


@pytest.mark.contract("B1201")
@each(("ratio", "share", "looks"), [(2, 0.48, NEVER), (3, 0.97, 23)])
def test_a_tenth_of_twenty_requests_a_second(ratio: float, share: float, looks: float) -> None:
    """Twice as bad is found in half of all rollouts, and three times as bad in nearly all."""
    found = foreseen(BAKE, replace(SHARED, ratio=ratio))
    assert found.share == pytest.approx(share, abs=found.error)
    if looks < NEVER:
        assert found.half_at == pytest.approx(looks, abs=3)


@pytest.mark.contract("B1200")
@each(
    "rule", [BAKE, ANY_TIME, replace(BAKE, split=8), CountRule(0.0, 1.5, 0.01, known_length=True)]
)
@each("ratio", [1.0, 2.5])
def test_no_decision_is_missed_by_the_bounds(rule: CountRule, ratio: float) -> None:
    """Wherever the gate's own decision is one, it is asked for."""
    traffic, bounds = PlannedTraffic(80, 0.03, 40, 0.2, 0.6), DecisionBounds.of(rule)
    odds = [share / (1 - share) for share in map(traffic.share_at, range(1, 41))]
    uniform, decided = begin(), 0
    for _ in range(15):
        seen = SimulatedRollout(
            Alternatives.beyond(rule.tolerated, 1, odds),
            Alternatives.beyond(rule.harm, -1, odds),
        )
        for look, (new, old) in enumerate(draws_of(traffic, ratio), 1):
            seen.add(new.draw(uniform), old.draw(uniform))
            end = judge(rule, seen, at_the_end=look == 40)
            decided += end is not End.UNDECIDED
            if end is End.WORSE:
                assert bounds.may_be_worse(seen, at_the_end=look == 40)
            if end is End.NOT_HARMFUL:
                assert bounds.may_not_be_harmful(seen)
    assert decided


@pytest.mark.contract("B1202")
def test_what_would_do_does() -> None:
    """Four times in five, about; what nothing within reason finds has no such figure."""
    traffic = planned(SHARED)
    looks = looks_to_find(BAKE, traffic, 2, begin, most=360)
    events = events_to_find(BAKE, traffic, 2, begin, most=2000)
    smallest = smallest_found(BAKE, traffic, begin)
    assert looks is not None
    assert events is not None
    assert smallest is not None
    for plan, ratio in (
        (traffic.with_looks(looks), 2.0),
        (traffic.with_events(events), 2.0),
        (traffic, smallest),
    ):
        assert chances_to_fail(BAKE, plan, ratio, begin).share == pytest.approx(0.8, abs=0.06)
    scarce = traffic.with_events(2)
    assert looks_to_find(BAKE, scarce, 2, begin, most=360) is None
    assert events_to_find(BAKE, scarce, 2, begin, most=20) is None
    assert smallest_found(BAKE, traffic.with_events(0.1), begin) is None


def test_a_version_without_traffic_cannot_be_played() -> None:
    """Nothing would be compared."""
    with pytest.raises(ValueError, match="no traffic"):
        chances_to_fail(BAKE, PlannedTraffic(200, 0.01, 60, 1.0, 1.0), 2, begin)


def test_draws_have_the_mean_of_the_plan() -> None:
    """Few events as well as so many that they hardly vary."""
    for events in (0.3, 40.0, 1e6):
        ((new, _),) = draws_of(PlannedTraffic(2 * events, 0.01, 1, 0.5, 0.5), 2.0)
        uniform = begin()
        drawn = [new.draw(uniform) for _ in range(4000)]
        assert sum(total for _, total in drawn) / 4000 == pytest.approx(events, rel=0.1)
        assert sum(bad for bad, _ in drawn) / 4000 == pytest.approx(events * 0.02, rel=0.3)
