"""The bake window's default length: as long as deciding checks need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gate.core.checks.sample_spacing import least_sampling_seconds
from gate.core.checks.spec import Check, Command, Counts, During, Http, Metric
from gate.core.statistics.count_decision import LEAST_TICKS

USUAL_LOOKS: Final = 60
"""Of a comparison by counts: at 10 s they are the ten minutes for which it makes its promises."""


def least_bake_seconds(checks: Iterable[Check]) -> float:
    """Return the default bake window: long enough for the evidence of every deciding check.

    A fast rollout ends before two scrapes exist, and would never be conclusive. 0.0 if no deciding
    check runs in the bake window.
    """
    return max((least_phase_seconds(check) for check in checks if _bakes(check)), default=0.0)


def _bakes(check: Check) -> bool:
    return check.decides and check.runs_in(During.BAKE)


def least_counting_seconds(check: Check) -> float:
    """Return after how long a comparison by counts can fail: its least looks after the first."""
    schedule = check.schedule
    return schedule.initial_delay_seconds + LEAST_TICKS * schedule.interval_seconds


def least_phase_seconds(check: Check) -> float:
    """Return how long a check's phase has to be for its evidence, with two intervals to spare."""
    schedule = check.schedule
    samples = least_sampling_seconds(check) or schedule.initial_delay_seconds
    longest = samples + 2 * schedule.interval_seconds
    match check.probe:
        case Metric(window_seconds=seconds) | Command(timeout_seconds=seconds):
            return longest + seconds
        case Counts():
            return longest + USUAL_LOOKS * schedule.interval_seconds
        case Http(question=question):
            return longest + question.timeout_seconds
