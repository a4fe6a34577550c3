"""A comparison by counts over a phase: readings of both versions in, a measurement out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from gate.core.checks.counter_readings import CounterReadings, Increase, NotCounterError
from gate.core.checks.measurement import Measurement, make_fail, make_pass, no_data, unfit
from gate.core.checks.old_pods import FRESH_SECONDS, NO_OLD_PODS, OldPods
from gate.core.checks.questions import Answer, Answers, Counted, Form, Samples, Series
from gate.core.checks.spec import ComparedPods, Counts
from gate.core.statistics.count_decision import LEAST_TICKS, End, judge
from gate.core.statistics.count_estimate import Estimate, estimate
from gate.core.statistics.count_evidence import CountEvidence, CountTick, SideCounts

_SCRAPES_TO_BE_GONE: Final = 2
NO_COMPUTED_BAD: Final = (
    "bad gives no series although total does: one that it is computed from does not exist, as a"
    " bucket, or their labels are unequal, which takes ignoring(...) or on(...)"
)

NOTHING_BEFORE: Final = "with no version before it to compare with: only a negligible rate passes"
"""What is said of a version that serves alone from the beginning, as the first one does."""


@dataclass(frozen=True, slots=True)
class CountRun:
    """What both versions have counted since the phase began; `passed` once that acquitted new.

    `silent_looks` is how many looks in a row the old version has served nothing; beyond
    `most_silent_looks` it no longer serves. `old_pods` are kept where the fresh ones of them alone
    are compared with.
    """

    counts: Counts
    evidence: CountEvidence
    new: CounterReadings = field(default_factory=CounterReadings)
    old: CounterReadings = field(default_factory=CounterReadings)
    passed: bool = False
    silent_looks: int = 0
    most_silent_looks: int = LEAST_TICKS - 1
    old_pods: OldPods = NO_OLD_PODS

    @classmethod
    def start(cls, counts: Counts, interval_seconds: float) -> CountRun:
        """Begin where nothing has been read; between two scrapes no version seems to serve."""
        of_scrapes = math.ceil(_SCRAPES_TO_BE_GONE * counts.scrape_seconds / interval_seconds)
        return cls(counts, counts.rule.begin(), most_silent_looks=max(LEAST_TICKS - 1, of_scrapes))

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
        return self.silent_looks > self.most_silent_looks

    @property
    def _is_noticeable(self) -> bool:
        return self.evidence.new.rate > self.counts.rule.negligible

    def after_answers(
        self, answers: Answers, old_pods: OldPods = NO_OLD_PODS
    ) -> tuple[CountRun, Measurement]:
        """Read both versions once more, and judge; an answer that cannot be used adds nothing.

        `old_pods` are those of the old version that are known now.
        """
        wrong = _why_unusable(answers) or self._why_ageless(answers)
        if wrong is not None:
            return self, wrong
        known = self.old_pods.after(old_pods)
        try:
            counted = known.fresh if self.compares_fresh else None
            usual = self.new.most_grown
            old, more_old = self.old, Increase()
            if answers.baseline is not None:
                old, more_old = self.old.plus(_series(answers.baseline), counted, usual)
            new, more_new = self.new.plus(_series(answers.value), None, old.most_grown)
        except NotCounterError as error:
            return self, unfit(str(error))
        after = replace(self, new=new, old=old, old_pods=known)
        if self.begins:
            seen = _count_series(_series(answers.value))
            return after, no_data(f"counting starts here: {seen}")
        return self._judge(after, _tick(more_new, more_old))

    @property
    def compares_fresh(self) -> bool:
        """Whether fresh pods of the old version alone are compared with."""
        return self.counts.compared_pods is ComparedPods.FRESH

    def _why_ageless(self, answers: Answers) -> Measurement | None:
        """Return what keeps fresh pods from being told from others, None for nothing."""
        return _name_missing_label(answers.baseline) if self.compares_fresh else None

    def _judge(self, read: CountRun, tick: CountTick) -> tuple[CountRun, Measurement]:
        """Judge with one tick more, which was `read`."""
        evidence = self.evidence.plus(tick)
        silent = 0 if tick.total_old else self.silent_looks + 1
        read = replace(read, evidence=evidence, silent_looks=silent)
        doubt = read.why_unjudged()
        if doubt is not None:
            return read, doubt
        end = judge(self.counts.rule, evidence)
        passed = self.passed or end is End.NOT_HARMFUL
        after = replace(read, passed=passed)
        figures = after.describe_figures(at_the_end=False) if end is End.WORSE else ""
        return after, after.measure_as(end, figures)

    def at_the_end(self) -> Measurement:
        """Judge all that was read, when there is no more to come."""
        doubt = self.why_unjudged()
        if doubt is not None:
            return doubt
        end = judge(self.counts.rule, self.evidence, at_the_end=True)
        return self.measure_as(end, self.describe_figures(at_the_end=True))

    def why_unjudged(self) -> Measurement | None:
        """Return why the series are not judged, however much they count; None if they are."""
        new, old = (self.new, self.evidence.new, "new"), (self.old, self.evidence.old, "old")
        for readings, sums, name in (new, old):
            gauge = readings.why_gauge()
            if gauge:
                return unfit(f"{gauge} (the {name} version)")
            if sums.bad > sums.total:
                return unfit(f"the {name} version has {describe_more_bad(sums.bad, sums.total)}")
            if _lacks_computed_bad(self.counts, readings):
                return no_data(f"of the {name} version {NO_COMPUTED_BAD}")
        return None

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
        compared = (
            f"of {self._old_words} {_of(old)}{times}" if self.old.readings else NOTHING_BEFORE
        )
        return f"{_of(new)} bad, {compared}{self._describe_missing()}"

    @property
    def _gone_words(self) -> str:
        if self.compares_fresh:
            return "the fresh old pods no longer serve"
        return "the old version no longer serves"

    @property
    def _old_words(self) -> str:
        if not self.compares_fresh:
            return "the old version"
        pods = len(self.old_pods.fresh)
        return f"{pods} fresh old pod{'' if pods == 1 else 's'}"

    def _describe_missing(self) -> str:
        """Say whose bad events have no series: there were none, or the query misses them."""
        sides = ((self.new, "new"), (self.old, "old"))
        silent = [name for side, name in sides if _lacks_bad(side)]
        if not silent:
            return ""
        whose = "neither version" if len(silent) == len(sides) else f"the {silent[0]} version"
        what = "a series" if len(silent) == len(sides) else "no series"
        return f" ({whose} has {what} of bad, which counts as 0)"

    def describe_figures(self, *, at_the_end: bool) -> str:
        """Say the interval, and what could have been shown; where nothing could, why."""
        new, old = self.evidence.new, self.evidence.old
        if not self.old.readings:
            return ""
        if self.compares_fresh and not self.old_pods.fresh:
            return f"; no old pod was started within {FRESH_SECONDS:.0f}s of a new one"
        if not new.total or not old.total:
            fresh = "fresh pods of the " if self.compares_fresh else ""
            side = "new" if not new.total else f"{fresh}old"
            return f"; the {side} version served nothing meanwhile"
        gone = f"; {self._gone_words}" if self._old_is_gone else ""
        if not new.bad + old.bad:
            return f"; without a bad one there is no ratio{gone}"
        found = self.estimate(at_the_end=at_the_end)
        least, most = f"{found.low:.3g}", f"{found.high:.3g}"
        interval = f"at least {least}" if math.isinf(found.high) else f"{least} to {most}"
        return f", likely {interval}; {self._describe_reach(found)}{gone}"

    def _describe_reach(self, found: Estimate) -> str:
        """Say which ratio could have been shown: none in less than the least looks."""
        looks = min(self.evidence.new.ticks, self.evidence.old.ticks)
        if looks < LEAST_TICKS:
            saw = "1 look saw" if looks == 1 else f"{looks} looks saw"
            return f"{saw} requests of both, which are not compared before {LEAST_TICKS} have"
        detectable = "no ratio" if found.detectable is None else f"{found.detectable:.3g} times"
        return f"this traffic could show {detectable}"


def _name_missing_label(answer: Answer | None) -> Measurement | None:
    """Return the error of series of which nobody can say which pod they are of."""
    if all(each.pod for each in _series(answer)):
        return None
    return unfit("a series has no label pod: which pods are fresh goes by it")


def look_once(counts: Counts, answers: Answers) -> Measurement:
    """Say whether the counters of a version are there; one look compares nothing."""
    wrong = _why_unusable(answers)
    if wrong is not None:
        return wrong
    series = _series(answers.value)
    try:
        read, _ = CounterReadings().plus(series)
    except NotCounterError as error:
        return unfit(str(error))
    ageless = counts.compared_pods is ComparedPods.FRESH and _name_missing_label(answers.value)
    if ageless:
        return ageless
    totals = [each.value for each in series if each.counted is Counted.TOTAL]
    if not totals:
        return no_data("no series of total")
    if _lacks_computed_bad(counts, read):
        return no_data(NO_COMPUTED_BAD)
    bad = sum(each.value for each in series if each.counted is Counted.BAD)
    if bad > sum(totals):
        return unfit(describe_more_bad(bad, sum(totals)))
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


def _lacks_bad(side: CounterReadings) -> bool:
    return not side.has(Counted.BAD) and side.has(Counted.TOTAL)


def _lacks_computed_bad(counts: Counts, side: CounterReadings) -> bool:
    """Tell whether bad events are missing that would be there, as 0, were the query right."""
    return _lacks_bad(side) and counts.computes_bad


def describe_more_bad(bad: float, total: float) -> str:
    """Say that `bad` counts what `total` does not."""
    return (
        f"more bad events ({bad:g}) than events at all ({total:g}): bad has to select some of total"
    )


def _of(side: SideCounts) -> str:
    return f"{side.bad:,.0f} of {side.total:,.0f}"
