"""What a comparison by counts is expected to see, by which traffic, and what follows."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from gate.core.checks.measurement import Measurement
from gate.core.checks.power import Power, foresee
from gate.core.checks.power_plan import (
    Exposure,
    ExposureOrigin,
    PowerPlan,
    exposure_of,
    looks_within,
)
from gate.core.checks.query_template import Query
from gate.core.checks.questions import Counted, Form, Samples, Series
from gate.core.checks.running_traffic import MeasuredTraffic, add_traffic, read_traffic
from gate.core.checks.spec import Check, ComparedPods, Counts, During
from gate.core.checks.tick_questions import STEP_SECONDS
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.model.objects import Workload
from gate.core.statistics.count_decision import CountRule
from gate.core.statistics.simulated_looks import Uniform
from tests.table import each
from tests.unit.core.checks.count_looks import counts, counts_of, started, steady
from tests.unit.core.kinds.test_stateful_set import stateful_set
from tests.unit.core.world import deployment

ONE_TO_NINE = Exposure(1, 9, ExposureOrigin.FLAG)
ROLLING = Exposure(10, 0, ExposureOrigin.ROLLING_UPDATE)


def begin() -> Uniform:
    """Return a source of chance, the same each time."""
    return random.Random(3).random


def plan(
    check: Check | None = None,
    exposure: Exposure = ONE_TO_NINE,
    rate: float = 0.01,
    seconds: float = 640.0,
) -> PowerPlan:
    """Return a plan of 20 requests a second."""
    return PowerPlan(check or counts(), exposure, 20.0, rate, seconds)


def shares(found: Power) -> dict[float, float]:
    """Return how often a version of each ratio fails, of those that could be."""
    return {ratio: chances.share for ratio, chances in found.failed if chances is not None}


def obstacle_of(found: Power) -> str:
    """Return why nothing can be compared, which something has to be."""
    assert found.plan.obstacle is not None
    return found.plan.obstacle.why


@pytest.mark.contract("B1200")
@each(
    ("seconds", "looks"), [(640.0, 60), (641.0, 61), (630.0, 59), (130.0, 9), (30.0, 0), (0.0, 0)]
)
def test_looks_are_those_that_a_run_has(seconds: float, looks: int) -> None:
    """After the reading where counting starts, and before the end of the phase."""
    assert looks_within(counts(), seconds) == looks
    run = started()
    while run.wake_at < seconds:
        run = steady(run, 1, (0, 0), (0, 0))
    assert counts_of(run).evidence.ticks == looks


@pytest.mark.contract("B1200")
def test_the_warm_up_and_the_late_reading_are_in_the_times() -> None:
    """Half have failed by a time since the phase began, not since counting did."""
    late = plan(counts(warm_up_seconds=60.0), seconds=700.0)
    assert late.looks == 60
    assert late.seconds_at(20) == 60 + 30 + 20 * 10


@pytest.mark.contract("B1204")
@each(
    ("workload", "parts", "origin"),
    [
        (deployment(), (4, 0), ExposureOrigin.ROLLING_UPDATE),
        (stateful_set(replicas=10, partition=9), (1, 9), ExposureOrigin.STRATEGY),
        (stateful_set(replicas=10, partition=0), (10, 0), ExposureOrigin.ROLLING_UPDATE),
        (stateful_set(replicas=3, partition=9), (0, 3), ExposureOrigin.STRATEGY),
        (stateful_set(replicas=3, on_delete=True), (0, 3), ExposureOrigin.STRATEGY),
    ],
)
def test_shares_are_those_of_the_pods_that_a_strategy_leaves(
    workload: Workload, parts: tuple[int, int], origin: ExposureOrigin
) -> None:
    """A partition keeps old pods, a rolling update none."""
    found = exposure_of(workload)
    assert ((found.new, found.old), found.origin) == (parts, origin)


FRESH = counts(compared_pods=ComparedPods.FRESH)


@pytest.mark.contract("B1204", "B1296")
@each(
    ("check", "exposure", "seconds", "obstacle"),
    [
        (counts(), ROLLING, 640.0, "a rolling update leaves no pod of the old version in the bake"),
        (counts(), ONE_TO_NINE, 100.0, "6 looks decide nothing: 9 are needed"),
        (counts(), ONE_TO_NINE, 86_400.0, "8,636 looks are more than the 2,160 that are sim"),
        (counts(), Exposure(0, 3, ExposureOrigin.STRATEGY), 640.0, "no pod of the new version"),
        (
            FRESH,
            Exposure(1, 9, ExposureOrigin.STRATEGY),
            640.0,
            "how many old pods will be started with the new ones is not known before",
        ),
    ],
)
def test_where_nothing_can_be_compared_it_is_said(
    check: Check, exposure: Exposure, seconds: float, obstacle: str
) -> None:
    """Instead of figures that could not come true."""
    found = foresee(plan(check, exposure, seconds=seconds), begin)
    assert obstacle in obstacle_of(found)
    assert (found.failed, found.passed) == ((), None)
    assert (found.enough_seconds is not None) == ("9 are needed" in obstacle)


@pytest.mark.contract("B1202", "B1518")
@each(("rate", "is_hopeless"), [(0.01, False), (0.00001, True)])
def test_of_a_short_phase_it_is_said_where_no_longer_one_would_do(
    rate: float, is_hopeless: bool
) -> None:
    """With one bad request of a hundred thousand, an hour shows nothing of 20 a second."""
    found = foresee(plan(rate=rate, seconds=60.0), begin)
    assert ("not even an hour finds twice as bad" in found.way_out) is is_hopeless
    assert found.way_out.startswith("a longer --bake")


@pytest.mark.contract("B1202")
@each("exposure", [ONE_TO_NINE, ROLLING])
def test_the_longest_phase_that_is_offered_is_an_hour(exposure: Exposure) -> None:
    """To the second: the looks of an hour take no longer than that."""
    hour = plan(counts(During.BOTH), exposure, seconds=3600.0)
    assert hour.phase_of(hour.looks) == 3600


@pytest.mark.contract("B1382")
def test_in_a_rolling_update_the_phase_is_the_time_for_which_both_serve() -> None:
    """Which a check sees from its beginning to its end; a short one says how long would do."""
    both = counts(During.BOTH)
    short = foresee(PowerPlan(both, ROLLING, 200.0, 0.02, 52.0), begin)
    assert obstacle_of(short) == "5 looks decide nothing: 9 are needed"
    enough = short.enough_seconds
    assert enough is not None
    assert 90 <= enough < 300
    found = foresee(replace(short.plan, phase_seconds=enough), begin)
    assert shares(found)[2.0] == pytest.approx(0.8, abs=0.06)


@pytest.mark.contract("B1200", "B1202")
def test_a_plan_says_what_it_finds_and_what_would_do() -> None:
    """Worse versions more often; more time or traffic where twice as bad is not found."""
    found = foresee(plan(), begin)
    by_ratio = shares(found)
    assert 0 < by_ratio[1.5] < by_ratio[2.0] < 0.8 < by_ratio[3.0]
    assert found.smallest == pytest.approx(2.35, abs=0.2)
    assert found.enough_seconds is not None
    assert found.enough_per_second is not None
    assert 900 < found.enough_seconds < 1500
    assert 28 < found.enough_per_second < 45
    assert not found.finds_what_is_sought
    enough = foresee(replace(plan(), per_second=200.0), begin)
    assert (enough.finds_what_is_sought, enough.enough_per_second) == (True, 200.0)


@pytest.mark.contract("B1200")
def test_a_rate_that_cannot_be_has_no_chance() -> None:
    """Three times 40 % is more than all; without a bad event there is no ratio."""
    found = shares(foresee(plan(rate=0.4), begin))
    assert (2.0 in found, 3.0 in found) == (True, False)
    healthy = foresee(plan(rate=0.0), begin)
    assert not shares(healthy)
    assert healthy.passed is not None
    assert healthy.smallest is None


@pytest.mark.contract("B1204")
def test_in_a_rolling_update_shares_move() -> None:
    """Which finds less than equal shares for the same time."""
    check = counts(During.BOTH)
    moving = foresee(plan(check, ROLLING), begin)
    equal = foresee(plan(check, Exposure(1, 1, ExposureOrigin.FLAG)), begin)
    assert 0.1 < shares(moving)[2.0] < shares(equal)[2.0]


def test_a_check_that_counts_nothing_has_no_rule() -> None:
    """Only a comparison by counts can be planned."""
    other = replace(counts(), probe=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="compares no counts"):
        plan(other).rule  # noqa: B018
    assert isinstance(counts().probe, Counts)


SEEN = Samples(Form.VECTOR, (Series(60.0),))


def counted(**grown: float) -> Samples:
    """Return increases by what they count."""
    series = (Series(value, counted=Counted(name)) for name, value in grown.items())
    return Samples(Form.VECTOR, tuple(series))


@pytest.mark.parametrize(
    ("bad_query", "grown", "found"),
    [
        (
            "bad",
            counted(bad=2.0, total=600.0),
            MeasuredTraffic(("v",), 2.0, 600.0, 60 * STEP_SECONDS),
        ),
        ("bad", counted(total=600.0), MeasuredTraffic(("v",), 0.0, 600.0, 60 * STEP_SECONDS)),
        ("all - good", counted(total=600.0), "no series"),
        ("bad", counted(bad=601.0, total=600.0), "601"),
        ("bad", counted(bad=2.0), "no traffic"),
    ],
)
def test_only_counters_that_a_comparison_could_use_say_what_traffic_there_is(
    bad_query: str, grown: Samples, found: MeasuredTraffic | str
) -> None:
    """A computed `bad` that is missing is unknown, and no more can be bad than there are."""
    bad, total = (Query.parse(text, BUILT_IN) for text in (bad_query, "all"))
    read = read_traffic(Counts(bad, total, CountRule(known_length=True)), "v", grown, SEEN)
    if isinstance(read, MeasuredTraffic):
        read = add_traffic([read])
    if isinstance(found, MeasuredTraffic):
        assert read == found
    else:
        assert isinstance(read, Measurement)
        assert found in str(read)
