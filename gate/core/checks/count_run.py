"""A comparison by counts over a phase: readings of both versions in, a measurement out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Final

from gate.core.checks.counter_answers import (
    NO_COMPUTED_BAD,
    count_series,
    describe_more_bad,
    lacks_bad,
    lacks_computed_bad,
    series_of,
    why_ageless,
    why_unusable,
)
from gate.core.checks.counter_readings import CounterReadings, Increase, NotCounterError
from gate.core.checks.look_times import LookTimes
from gate.core.checks.measurement import Measurement, make_fail, make_pass, no_data, unfit
from gate.core.checks.old_pods import FRESH_SECONDS, NO_OLD_PODS, OldPods
from gate.core.checks.query_variables import UNKNOWN_VERSIONS, ComparedVersions
from gate.core.checks.questions import Answers
from gate.core.checks.spec import ComparedPods, Counts
from gate.core.frozen import dataclass
from gate.core.statistics.count_decision import LEAST_TICKS, End, is_within_min_delta, judge
from gate.core.statistics.count_estimate import SOUGHT, Estimate, estimate, times_to_find
from gate.core.statistics.count_evidence import CountEvidence, CountTick, SideCounts

_SCRAPES_TO_BE_SEEN: Final = 2
"""In so many scrape intervals each version that serves is seen, though one scrape be missed."""
NOTHING_BEFORE: Final = "with no version before it to compare with: only a negligible rate passes"
"""What is said of a version that serves alone from the beginning, as the first one does."""


@dataclass(frozen=True, slots=True)
class CountRun:
    """What both versions have counted since the phase began; `passed` once that acquitted new.

    `silent_looks` is how many looks in a row the old version has served nothing, and no pod of it
    was known; beyond `most_silent_looks` it no longer serves. `old_pods` are the pods of the old
    version as they are known, `versions` the new and the old one that are asked about.
    """

    counts: Counts
    evidence: CountEvidence
    new: CounterReadings = field(default_factory=CounterReadings)
    old: CounterReadings = field(default_factory=CounterReadings)
    passed: bool = False
    silent_looks: int = 0
    most_silent_looks: int = LEAST_TICKS - 1
    old_pods: OldPods = NO_OLD_PODS
    looks: LookTimes = field(default_factory=LookTimes)
    versions: ComparedVersions = UNKNOWN_VERSIONS

    @classmethod
    def start(
        cls, counts: Counts, interval_seconds: float, versions: ComparedVersions = UNKNOWN_VERSIONS
    ) -> CountRun:
        """Begin where nothing has been read; between two scrapes no version seems to serve."""
        of_scrapes = math.ceil(_SCRAPES_TO_BE_SEEN * counts.scrape_seconds / interval_seconds)
        evidence = counts.rule.begin(most_joined=max(1, of_scrapes))
        silent_looks = max(LEAST_TICKS - 1, of_scrapes)
        return cls(counts, evidence, most_silent_looks=silent_looks, versions=versions)

    def after_break(self) -> CountRun:
        """Return the run after a time without looks, of which nothing is compared.

        Traffic may have moved between the versions meanwhile, as when their workload was scaled.
        """
        return replace(self, evidence=self.evidence.after_break())

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
        self, answers: Answers, at: float, old_pods: OldPods = NO_OLD_PODS
    ) -> tuple[CountRun, Measurement]:
        """Read both versions once more, and judge; an answer that cannot be used adds nothing.

        `at` is the time of the look, in seconds; `old_pods` are those of the old version that are
        known now.
        """
        wrong = why_unusable(answers) or self._why_ageless(answers)
        if wrong is not None:
            return self, wrong
        known = self.old_pods.after(old_pods)
        try:
            counted = known.fresh if self.compares_fresh else None
            usual = self.new.most_grown
            old, more_old = self.old, Increase()
            if answers.baseline is not None:
                old, more_old = self.old.plus(series_of(answers.baseline), counted, usual)
            new, more_new = self.new.plus(series_of(answers.value), None, old.most_grown)
        except NotCounterError as error:
            return self, unfit(str(error))
        after = replace(self, new=new, old=old, old_pods=known)
        if self.begins:
            seen = count_series(series_of(answers.value))
            return replace(after, looks=LookTimes(at, at)), no_data(f"counting starts here: {seen}")
        still = _SCRAPES_TO_BE_SEEN * self.counts.scrape_seconds
        tick = _tick(more_new, more_old, self.looks.span_until(at, still))
        reads = bool(series_of(answers.value) or series_of(answers.baseline))
        looks = self.looks.after(at, reads=reads, moves=tick.has_events)
        return self._judge(replace(after, looks=looks), tick)

    @property
    def compares_fresh(self) -> bool:
        """Whether fresh pods of the old version alone are compared with."""
        return self.counts.compared_pods is ComparedPods.FRESH

    def _why_ageless(self, answers: Answers) -> Measurement | None:
        """Return what keeps fresh pods from being told from others, None for nothing."""
        return why_ageless(answers.baseline) if self.compares_fresh else None

    def _judge(self, read: CountRun, tick: CountTick) -> tuple[CountRun, Measurement]:
        """Judge with one tick more, which was `read`."""
        evidence = self.evidence.plus(tick)
        silent = 0 if tick.total_old or read.old_pods.are_there else self.silent_looks + 1
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
        is_open = end is End.UNDECIDED and not self.passed
        if is_open:
            return no_data(self.describe_undecided(at_the_end=True), *self._rates)
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
            if lacks_computed_bad(self.counts, readings):
                return no_data(f"of the {name} version {NO_COMPUTED_BAD}")
        return None

    def measure_as(self, end: End, figures: str) -> Measurement:
        """Return the measurement of an end; what has once passed fails or has passed."""
        message, rates = f"{self.describe()}{figures}", self._rates
        if end is End.WORSE:
            compared = self.evidence.compared
            return make_fail(message, compared.new.rate, compared.old.rate)
        passed = self.passed or end is End.NOT_HARMFUL
        return make_pass(message, *rates) if passed else no_data(message, *rates)

    @property
    def _rates(self) -> tuple[float | None, float | None]:
        new, old = self.evidence.new, self.evidence.old
        return new.rate if new.total else None, old.rate if old.total else None

    # -- in words ----------------------------------------------------------------------------------

    def estimate(self, *, at_the_end: bool) -> Estimate:
        """Return the figures so far."""
        return estimate(self.counts.rule, self.evidence, at_the_end=at_the_end)

    def describe(self) -> str:
        """Say what was counted, and what of it is compared, where that is not all."""
        new, old = self.evidence.new, self.evidence.old
        known = f"of {self._old_words} {_of(old)}" if self.old.readings else NOTHING_BEFORE
        return f"{_of(new)} bad, {known}{self._describe_ratio()}{self._describe_missing()}"

    def _describe_ratio(self) -> str:
        compared = self.evidence.compared
        times = "" if compared.ratio is None else f", {compared.ratio:.3g} times the rate"
        if times and compared.sums_mislead:
            times += " look by look"
        seen = compared.new.total, compared.old.total
        if not compared.ticks or seen == (self.evidence.new.total, self.evidence.old.total):
            return times
        return f"; while both served {_of(compared.new)} against {_of(compared.old)}{times}"

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
        silent = [name for side, name in sides if lacks_bad(side)]
        if not silent:
            return ""
        whose = "neither version" if len(silent) == len(sides) else f"the {silent[0]} version"
        what = "a series" if len(silent) == len(sides) else "no series"
        return f" ({whose} has {what} of bad, which counts as 0)"

    def describe_undecided(self, *, at_the_end: bool) -> str:
        """Say first why nothing is decided, then what was counted, and the figures."""
        numbers = f"{self.describe()}{self.describe_figures(at_the_end=at_the_end)}"
        if not self.old.readings:
            return numbers
        return f"{self.why_undecided(at_the_end=at_the_end)}: {numbers}"

    def why_undecided(self, *, at_the_end: bool) -> str:
        """Say why nothing is decided, however much was counted."""
        doubt = self.why_unjudged()
        if doubt is not None:
            return doubt.message
        if not self.old.readings:
            return NOTHING_BEFORE
        return "; ".join(self._why_undecided(at_the_end=at_the_end))

    def _why_undecided(self, *, at_the_end: bool) -> Iterator[str]:
        new, old = self.evidence.new, self.evidence.old
        if self.compares_fresh and not self.old_pods.fresh:
            yield f"no old pod was started within {FRESH_SECONDS:.0f}s of a new one"
            return
        if not new.total or not old.total:
            fresh = "fresh pods of the " if self.compares_fresh else ""
            side = "new" if not new.total else f"{fresh}old"
            yield f"the {side} version served nothing meanwhile"
            return
        if self._old_is_gone:
            yield self._gone_words
        yield from self._describe_lack(at_the_end=at_the_end)

    def _describe_lack(self, *, at_the_end: bool) -> Iterator[str]:
        """Say for how long both served, if that was too short, and how long would do.

        Else where the ratio is.
        """
        compared, rule = self.evidence.compared, self.counts.rule
        looks, enough = compared.ticks, self.enough_seconds
        is_short = enough is not None and enough > self.shared_seconds
        low = self.estimate(at_the_end=at_the_end).low
        if self._old_is_gone or is_short or looks < LEAST_TICKS:
            seen = f" ({looks} looks, of at least {LEAST_TICKS})" if looks < LEAST_TICKS else ""
            yield f"both served together for {self.shared_seconds:,.0f}s{seen}"
        if looks and not compared.new.bad + compared.old.bad:
            yield "without a bad one while both served there is no ratio"
        elif low > rule.tolerated and is_within_min_delta(rule, compared):
            yield f"the new rate is at most {rule.min_delta:g} (min-delta) above the old one"
        elif is_short and enough is not None:
            yield f"to find twice as bad takes about {enough:,.0f}s"
        elif looks >= LEAST_TICKS:
            yield f"neither above {rule.tolerated:g} nor below {rule.harm:g} times is shown"

    @property
    def shared_seconds(self) -> float:
        """For how long looks saw both versions serve, 0.0 for never."""
        return self.evidence.compared.seconds

    @property
    def enough_seconds(self) -> float | None:
        """For how long both would have to serve like that to find SOUGHT four times in five.

        None where the counts do not tell.
        """
        times = times_to_find(self.counts.rule, self.evidence, SOUGHT)
        if times is None or not self.shared_seconds:
            return None
        return max(times, LEAST_TICKS / self.evidence.compared.ticks) * self.shared_seconds

    def describe_figures(self, *, at_the_end: bool) -> str:
        """Say the interval, and which ratio could have been shown; "" where there is none."""
        compared = self.evidence.compared
        if not compared.ticks or not compared.new.bad + compared.old.bad:
            return ""
        found = self.estimate(at_the_end=at_the_end)
        least, most = f"{found.low:.3g}", f"{found.high:.3g}"
        interval = f"at least {least}" if math.isinf(found.high) else f"{least} to {most}"
        return f", likely {interval}; {describe_power(found.detectable)}"


def describe_power(detectable: float | None) -> str:
    """Say which true ratio the traffic would have failed four times in five, None for none."""
    if detectable is None:
        return "with this traffic no version fails, however bad"
    return f"with this traffic {detectable:.3g} times as bad fails four times in five"


def _tick(new: Increase, old: Increase, seconds: float) -> CountTick:
    return CountTick(new.bad, new.total, old.bad, old.total, seconds)


def _of(side: SideCounts) -> str:
    return f"{side.bad:,.0f} of {side.total:,.0f}"
