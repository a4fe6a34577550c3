"""Answers about counters: whether they can be used, and whether the counters are there at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gate.core.checks.counter_readings import CounterReadings, NotCounterError
from gate.core.checks.measurement import Measurement, make_pass, no_data, unfit
from gate.core.checks.questions import Answer, Answers, Counted, Form, Samples, Series
from gate.core.checks.spec import ComparedPods, Counts

NO_COMPUTED_BAD: Final = (
    "bad gives no series although total does: one that it is computed from does not exist, as a"
    " bucket, or their labels are unequal, which takes ignoring(...) or on(...)"
)


def why_ageless(answer: Answer | None) -> Measurement | None:
    """Return the error of series of which nobody can say which pod they are of."""
    if all(each.pod for each in series_of(answer)):
        return None
    return unfit("a series has no label pod: which pods are fresh goes by it")


def look_once(counts: Counts, answers: Answers) -> Measurement:
    """Say whether the counters of a version are there; one look compares nothing."""
    wrong = why_unusable(answers)
    if wrong is not None:
        return wrong
    series = series_of(answers.value)
    try:
        read, _ = CounterReadings().plus(series)
    except NotCounterError as error:
        return unfit(str(error))
    ageless = counts.compared_pods is ComparedPods.FRESH and why_ageless(answers.value)
    if ageless:
        return ageless
    totals = [each.value for each in series if each.counted is Counted.TOTAL]
    if not totals:
        return no_data("no series of total")
    if lacks_computed_bad(counts, read):
        return no_data(NO_COMPUTED_BAD)
    bad = sum(each.value for each in series if each.counted is Counted.BAD)
    if bad > sum(totals):
        return unfit(describe_more_bad(bad, sum(totals)))
    seen = count_series(series)
    if counts.compares:
        return no_data(f"{seen}; one look compares nothing, a rollout does")
    return make_pass(seen, bad / sum(totals) if sum(totals) else None)


def count_series(series: Iterable[Series]) -> str:
    """Say how many counters there are; of bad events there need not be any."""
    kinds = [each.counted for each in series]
    bad, total = kinds.count(Counted.BAD), kinds.count(Counted.TOTAL)
    nothing = ", which counts as 0" if total and not bad else ""
    return f"{total} series of total, {bad} of bad{nothing}"


def why_unusable(answers: Answers) -> Measurement | None:
    """Return what makes the answers about either version no counters, None for nothing."""
    for answer in (answers.value, answers.baseline):
        if isinstance(answer, Samples) and answer.form is not Form.VECTOR:
            return unfit(f"the query gives a {answer.form}; counters are a vector")
        if isinstance(answer, Samples) and answer.remarks:
            return no_data(f"partial: {answer.remarks[0]}")
    return None


def series_of(answer: Answer | None) -> tuple[Series, ...]:
    """Return the series of an answer, none of one that has no samples."""
    return answer.series if isinstance(answer, Samples) else ()


def lacks_bad(side: CounterReadings) -> bool:
    """Tell whether a version has counters of events, and none of bad ones."""
    return not side.has(Counted.BAD) and side.has(Counted.TOTAL)


def lacks_computed_bad(counts: Counts, side: CounterReadings) -> bool:
    """Tell whether bad events are missing that would be there, as 0, were the query right."""
    return lacks_bad(side) and counts.computes_bad


def describe_more_bad(bad: float, total: float) -> str:
    """Say that `bad` counts what `total` does not."""
    return (
        f"more bad events ({bad:g}) than events at all ({total:g}): bad has to select some of total"
    )
