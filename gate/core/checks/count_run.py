"""A comparison by counts over a phase: readings of both versions in, a measurement out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gate.core.checks.counter_readings import CounterReadings, Increase, NotCounterError
from gate.core.checks.measurement import Measurement, make_fail, make_pass, no_data, unfit
from gate.core.checks.questions import Answer, Answers, Counted, Form, Samples, Series
from gate.core.checks.spec import Counts
from gate.core.statistics.count_decision import LEAST_TICKS, End, judge
from gate.core.statistics.count_estimate import Estimate, estimate
from gate.core.statistics.count_evidence import CountEvidence, CountTick, SideCounts


@dataclass(frozen=True, slots=True)
class CountRun:
    """What both versions have counted since the phase began; `passed` once that acquitted new.

    `silent_looks` is how many looks in a row the old version has served nothing.
    """

    counts: Counts
    evidence: CountEvidence
    new: CounterReadings = field(default_factory=CounterReadings)
    old: CounterReadings = field(default_factory=CounterReadings)
    passed: bool = False
    silent_looks: int = 0

    @classmethod
    def start(cls, counts: Counts) -> CountRun:
        """Begin where nothing has been read."""
        return cls(counts, counts.rule.begin())

    @property
    def begins(self) -> bool:
        """Whether the next reading is the one where counting starts."""
        return not self.new.readings

    @property
    def settled(self) -> bool:
        """Whether more looks would show nothing new: it has passed, or old no longer serves.

        Without old a version passes by a negligible rate alone, as long as that is still in reach.
        """
        return self.passed or (self._old_is_gone and self._is_noticeable)

    @property
    def _old_is_gone(self) -> bool:
        return self.silent_looks >= LEAST_TICKS

    @property
    def _is_noticeable(self) -> bool:
        return self.evidence.new.rate > self.counts.rule.negligible

    def after_answers(self, answers: Answers) -> tuple[CountRun, Measurement]:
        """Read both versions once more, and judge; an answer that cannot be used adds nothing."""
        wrong = _why_unusable(answers)
        if wrong is not None:
            return self, wrong
        try:
            new, more_new = self.new.plus(_series(answers.value))
            old, more_old = self.old.plus(_series(answers.baseline))
        except NotCounterError as error:
            return self, unfit(str(error))
        if self.begins:
            seen = _count_series(_series(answers.value))
            return replace(self, new=new, old=old), no_data(f"counting starts here: {seen}")
        return self._judge(new, old, _tick(more_new, more_old))

    def _judge(
        self, new: CounterReadings, old: CounterReadings, tick: CountTick
    ) -> tuple[CountRun, Measurement]:
        evidence = self.evidence.plus(tick)
        for side, name in ((evidence.new, "new"), (evidence.old, "old")):
            if side.bad > side.total:
                return self, unfit(
                    f"the {name} version has more bad events ({side.bad:g}) than events at all"
                    f" ({side.total:g}): bad has to select some of total"
                )
        end = judge(self.counts.rule, evidence)
        passed = self.passed or end is End.NOT_HARMFUL
        silent = 0 if tick.total_old else self.silent_looks + 1
        after = replace(
            self, evidence=evidence, new=new, old=old, passed=passed, silent_looks=silent
        )
        figures = after.describe_figures(at_the_end=False) if end is End.WORSE else ""
        return after, after.measure_as(end, figures)

    def at_the_end(self) -> Measurement:
        """Judge all that was read, when there is no more to come."""
        end = judge(self.counts.rule, self.evidence, at_the_end=True)
        return self.measure_as(end, self.describe_figures(at_the_end=True))

    def measure_as(self, end: End, figures: str) -> Measurement:
        """Return the measurement of an end; what has once passed fails or has passed."""
        new, old = self.evidence.new, self.evidence.old
        rates = (new.rate if new.total else None, old.rate if old.total else None)
        message = f"{self.describe()}{figures}"
        if end is End.WORSE:
            return make_fail(message, *rates)
        passed = self.passed or end is End.NOT_HARMFUL
        return make_pass(message, *rates) if passed else no_data(message, *rates)

    # -- in words ----------------------------------------------------------------------------------

    def estimate(self, *, at_the_end: bool) -> Estimate:
        """Return the figures so far."""
        return estimate(self.counts.rule, self.evidence, at_the_end=at_the_end)

    def describe(self) -> str:
        """Say what was counted."""
        new, old, ratio = self.evidence.new, self.evidence.old, self.evidence.ratio
        times = "" if ratio is None else f", {ratio:.3g} times the rate"
        return f"{_of(new)} bad, of the old version {_of(old)}{times}{self._describe_missing()}"

    def _describe_missing(self) -> str:
        """Say of which version no counter of bad events exists, which may also be a typo."""
        missing = [
            name
            for name, readings in (("new", self.new), ("old", self.old))
            if readings.counts(Counted.TOTAL) and not readings.counts(Counted.BAD)
        ]
        if not missing:
            return ""
        where = "either version" if len(missing) > 1 else f"the {missing[0]} version"
        return f" (no series of bad in {where}, which counts as 0)"

    def describe_figures(self, *, at_the_end: bool) -> str:
        """Say the interval, and what could have been shown; where nothing could, why."""
        new, old = self.evidence.new, self.evidence.old
        if not new.total or not old.total:
            side = "new" if not new.total else "old"
            return f"; the {side} version served nothing meanwhile"
        gone = "; the old version no longer serves" if self._old_is_gone else ""
        if not new.bad + old.bad:
            return f"; without a bad one there is no ratio{gone}"
        found = self.estimate(at_the_end=at_the_end)
        least, most = f"{found.low:.3g}", f"{found.high:.3g}"
        interval = f"at least {least}" if math.isinf(found.high) else f"{least} to {most}"
        detectable = "no ratio" if found.detectable is None else f"{found.detectable:.3g} times"
        return f", likely {interval}; this traffic could show {detectable}{gone}"


def look_once(counts: Counts, answers: Answers) -> Measurement:
    """Say whether the counters of a version are there; one look compares nothing."""
    wrong = _why_unusable(answers)
    if wrong is not None:
        return wrong
    series = _series(answers.value)
    try:
        CounterReadings().plus(series)
    except NotCounterError as error:
        return unfit(str(error))
    totals = [each.value for each in series if each.counted is Counted.TOTAL]
    if not totals:
        return no_data("no series of total")
    bad = sum(each.value for each in series if each.counted is Counted.BAD)
    if bad > sum(totals):
        return unfit(
            f"more bad events ({bad:g}) than events at all ({sum(totals):g}): bad has to select"
            " some of total"
        )
    seen = _count_series(series)
    if counts.compares:
        return no_data(f"{seen}; one look compares nothing, a rollout does")
    return make_pass(seen, bad / sum(totals) if sum(totals) else None)


def _count_series(series: Iterable[Series]) -> str:
    """Say how many counters there are; of bad events there need not be any."""
    kinds = [each.counted for each in series]
    bad, total = kinds.count(Counted.BAD), kinds.count(Counted.TOTAL)
    nothing = ", which counts as 0" if total and not bad else ""
    return f"{total} series of total, {bad} of bad{nothing}"


def _why_unusable(answers: Answers) -> Measurement | None:
    for answer in (answers.value, answers.baseline):
        if isinstance(answer, Samples) and answer.form is not Form.VECTOR:
            return unfit(f"the query gives a {answer.form}; counters are a vector")
        if isinstance(answer, Samples) and answer.remarks:
            return no_data(f"partial: {answer.remarks[0]}")
    return None


def _series(answer: Answer | None) -> tuple[Series, ...]:
    return answer.series if isinstance(answer, Samples) else ()


def _tick(new: Increase, old: Increase) -> CountTick:
    return CountTick(new.bad, new.total, old.bad, old.total)


def _of(side: SideCounts) -> str:
    return f"{side.bad:,.0f} of {side.total:,.0f}"
