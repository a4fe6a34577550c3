"""What the versions that run have counted within the last hour: the usual traffic of a service."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Final

from gate.core.checks import query_variables
from gate.core.checks.counter_answers import NO_COMPUTED_BAD, describe_more_bad
from gate.core.checks.measurement import Measurement, no_data, unfit
from gate.core.checks.query_variables import Subject
from gate.core.checks.questions import Answer, Counted, MetricQuestion, Samples, Series
from gate.core.checks.spec import Check, Counts
from gate.core.checks.tick_questions import HOUR, STEP_SECONDS, Unaskable, label_counted
from gate.core.frozen import dataclass

HOUR_SECONDS: Final = 3600.0
_LEAST_STEPS: Final = 2
"""An increase takes two readings."""


@dataclass(frozen=True, slots=True)
class MeasuredTraffic:
    """What running versions have counted within an hour, of which one was seen for `seconds`."""

    versions: tuple[str, ...]
    bad: float
    total: float
    seconds: float

    @property
    def per_second(self) -> float:
        """All events a second."""
        return self.total / self.seconds

    @property
    def rate(self) -> float:
        """The share of bad ones."""
        return min(1.0, self.bad / self.total)

    def plus(self, other: MeasuredTraffic) -> MeasuredTraffic:
        """Return both together: versions that run side by side, each seen until now."""
        return MeasuredTraffic(
            self.versions + other.versions,
            self.bad + other.bad,
            self.total + other.total,
            max(self.seconds, other.seconds),
        )


def ask_traffic(
    check: Check, counts: Counts, at: float, subject: Subject
) -> tuple[MetricQuestion, MetricQuestion] | Unaskable:
    """Return the questions for what the new version counted in the hour before `at`.

    The first is for its increases of bad events and of all, told from each other by a label, the
    second for how many steps of the hour it was seen in.
    """
    read_at = at - counts.scrape_seconds
    known = query_variables.values(subject, read_at, 0.0, check.user_variables)
    bad, total = (query.within("sum(increase((", f"\n)[{HOUR}]))") for query in counts.queries())
    grown = label_counted(bad, Counted.BAD).combine(" or ", label_counted(total, Counted.TOTAL))
    missing = grown.missing(known)
    if missing is not None:
        return Unaskable(missing)
    seen = counts.total.within("count_over_time(count((", f"\n))[{HOUR}])")
    return MetricQuestion(grown.resolve(known), read_at), MetricQuestion(
        seen.resolve(known), read_at
    )


def read_traffic(
    counts: Counts, version: str, grown: Answer, seen: Answer
) -> MeasuredTraffic | Measurement:
    """Return what the answers to `ask_traffic` say, or why the check could not use them either."""
    found = {each.counted: each.value for each in _finite(grown)}
    steps = sum(each.value for each in _finite(seen))
    seconds = min(HOUR_SECONDS, steps * STEP_SECONDS)
    total = found.get(Counted.TOTAL, 0.0)
    if steps < _LEAST_STEPS:
        return no_data(
            f"{version} is too young, or its counters are not found: the last hour has"
            f" fewer than {_LEAST_STEPS} readings of them, {STEP_SECONDS:.0f}s apart; ask again in"
            " a minute, or give --traffic and --rate"
        )
    if not total > 0:
        return MeasuredTraffic((version,), 0.0, 0.0, seconds)
    if counts.computes_bad and Counted.BAD not in found:
        return no_data(NO_COMPUTED_BAD)
    if found.get(Counted.BAD, 0.0) > total:
        return unfit(describe_more_bad(found[Counted.BAD], total))
    return MeasuredTraffic((version,), found.get(Counted.BAD, 0.0), total, seconds)


def add_traffic(found: Sequence[MeasuredTraffic]) -> MeasuredTraffic | Measurement:
    """Return what all versions counted together, or that they counted nothing."""
    traffic = reduce(MeasuredTraffic.plus, found)
    if not traffic.total > 0:
        versions = " and ".join(traffic.versions)
        return no_data(f"no traffic of {versions} is seen in the last hour")
    return traffic


def _finite(answer: Answer) -> Iterator[Series]:
    series = answer.series if isinstance(answer, Samples) else ()
    return (each for each in series if math.isfinite(each.value))
