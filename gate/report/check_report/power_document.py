"""Makes the part of the document of `checks` that says what comparisons by counts could show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gate.core.checks.power_plan import PowerPlan
from gate.core.checks.running_traffic import MeasuredTraffic
from gate.core.statistics.count_estimate import SOUGHT
from gate.core.statistics.count_power import Chances
from gate.report.check_report.asked_check import AskedCheck
from gate.report.check_report.document import checks_document
from gate.report.check_report.figures import finite
from gate.report.check_report.foreseen_check import ForeseenCheck
from gate.report.schema.check_result import ChecksResult
from gate.report.schema.power_result import ChanceResult, MeasuredTrafficResult, PowerResult


def power_document(
    foreseen: Sequence[ForeseenCheck], unanswered: Sequence[AskedCheck], at: datetime
) -> ChecksResult:
    """Return the document of what checks could show, and of those whose traffic is not known.

    The latter set the exit code as they would if they were asked.
    """
    document = checks_document(unanswered, at)
    document["power"] = [_power(one) for one in foreseen]
    if not unanswered:
        document["message"] = "; ".join(map(_conclusion, foreseen))
    return document


def _conclusion(one: ForeseenCheck) -> str:
    name, power = one.power.plan.check.name, one.power
    if power.plan.obstacle is not None:
        return f"{name}: nothing can be shown: {power.plan.obstacle.why}"
    chances = dict(power.failed).get(SOUGHT)
    if chances is None:
        return f"{name}: twice as bad is no rate that could be"
    return f"{name}: twice as bad fails in {chances.share:.0%}"


def _power(one: ForeseenCheck) -> PowerResult:
    power = one.power
    plan, passed = power.plan, power.passed
    return {
        "name": plan.check.name,
        "about": one.about,
        "decides": plan.check.decides,
        "obstacle": "" if plan.obstacle is None else plan.obstacle.why,
        "way_out": power.way_out,
        "traffic_per_second": plan.per_second,
        "traffic_origin": "given" if one.gave_traffic else "measured",
        "rate": plan.rate,
        "rate_origin": "given" if one.gave_rate else "measured",
        "measured": _traffic_result(one.measured),
        "exposure": {
            "new": plan.exposure.new,
            "old": plan.exposure.old,
            "origin": plan.exposure.origin.value,
        },
        "phase_seconds": plan.phase_seconds,
        "phase_origin": "bake" if one.gave_phase else "usual",
        "interval_seconds": plan.check.schedule.interval_seconds,
        "looks": plan.looks,
        "first_look_seconds": plan.seconds_at(1),
        "tolerance": plan.rule.tolerance,
        "alpha": plan.rule.alpha_now(at_the_end=True),
        "chances": [_chance(plan, ratio, chances) for ratio, chances in power.failed],
        "equal_passes": None if passed is None else passed.share,
        "half_passed_after_seconds": _half(plan, passed),
        "smallest_ratio": power.smallest,
        "enough_phase_seconds": power.enough_seconds,
        "enough_traffic_per_second": power.enough_per_second,
        "rollouts": 0 if passed is None else passed.rollouts,
        "error": 0.0 if passed is None else passed.error,
    }


def _traffic_result(found: MeasuredTraffic | None) -> MeasuredTrafficResult | None:
    if found is None:
        return None
    return {
        "versions": list(found.versions),
        "bad": found.bad,
        "total": found.total,
        "seconds": found.seconds,
    }


def _chance(plan: PowerPlan, ratio: float, chances: Chances | None) -> ChanceResult:
    return {
        "ratio": ratio,
        "failed": None if chances is None else chances.share,
        "half_failed_after_seconds": _half(plan, chances),
    }


def _half(plan: PowerPlan, chances: Chances | None) -> float | None:
    return None if chances is None else finite(plan.seconds_at(chances.half_at))
