"""Samples of a test over a phase: only windows that do not overlap count."""

from __future__ import annotations

import math
import random
from collections import deque

import pytest

from gate.core.checks.baseline_comparison import INTERIM_SHARE, LEAST_SAMPLES, MannWhitney
from gate.core.checks.run import CheckRun, ConclusionKind
from gate.core.checks.sample_spacing import least_sampling_seconds, sample_spacing_seconds
from gate.core.checks.spec import Check, Schedule
from tests.table import each
from tests.unit.core.checks_world import a_check, metric, pair, ticked, unreachable

FAIL, INCONCLUSIVE = ConclusionKind.FAIL, ConclusionKind.INCONCLUSIVE
TICK_SECONDS = 10.0
TICKS = 60
REQUESTS_A_TICK = 100
TICKS_A_WINDOW = 6


def by_test(window_seconds: float = 60.0, schedule: Schedule | None = None) -> Check:
    """Return a comparison by test with that window, asked every 10 s."""
    return a_check(
        metric(None, None, window_seconds=window_seconds, compare=MannWhitney()), schedule
    )


def followed(run: CheckRun, ticks: int) -> CheckRun:
    """Answer that many ticks with a new version that is twice the old."""
    for _ in range(ticks):
        now = run.wake_at
        run, tick = ticked(run, now)
        run = run.after_answer(tick, now, pair(2.0 + tick.number / 100, 1.0 + tick.number / 100))
    return run


@pytest.mark.contract("B448")
@each(
    ("window", "interval", "ticks", "samples"),
    [(60.0, 10.0, 13, 3), (60.0, 40.0, 5, 3), (10.0, 10.0, 5, 5), (5.0, 10.0, 5, 5)],
)
def test_only_windows_that_do_not_overlap_are_samples(
    window: float, interval: float, ticks: int, samples: int
) -> None:
    """A tick whose window holds a part of the last sample's adds none."""
    run = followed(CheckRun.start(by_test(window, Schedule(interval)), 0.0), ticks)
    assert len(run.pairs) == samples


@pytest.mark.contract("B448")
def test_a_tick_between_samples_is_no_measurement_unless_its_bounds_say_so() -> None:
    """It counts as neither a pass nor no data, ends a row of errors, and bounds hold at each."""
    check = a_check(metric(None, 0.5, window_seconds=60.0, compare=MannWhitney()))
    run, tick = ticked(CheckRun.start(check, 0.0), 0.0)
    run = run.after_answer(tick, 0.0, pair(0.1, 0.1))
    run, tick = ticked(run, 10.0)
    run = run.after_error(tick, 10.0, unreachable())
    run, tick = ticked(run, 20.0)
    run = run.after_answer(tick, 20.0, pair(0.1, 0.1))
    assert (run.tally.measured, run.tally.no_data, run.tally.consecutive_errors) == (1, 1, 0)
    run, tick = ticked(run, 30.0)
    assert run.after_answer(tick, 30.0, pair(0.9, 0.9)).verdict_so_far.kind is FAIL


@pytest.mark.contract("B448")
@each(
    ("text", "spacing"),
    [
        ("rate(errors[${window}])", 60.0),
        ("rate(errors[5m])", 300.0),
        ("rate(errors[1m30s]) / rate(all[2m])", 120.0),
        ("max_over_time(rate(errors[5m])[10m:1m])", 900.0),
        ("max_over_time(rate(errors[${window}])[ 1h : ])", 3660.0),
        ('rate(errors{path="[9h]"}[30s]) # [8h]', 60.0),
        ("errors", 60.0),
        ("rate(errors[300])", 300.0),
    ],
)
def test_a_longer_range_of_the_query_counts_as_its_window(text: str, spacing: float) -> None:
    """What a query looks back beyond `window` would overlap as well."""
    check = a_check(metric(None, None, text, compare=MannWhitney()))
    assert sample_spacing_seconds(check) == spacing


@pytest.mark.contract("B449")
def test_the_least_samples_take_seven_spacings_of_the_grid() -> None:
    """The eighth sample is there then, and none earlier."""
    check = by_test(60.0, Schedule(40.0, 15.0))
    seconds = least_sampling_seconds(check)
    assert seconds == 15.0 + 7 * 80.0
    run = CheckRun.start(check, 0.0)
    while run.wake_at < seconds:
        run = followed(run, 1)
    assert len(run.pairs) == LEAST_SAMPLES - 1
    assert len(followed(run, 1).pairs) == LEAST_SAMPLES


def shares(source: random.Random, error_share: float) -> list[float]:
    """Return the share of errors of 10 requests/s over the last minute, every 10 s."""
    window: deque[int] = deque(maxlen=TICKS_A_WINDOW)
    found = []
    for _ in range(TICKS):
        window.append(sum(source.random() < error_share for _ in range(REQUESTS_A_TICK)))
        found.append(sum(window) / (len(window) * REQUESTS_A_TICK))
    return found


def failed(check: Check, source: random.Random, times: float = 1.0) -> bool:
    """Play ten minutes of both versions, of which the new one has `times` as many errors."""
    run = CheckRun.start(check, 0.0)
    new, old = shares(source, 0.01 * times), shares(source, 0.01)
    while not run.finished and (now := run.wake_at) < TICKS * TICK_SECONDS:
        run, tick = ticked(run, now)
        run = run.after_answer(tick, now, pair(new[tick.number], old[tick.number]))
    return run.conclude(TICKS * TICK_SECONDS).kind is FAIL


def by_chance(runs: int, looks: int) -> float:
    """Return how many of `runs` equal versions may be failed: alpha at the end, a share before.

    By the union bound over the looks, and three deviations of the count for the chance of a seed.
    """
    alpha = MannWhitney().alpha
    expected = runs * alpha * (1 + looks * INTERIM_SHARE)
    return expected + 3 * math.sqrt(expected)


@pytest.mark.contract("B448", "B422")
def test_equal_versions_are_failed_as_seldom_as_alpha_says() -> None:
    """Ten samples in ten minutes, looked at from the eighth on: of 300 runs 14 at most."""
    source = random.Random(13)
    wrong = sum(failed(by_test(), source) for _ in range(300))
    assert wrong <= by_chance(300, looks=3)


@pytest.mark.long
@pytest.mark.contract("B448", "B422")
def test_overlapping_windows_would_fail_a_quarter_of_equal_versions() -> None:
    """What the spacing is for: the same data with each tick taken for a sample, and without.

    A check that calls its minute a window of 10 s takes every tick.
    """
    source = random.Random(7)
    overlapping = sum(failed(by_test(TICK_SECONDS), source) for _ in range(300))
    assert overlapping > 300 * 0.2
    source = random.Random(7)
    runs = 3000
    assert sum(failed(by_test(), source) for _ in range(runs)) <= by_chance(runs, looks=3)
    twice = sum(failed(by_test(), source, 2.0) for _ in range(300))
    assert twice > 300 * 0.9
