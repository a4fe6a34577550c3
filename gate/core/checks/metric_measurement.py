"""One measurement of a query: the data behind the value, the value, and the other version's.

The rules are in the order in which they decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from gate.core.checks.baseline_comparison import (
    INTERIM_SHARE,
    LEAST_SAMPLES,
    NO_PAIRS,
    MannWhitney,
    Pairs,
    Ratio,
    compare,
    rejects,
)
from gate.core.checks.measurement import Kind, Measurement, make_fail, make_pass, no_data, unfit
from gate.core.checks.questions import Answer, Answers, Form, Samples, Series
from gate.core.checks.spec import Check, Metric, Reduce
from gate.core.model.objects import CleanText

_SHOWN_SERIES: Final = 3


def measure_metric(
    check: Check, metric: Metric, answers: Answers, earlier: Pairs = NO_PAIRS
) -> Measurement:
    """Judge the value, unless the data behind it is too little or too old."""
    wrong = _wrong_form(answers)
    if wrong is not None:
        return wrong
    few = _too_few(metric, answers.samples) or _too_old(check, metric, answers.freshness)
    if few is not None:
        return few
    judged = _judge_metric(metric, answers, earlier)
    remarks = _remarks(answers)
    if judged.kind is Kind.PASS and remarks:
        return no_data(f"partial: {remarks[0]}", judged.value, judged.baseline)
    return judged


def _wrong_form(answers: Answers) -> Measurement | None:
    asked = (answers.value, answers.samples, answers.freshness, answers.baseline)
    for answer in asked:
        if isinstance(answer, Samples) and answer.form not in (Form.VECTOR, Form.SCALAR):
            return unfit(f"the query gives a {answer.form}; a check needs numbers")
    return None


def _too_few(metric: Metric, answer: Answer | None) -> Measurement | None:
    if metric.min_samples is None:
        return None
    count = _single(answer, "min-samples")
    if isinstance(count, Measurement):
        return count
    if count is None or not count >= metric.min_samples.least:
        shown = "none" if count is None else f"{count:g}"
        return no_data(f"min-samples: {shown}, of at least {metric.min_samples.least:g}")
    return None


def _too_old(check: Check, metric: Metric, answer: Answer | None) -> Measurement | None:
    if metric.freshness is None:
        return None
    age = _single(answer, "freshness")
    if isinstance(age, Measurement):
        return age
    if age is None or not age <= check.max_age_seconds:
        shown = "there is no sample" if age is None else f"the newest sample is {age:g}s old"
        return no_data(f"freshness: {shown}, at most {check.max_age_seconds:g}s are allowed")
    return None


def _single(answer: Answer | None, what: str) -> float | Measurement | None:
    """Return the one number of a second query, None for none; an error if there are more."""
    series = answer.series if isinstance(answer, Samples) else ()
    if len(series) > 1:
        return unfit(f"{what}: {len(series)} series; the query has to give one")
    return series[0].value if series else None


def _judge_metric(metric: Metric, answers: Answers, earlier: Pairs) -> Measurement:
    new = _series(answers.value)
    if not new:
        return no_data("no series")
    if metric.reduce in (Reduce.ALL, Reduce.ANY):
        return _each(metric, new)
    value = _reduce_series(metric.reduce, new)
    if isinstance(value, Measurement):
        return value
    judged = _judge_by_bounds(metric, value)
    if metric.compare is None or judged.kind is Kind.FAIL or math.isnan(value):
        return judged
    return _judge_by_baseline(metric, value, answers.baseline, earlier)


def _series(answer: Answer | None) -> tuple[Series, ...]:
    return answer.series if isinstance(answer, Samples) else ()


def _reduce_series(reduce: Reduce | None, series: Sequence[Series]) -> float | Measurement:
    """Return one number, as PromQL's aggregations do: max and min ignore NaN, sum keeps it."""
    values = [each.value for each in series]
    if reduce is None and len(values) > 1:
        names = ", ".join(each.labels for each in series[:_SHOWN_SERIES])
        more = ", ..." if len(series) > _SHOWN_SERIES else ""
        remedy = "sum(...) in the query, or reduce: max"
        return unfit(f"{len(series)} series, and no reduce ({remedy}): {names}{more}")
    if reduce in (Reduce.MAX, Reduce.MIN):
        numbers = [value for value in values if not math.isnan(value)] or [math.nan]
        return max(numbers) if reduce is Reduce.MAX else min(numbers)
    total = _sum(values)
    return total / len(values) if reduce is Reduce.AVG else total


def _sum(values: Sequence[float]) -> float:
    """Add up; infinities of both signs give NaN, as in IEEE 754."""
    if math.inf in values and -math.inf in values:
        return math.nan
    try:
        return math.fsum(values)
    except OverflowError:
        return math.copysign(math.inf, max(values, key=abs))


def _judge_by_bounds(metric: Metric, value: float, labels: str = "") -> Measurement:
    of = f" {labels}" if labels else ""
    if math.isnan(value):
        return no_data(f"NaN{of}")
    shown = f"{value:g}{of}"
    if not metric.bounds.hold(value):
        return make_fail(f"{shown} is not {metric.bounds}", value)
    if math.isinf(value):
        return no_data(f"{shown} is no measurement", value)
    within = f"{shown} is {metric.bounds}" if metric.bounds else shown
    return make_pass(within, value)


def _each(metric: Metric, series: Sequence[Series]) -> Measurement:
    """Judge each series: all have to pass, or any; one without data passes neither way."""
    judged = [_judge_by_bounds(metric, each.value, each.labels) for each in series]
    worst_first = (Kind.FAIL, Kind.NO_DATA, Kind.PASS)
    if metric.reduce is Reduce.ANY:
        worst_first = (Kind.PASS, Kind.NO_DATA, Kind.FAIL)
    deciding = min(judged, key=lambda one: worst_first.index(one.kind))
    count = sum(one.kind is deciding.kind for one in judged)
    message = CleanText(f"{count} of {len(judged)} series: {deciding.message}")
    return Measurement(deciding.kind, message, deciding.value)


# -- new against old -------------------------------------------------------------------------------


def _judge_by_baseline(
    metric: Metric, value: float, answer: Answer | None, earlier: Pairs
) -> Measurement:
    series = _series(answer)
    if not series:
        return no_data("no series for the baseline", value)
    old = _reduce_series(metric.reduce, series)
    if isinstance(old, Measurement):
        return old
    if not math.isfinite(old):
        return no_data(f"{old:g} for the baseline", value)
    if _partial(answer):
        return no_data("the baseline's answer is partial", value, old)
    if isinstance(metric.compare, Ratio) and metric.compare.is_exceeded_by(value, old):
        limits = f"over {metric.compare.max_ratio:g} times and {metric.compare.min_delta:g} more"
        return make_fail(f"{value:g} against {old:g} is {limits}", value, old)
    if not math.isfinite(value):
        return no_data(f"{value:g} is no measurement", value, old)
    if isinstance(metric.compare, MannWhitney):
        return by_test(metric.compare, earlier.plus(value, old), INTERIM_SHARE)
    return make_pass(f"{value:g} against {old:g}", value, old)


def by_test(test: MannWhitney, pairs: Pairs, share: float = 1.0) -> Measurement:
    """Judge the samples of both sides; before the end only `share` of alpha may reject."""
    new, old = pairs.new[-1], pairs.old[-1]
    found = compare(test, pairs)
    if found is None:
        return no_data(f"{len(pairs)} of {LEAST_SAMPLES} samples a side", new, old)
    message = f"p = {found.probability:.2g} with {len(pairs)} samples a side"
    if found.shift is not None:
        message += f", shift {found.shift:g} on a median of {found.median:g}"
    if rejects(test, found, test.alpha * share):
        return make_fail(message, new, old)
    if rejects(test, found, test.alpha):
        return no_data(f"{message}: decided at the end", new, old)
    return make_pass(message, new, old)


def _partial(answer: Answer | None) -> bool:
    return isinstance(answer, Samples) and bool(answer.remarks)


def _remarks(answers: Answers) -> tuple[CleanText, ...]:
    asked = (answers.value, answers.samples, answers.freshness, answers.baseline)
    return tuple(
        remark for answer in asked if isinstance(answer, Samples) for remark in answer.remarks
    )
