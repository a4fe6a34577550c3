"""Looks of a comparison by counts: checks, readings of both versions, runs of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gate.core.checks.count_run import CountRun
from gate.core.checks.old_pods import NO_OLD_PODS, OldPods
from gate.core.checks.query_template import Query
from gate.core.checks.questions import Answers, Counted, Form, Samples, Series
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind
from gate.core.checks.spec import Check, Counts, During, Schedule
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.statistics.count_decision import CountRule
from tests.unit.core.checks_world import ticked

PASS, FAIL = ConclusionKind.PASS, ConclusionKind.FAIL
INCONCLUSIVE, UNDECIDED = ConclusionKind.INCONCLUSIVE, ConclusionKind.UNDECIDED
Reading = tuple[float, float]
"""What a version has counted: bad events, and all of them."""


def counts(during: During = During.BAKE, **more: Any) -> Check:
    """Return a comparison of a bake window, asked every ten seconds."""
    bad = Query.parse('requests{pod=~"${replicaset}-.*",code=~"5.."}', BUILT_IN)
    total = Query.parse('requests{pod=~"${replicaset}-.*"}', BUILT_IN)
    probe = Counts(bad, total, CountRule(known_length=during is During.BAKE), **more)
    delay = probe.warm_up_seconds + probe.scrape_seconds
    return Check("errors", probe, Schedule(10.0, delay, during=during))


def samples(bad: float | None, total: float | None) -> Samples:
    """Return the counters of one side; None is a counter that does not exist."""
    said = ((Counted.BAD, bad), (Counted.TOTAL, total))
    return Samples(
        Form.VECTOR,
        tuple(
            Series(float(value), counted=counted, identity="a")
            for counted, value in said
            if value is not None
        ),
    )


def both(new: Samples, old: Samples) -> Answers:
    """Return the answers about both versions."""
    return Answers(new, baseline=old)


def answer(run: CheckRun, answers: Answers, old_pods: OldPods = NO_OLD_PODS) -> CheckRun:
    """Let a run look for the next time, and answer it."""
    now = run.wake_at
    run, tick = ticked(run, now)
    return run.after_answer(tick, now, answers, old_pods)


def look_on(run: CheckRun, numbers: Iterable[int], read: Callable[[int], Answers]) -> CheckRun:
    """Answer one look after another by its number, until the run has finished."""
    for number in numbers:
        run = answer(run, read(number))
        if run.finished:
            break
    return run


def steady(
    run: CheckRun, looks: int, new: Reading, old: Reading, begun: float = 1000.0
) -> CheckRun:
    """Look so often, at counters that had counted before and grow by as much each time."""

    def grow(look: int) -> Answers:
        sides = (
            samples(begun + bad * look, 10 * begun + total * look) for bad, total in (new, old)
        )
        return both(*sides)

    first = run.grid.last_number + 1
    return look_on(run, range(first, first + looks), grow)


def started(check: Check | None = None) -> CheckRun:
    """Begin at 0."""
    return CheckRun.start(check or counts(), 0.0)


def counts_of(run: CheckRun) -> CountRun:
    """Return what was counted, where that was looked at."""
    assert run.counts is not None
    return run.counts


def conclude(run: CheckRun) -> Conclusion:
    """Conclude after the last look."""
    return run.conclude(run.last_at + 1)
