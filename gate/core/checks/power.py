"""What a planned comparison by counts could show: chances, and what would do where they are low."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.core.checks.power_plan import PowerPlan
from gate.core.frozen import dataclass
from gate.core.statistics.count_decision import LEAST_TICKS
from gate.core.statistics.count_estimate import POWER, SOUGHT
from gate.core.statistics.count_power import (
    Begin,
    Chances,
    chances_to_fail,
    chances_to_pass,
    events_to_find,
    looks_to_find,
    smallest_found,
)

RATIOS: Final = (1.5, 2.0, 3.0)
LONGEST_PHASE_SECONDS: Final = 3600.0
MOST_TRAFFIC: Final = 10.0
"""Times the planned traffic: more than that is no advice."""


@dataclass(frozen=True, slots=True)
class Power:
    """What a plan could show. `failed` is by ratio, None for a rate that would be above 1.

    `smallest` is the least ratio that is found four times in five, None for none. `enough_seconds`
    and `enough_per_second` are the phase and the traffic that would find SOUGHT so often, each
    alone, None where none within reason would; both are as planned where the plan does.
    """

    plan: PowerPlan
    failed: tuple[tuple[float, Chances | None], ...] = ()
    passed: Chances | None = None
    smallest: float | None = None
    enough_seconds: float | None = None
    enough_per_second: float | None = None

    @property
    def way_out(self) -> str:
        """What would help where nothing can be compared as planned, "" where something can."""
        obstacle = self.plan.obstacle
        if obstacle is None:
            return ""
        is_hopeless = self.plan.is_too_short and self.enough_seconds is None
        if not (is_hopeless and _is_findable(self.plan)):
            return obstacle.way_out
        hopeless = "but with such traffic not even an hour finds twice as bad four times in five"
        return f"{obstacle.way_out}; {hopeless}"

    @property
    def finds_what_is_sought(self) -> bool:
        """Whether the plan finds SOUGHT four times in five."""
        found = dict(self.failed).get(SOUGHT)
        return found is not None and found.share >= POWER


def foresee(plan: PowerPlan, begin: Begin) -> Power:
    """Return what a plan could show; `begin` returns a source of chance from its beginning."""
    if plan.obstacle is not None:
        enough = _find_enough_seconds(plan, begin) if plan.is_too_short else None
        return Power(plan, enough_seconds=enough)
    rule, traffic = plan.rule, plan.traffic
    failed = tuple(
        (ratio, chances_to_fail(rule, traffic, ratio, begin) if _is_rate(plan, ratio) else None)
        for ratio in RATIOS
    )
    passed = chances_to_pass(rule, traffic, begin)
    smallest = smallest_found(rule, traffic, begin)
    found = Power(plan, failed, passed, smallest)
    if found.finds_what_is_sought:
        return Power(plan, failed, passed, smallest, plan.phase_seconds, plan.per_second)
    seconds, per_second = _find_enough_seconds(plan, begin), _find_enough_per_second(plan, begin)
    return Power(plan, failed, passed, smallest, seconds, per_second)


def _is_rate(plan: PowerPlan, ratio: float) -> bool:
    return 0 < plan.rate * ratio <= 1


def _is_findable(plan: PowerPlan) -> bool:
    return _is_rate(plan, SOUGHT) and plan.rule.tolerated < SOUGHT


def _find_enough_seconds(plan: PowerPlan, begin: Begin) -> float | None:
    """Return the phase that would find SOUGHT; None for over an hour, or if none would."""
    most = replace(plan, phase_seconds=LONGEST_PHASE_SECONDS).looks
    traffic = plan.traffic.with_looks(max(plan.looks, LEAST_TICKS))
    if not _is_findable(plan) or most <= plan.looks:
        return None
    looks = looks_to_find(plan.rule, traffic, SOUGHT, begin, most)
    return None if looks is None else plan.phase_of(looks)


def _find_enough_per_second(plan: PowerPlan, begin: Begin) -> float | None:
    """Return the traffic that would find SOUGHT; None for over ten times as much."""
    if not _is_findable(plan):
        return None
    traffic = plan.traffic
    most = traffic.events * MOST_TRAFFIC
    events = events_to_find(plan.rule, traffic, SOUGHT, begin, most)
    return None if events is None else events / plan.check.schedule.interval_seconds
