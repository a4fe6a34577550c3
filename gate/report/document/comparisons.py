"""The course of the comparisons by counts: what each look found, and when the check was decided."""

from __future__ import annotations

from gate.core.checks.run import CheckRun
from gate.core.frozen import dataclass
from gate.core.statistics.count_estimate import find_interval
from gate.core.statistics.count_evidence import CountEvidence

MOST_LOOKS = 120


@dataclass(frozen=True, slots=True)
class Look:
    """All counts up to a look, and the interval of the ratio by the tests of that look.

    `high` is infinite where the counts do not bound the ratio.
    """

    at: float
    evidence: CountEvidence
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ComparisonCourse:
    """The looks of one comparison, thinned out; times are those of the attempt's clock.

    `decided_at` is when a look failed or first passed it, None before. `has_failed` is whether one
    failed it: what has passed may yet be failed by the end of the phase.
    """

    looks: tuple[Look, ...] = ()
    decided_at: float | None = None
    has_failed: bool = False

    def after_run(self, run: CheckRun) -> ComparisonCourse:
        """Return the course with the latest look, if the run has one that is not yet in it."""
        counts = run.counts
        if counts is None:
            return self
        evidence = counts.evidence
        known = self.looks[-1].evidence.ticks if self.looks else 0
        if evidence.ticks == known:
            return self
        if evidence.ticks < known:
            return ComparisonCourse().after_run(run)
        low, high = find_interval(counts.counts.rule, evidence)
        looks = (*self.looks, Look(run.last_at, evidence, low, high))
        decided_at = self.decided_at
        has_failed = run.failure is not None
        if has_failed or (counts.passed and decided_at is None):
            decided_at = run.last_at
        return ComparisonCourse(_thin_out(looks, decided_at), decided_at, has_failed)


def _thin_out(looks: tuple[Look, ...], decided_at: float | None) -> tuple[Look, ...]:
    """If there are too many, drop every second look, but neither the last nor the deciding one."""
    if len(looks) <= MOST_LOOKS:
        return looks
    last = len(looks) - 1
    return tuple(
        look
        for number, look in enumerate(looks)
        if number % 2 == 0 or number == last or look.at == decided_at
    )
