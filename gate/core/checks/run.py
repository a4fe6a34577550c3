"""A check over time: a fold of measurements on a fixed grid, and what it concludes at the end.

Errors never end a check by themselves, and a check that never ran has not passed.
"""

from __future__ import annotations

import enum
import math
from dataclasses import field, replace
from typing import Final

from gate.core.checks.baseline_comparison import Pairs
from gate.core.checks.count_run import CountRun
from gate.core.checks.measurement import (
    Kind,
    Measurement,
    measure_error,
    no_data,
    nothing_before,
    unaskable,
)
from gate.core.checks.metric_measurement import by_test
from gate.core.checks.old_pods import NO_OLD_PODS, OldPods
from gate.core.checks.query_variables import UNKNOWN_VERSIONS, ComparedVersions
from gate.core.checks.questions import Answers, Errored, Trouble
from gate.core.checks.sample_spacing import overlaps, sample_test
from gate.core.checks.spec import Check, Counts, without_comparison
from gate.core.checks.tick_grid import Tick, TickGrid
from gate.core.checks.tick_measurement import measure
from gate.core.checks.tick_questions import Unaskable
from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason

_NO_ANSWER: Final = "asked, and the answer did not come in time"
"""Of a question that the end of the phase did not wait for any longer."""


class ConclusionKind(enum.StrEnum):
    """What a check says about a version."""

    UNDECIDED = "undecided"
    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a check concludes, and why in one line; `reason` is None if undecided or passed."""

    kind: ConclusionKind
    message: CleanText
    reason: Reason | None = None
    check: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """What was measured so far; `unasked` are ticks at which nothing could be asked."""

    passes: int = 0
    failures: int = 0
    no_data: int = 0
    unasked: int = 0
    errors: int = 0
    consecutive_failures: int = 0
    consecutive_errors: int = 0

    @property
    def measured(self) -> int:
        """How many measurements were taken; errors do not count."""
        return self.passes + self.failures + self.no_data

    def plus(self, kind: Kind) -> Tally:
        """Count one more. No data neither ends nor continues a row of failures."""
        if kind is Kind.ERROR:
            in_a_row = self.consecutive_errors + 1
            return replace(self, errors=self.errors + 1, consecutive_errors=in_a_row)
        answered = replace(self, consecutive_errors=0)
        if kind is Kind.PASS:
            return replace(answered, passes=self.passes + 1, consecutive_failures=0)
        if kind is Kind.FAIL:
            in_a_row = self.consecutive_failures + 1
            return replace(answered, failures=self.failures + 1, consecutive_failures=in_a_row)
        return replace(answered, no_data=self.no_data + 1)


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One check in its phase; times are monotonic seconds.

    `outstanding` is the tick that was asked and has no answer yet. `failure` is the measurement
    that decided, `counts` what a comparison by counts has read.
    """

    check: Check
    grid: TickGrid
    tally: Tally = field(default_factory=Tally)
    outstanding: Tick | None = None
    last: Measurement | None = None
    last_pass_at: float = -math.inf
    last_at: float = -math.inf
    failure: Measurement | None = None
    pairs: Pairs = field(default_factory=Pairs)
    counts: CountRun | None = None

    @classmethod
    def start(
        cls, check: Check, at: float, versions: ComparedVersions = UNKNOWN_VERSIONS
    ) -> CheckRun:
        """Begin at the start of its phase, about these versions."""
        schedule = check.schedule
        grid = TickGrid(at + schedule.initial_delay_seconds, schedule.interval_seconds)
        counts = None
        if isinstance(check.probe, Counts):
            counts = CountRun.start(check.probe, schedule.interval_seconds, versions)
        return cls(check, grid, counts=counts)

    def start_again(self, at: float, versions: ComparedVersions) -> CheckRun:
        """Begin a bake window again; a comparison by counts of the same versions goes on.

        It looks as soon as it is due: it has begun, and waits for no warm-up again.
        """
        if self.counts is None or self.counts.versions != versions:
            return CheckRun.start(self.check, at, versions)
        return replace(self, outstanding=None, counts=self.counts.after_break())

    @property
    def last_kind(self) -> Kind | None:
        """What the last tick said, None before any was asked."""
        asked = self.tally.measured + self.tally.errors
        return self.last.kind if self.last is not None and asked else None

    # -- when to ask -------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether nothing more is asked: it has failed, or its count is reached."""
        count = self.check.schedule.count
        return self.failure is not None or (count is not None and self.tally.measured >= count)

    @property
    def settled(self) -> bool:
        """Whether it needs no more time: nothing is asked, or more looks would show nothing new."""
        if self.counts is not None and self.counts.settled:
            return True
        return self.finished or self._has_nothing_to_ask

    @property
    def _has_nothing_to_ask(self) -> bool:
        """Whether it compares with a version that does not serve, and will not."""
        return self.last is not None and self.last.kind is Kind.NO_DATA and self.last.permanent

    @property
    def begins(self) -> bool:
        """Whether counting starts with the next question."""
        return self.counts is not None and self.counts.begins

    @property
    def wake_at(self) -> float:
        """Return when to ask next; infinity while an answer is awaited, or once it is finished."""
        if self.finished or self.outstanding is not None:
            return math.inf
        return self.grid.next_at

    def due(self, now: float) -> Tick | None:
        """Return the tick to ask at `now`, None while there is none.

        Of several that are due it is the latest: missed ones are not made up for.
        """
        return None if self.wake_at > now else self.grid.latest(now)

    # -- what came back ----------------------------------------------------------------------------

    def after_question(self, tick: Tick) -> CheckRun:
        """Await the answer to a tick; ValueError while another one is awaited."""
        if self.outstanding is not None:
            raise ValueError(f"{self.check.name} awaits the answer of {self.outstanding}")
        return replace(self, outstanding=tick, grid=self.grid.after_question(tick))

    def after_answer(
        self, tick: Tick, at: float, answers: Answers, old_pods: OldPods = NO_OLD_PODS
    ) -> CheckRun:
        """Measure what came back at `at`; ValueError unless that tick is awaited.

        `old_pods` are needed by a comparison by counts.
        """
        if self.counts is not None:
            counts, what = self.counts.after_answers(answers, tick.at, old_pods)
            return replace(self.after_measurement(tick, at, what), counts=counts)
        if sample_test(self.check) is not None and overlaps(self.check, self.pairs.at, tick.at):
            return self._between_samples(tick, at, answers)
        return self.after_measurement(tick, at, measure(self.check, answers, self.pairs))

    def _between_samples(self, tick: Tick, at: float, answers: Answers) -> CheckRun:
        """Judge a value whose window overlaps the last sample's by its bounds alone.

        A value within them is no measurement: what the samples have said so far still holds.
        """
        what = measure(without_comparison(self.check), answers)
        if what.kind is not Kind.PASS:
            return self.after_measurement(tick, at, what)
        self._require_awaited(tick)
        still_passes = self.last_kind is Kind.PASS
        return replace(
            self,
            tally=replace(self.tally, consecutive_errors=0),
            outstanding=None,
            last_pass_at=at if still_passes else self.last_pass_at,
        )

    def after_error(self, tick: Tick, at: float, error: Errored) -> CheckRun:
        """Record that there was no answer; it is asked again. ValueError as for `after_answer`.

        If the source was not even asked, there is no error of its own.
        """
        if error.trouble is Trouble.NOT_ASKED:
            return self._not_asked(tick, at, no_data(error.why))
        return self.after_measurement(tick, at, measure_error(error))

    def after_unaskable(self, tick: Tick, at: float, why: Unaskable) -> CheckRun:
        """Record that nothing could be asked, which uses up no count. ValueError as above."""
        what = nothing_before() if why.is_alone else unaskable(why.missing)
        return self._not_asked(tick, at, what)

    def _not_asked(self, tick: Tick, at: float, what: Measurement) -> CheckRun:
        self._require_awaited(tick)
        tally = replace(self.tally, unasked=self.tally.unasked + 1)
        return replace(self, tally=tally, outstanding=None, last=what, last_at=at)

    def after_measurement(self, tick: Tick, at: float, what: Measurement) -> CheckRun:
        """Fold one measurement; ValueError unless that tick is awaited."""
        self._require_awaited(tick)
        tally = self.tally.plus(what.kind)
        erred = what.kind is Kind.ERROR
        retry_at = at + self.check.schedule.retry_seconds if erred else math.inf
        return replace(
            self,
            tally=tally,
            outstanding=None,
            grid=replace(self.grid, retry_at=retry_at),
            last=what,
            last_at=at,
            last_pass_at=at if what.kind is Kind.PASS else self.last_pass_at,
            failure=what if self._failed_by(tally, what) else None,
            pairs=self._with_pair(tick, what),
        )

    def _require_awaited(self, tick: Tick) -> None:
        if self.outstanding != tick:
            raise ValueError(f"{self.check.name} awaits no answer of {tick}")

    def _failed_by(self, tally: Tally, what: Measurement) -> bool:
        if what.kind is not Kind.FAIL:
            return False
        bears = self.check.tolerances
        if bears.consecutive_failures is not None:
            return tally.consecutive_failures >= bears.consecutive_failures
        return tally.failures > bears.allowed_failures

    def _with_pair(self, tick: Tick, what: Measurement) -> Pairs:
        if sample_test(self.check) is None or what.value is None or what.baseline is None:
            return self.pairs
        finite = math.isfinite(what.value) and math.isfinite(what.baseline)
        return self.pairs.plus(what.value, what.baseline, tick.at) if finite else self.pairs

    # -- what it says ------------------------------------------------------------------------------

    @property
    def verdict_so_far(self) -> Conclusion:
        """Return a failure as soon as there is one, undecided until then."""
        if self.failure is not None:
            return self._says(ConclusionKind.FAIL, self.failure.message, Reason.CHECK_FAILED)
        return self._says(ConclusionKind.UNDECIDED, self.last.message if self.last else "")

    def conclude(self, now: float) -> Conclusion:
        """Return what the check says at the end of its phase."""
        if self.counts is not None and self.failure is None:
            return self._conclude_counts(self.counts)
        failed = self._failed_at_the_end()
        if failed is not None:
            return failed
        kind, doubt = ConclusionKind.INCONCLUSIVE, self._doubt(now)
        if doubt is None:
            return self._says(ConclusionKind.PASS, self.last.message if self.last else "")
        errors = self.tally.consecutive_errors
        if errors > self.check.tolerances.allowed_consecutive_errors:
            return self._says(kind, doubt, Reason.CHECK_ERROR)
        return self._says(kind, doubt, Reason.CHECK_INCONCLUSIVE)

    def _conclude_counts(self, counts: CountRun) -> Conclusion:
        """Return what all counts together say; what has passed by them does not grow old."""
        judged = counts.at_the_end()
        if judged.kind is Kind.FAIL:
            return self._says(ConclusionKind.FAIL, judged.message, Reason.CHECK_FAILED)
        if judged.kind is Kind.PASS:
            return self._says(ConclusionKind.PASS, judged.message)
        kind, reason = ConclusionKind.INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE
        if judged.kind is Kind.ERROR:
            return self._says(kind, judged.message, Reason.CHECK_ERROR)
        errors = self.tally.consecutive_errors
        if errors > self.check.tolerances.allowed_consecutive_errors:
            return self._says(kind, self._doubt(self.last_at) or "", Reason.CHECK_ERROR)
        if self.last is None or not counts.evidence.ticks:
            return self._says(kind, self._last_words or "never ran", reason)
        return self._says(kind, judged.message, reason)

    def _failed_at_the_end(self) -> Conclusion | None:
        """Return the failure so far, or the one that all samples together show."""
        if self.failure is not None:
            return self.verdict_so_far
        test = sample_test(self.check)
        if test is None or not len(self.pairs):
            return None
        judged = by_test(test, self.pairs)
        if judged.kind is not Kind.FAIL:
            return None
        return self._says(ConclusionKind.FAIL, judged.message, Reason.CHECK_FAILED)

    @property
    def _last_words(self) -> str:
        """Say what came of the last tick, "" before any was due."""
        if self.outstanding is not None:
            return _NO_ANSWER
        return self.last.message if self.last is not None else ""

    def _doubt(self, now: float) -> str | None:
        """Return why the check is inconclusive, None if it is not."""
        tally, bears = self.tally, self.check.tolerances
        said = self._last_words
        last = f"; last: {said}" if said else ""
        if tally.consecutive_errors > bears.allowed_consecutive_errors:
            return f"{tally.consecutive_errors} errors in a row{last}"
        if bears.allowed_no_data is not None and tally.no_data > bears.allowed_no_data:
            return f"{tally.no_data} times no data{last}"
        if self._has_nothing_to_ask and self.last is not None:
            return self.last.message
        if tally.passes < bears.min_passes:
            return f"{tally.passes} of {bears.min_passes} passes{last}" if last else "never ran"
        age = (self.last_at if self.finished else now) - self.last_pass_at
        if age > self.check.max_age_seconds:
            return f"the last pass is {age:.0f}s old{last}"
        return None

    def _says(self, kind: ConclusionKind, message: str, reason: Reason | None = None) -> Conclusion:
        return Conclusion(kind, CleanText(message), reason, self.check.name)
