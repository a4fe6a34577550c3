"""A check over time: when it is asked, what it bears, and what it concludes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.core.checks.bake_window import least_bake_seconds
from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind
from gate.core.checks.spec import Command, During, Http, Schedule
from gate.core.checks.tick_grid import Tick
from gate.core.checks.tick_questions import Unaskable, ask
from gate.core.model.outcome import Reason
from tests.unit.core.checks_world import (
    SUBJECT,
    a_check,
    answer,
    fed,
    metric,
    pair,
    ticked,
    unreachable,
)

NAN = math.nan
PASS, FAIL = ConclusionKind.PASS, ConclusionKind.FAIL
INCONCLUSIVE, UNDECIDED = ConclusionKind.INCONCLUSIVE, ConclusionKind.UNDECIDED


def at_end(run: CheckRun, after: float = 0.0) -> Conclusion:
    """Conclude some seconds after the last measurement."""
    return run.conclude(max(run.last_at, 0.0) + after)


@pytest.mark.contract("B410")
def test_ticks_lie_on_a_fixed_grid() -> None:
    """A late answer moves no later tick."""
    run = CheckRun.start(a_check(), 5.0)
    times = []
    for late in (0.0, 3.0, 9.9, 0.0):
        now = run.wake_at + late
        run, tick = ticked(run, now)
        times.append((tick.number, tick.at))
        run = run.after_answer(tick, now, answer(0.1))
    assert times == [(0, 5.0), (1, 15.0), (2, 25.0), (3, 35.0)]


@pytest.mark.contract("B410")
def test_missed_ticks_are_skipped() -> None:
    """After a pause the latest is asked, once."""
    run = fed(CheckRun.start(a_check(), 0.0), 0.1)
    assert run.due(47.0) == Tick(4, 40.0)
    run, tick = ticked(run, 47.0)
    assert run.after_answer(tick, 48.0, answer(0.1)).wake_at == 50.0


@pytest.mark.contract("B410")
@settings(max_examples=200)
@given(interval=st.floats(1.0, 100.0), start=st.floats(0.0, 1e6), steps=st.integers(0, 2000))
def test_a_tick_is_due_when_it_says_so(interval: float, start: float, steps: int) -> None:
    """Whatever floats round to: asked at `wake_at` it is due, and every number comes once."""
    run = CheckRun.start(a_check(schedule=Schedule(interval)), start)
    run, tick = ticked(run, start + steps * interval)
    run = run.after_answer(tick, tick.at, answer(0.1))
    again = run.due(run.wake_at)
    assert again is not None
    assert again.number == tick.number + 1
    assert again.at == run.wake_at


@pytest.mark.contract("B411", "B414")
def test_a_pass_that_ended_the_count_does_not_age() -> None:
    """A smoke test that is run once holds for a bake window of an hour."""
    run = fed(CheckRun.start(a_check(schedule=Schedule(count=1)), 0.0), 0.1)
    assert run.conclude(3600.0).kind is PASS


@pytest.mark.contract("B411")
@pytest.mark.parametrize(
    ("during", "phases"),
    [
        (During.ROLLOUT, {During.ROLLOUT}),
        (During.BAKE, {During.BAKE}),
        (During.BOTH, {During.ROLLOUT, During.BAKE}),
    ],
)
def test_a_check_runs_in_its_phases(during: During, phases: set[During]) -> None:
    """In both unless told otherwise."""
    check = a_check(schedule=Schedule(during=during))
    assert {phase for phase in (During.ROLLOUT, During.BAKE) if check.runs_in(phase)} == phases


@pytest.mark.contract("B408")
@pytest.mark.parametrize(("interval", "retry"), [(60.0, 71.5), (10.0, 70.0), (5.0, 65.0)])
def test_an_error_is_asked_again_soon(interval: float, retry: float) -> None:
    """After 10 s, or at the next tick where that is sooner; for the time of the repetition."""
    run = CheckRun.start(a_check(schedule=Schedule(interval)), 60.0)
    run, tick = ticked(run, 60.0)
    run = run.after_error(tick, 61.5, unreachable())
    assert run.wake_at == retry
    again = run.due(retry)
    assert again is not None
    assert again.at == retry
    run, tick = ticked(run, retry)
    assert run.after_answer(tick, retry, answer(0.1)).tally.measured == 1


def test_nothing_is_asked_while_an_answer_is_awaited() -> None:
    """And an answer that nobody awaits is a mistake that changes nothing."""
    run, tick = ticked(CheckRun.start(a_check(), 0.0), 0.0)
    assert run.due(100.0) is None
    with pytest.raises(ValueError, match="awaits"):
        run.after_question(Tick(1, 10.0))
    with pytest.raises(ValueError, match="awaits no answer"):
        run.after_answer(Tick(1, 10.0), 10.0, answer(0.1))
    done = run.after_answer(tick, 1.0, answer(0.1))
    with pytest.raises(ValueError, match="awaits no answer"):
        done.after_error(tick, 1.0, unreachable())


@pytest.mark.contract("B412")
@pytest.mark.parametrize(
    ("bears", "values", "failed_at"),
    [
        ({}, (0.1, 0.9), 2),
        ({"allowed_failures": 2}, (0.9, 0.1, 0.9, 0.1, 0.9), 5),
        ({"allowed_failures": 2}, (0.9, 0.1, 0.9, 0.1, 0.1), None),
        ({"consecutive_failures": 3}, (0.9, 0.9, 0.1, 0.9, 0.9), None),
        ({"consecutive_failures": 3}, (0.9, 0.9, 0.9), 3),
        ({"consecutive_failures": 3}, (0.9, NAN, 0.9, None, 0.9), 5),
    ],
)
def test_failures_are_tolerated_as_far_as_allowed(
    bears: dict[str, Any], values: tuple[float | None, ...], failed_at: int | None
) -> None:
    """The one too many decides at once, and for good."""
    run = CheckRun.start(a_check(**bears), 0.0)
    for number, value in enumerate(values, 1):
        run = fed(run, value)
        decided = failed_at is not None and number >= failed_at
        assert run.verdict_so_far.kind is (FAIL if decided else UNDECIDED)
    if failed_at is not None:
        assert run.finished
        assert at_end(run, 1e6).reason is Reason.CHECK_FAILED
        assert "0.9 is not <= 0.5" in at_end(run).message


@pytest.mark.contract("B413")
def test_errors_never_end_a_check() -> None:
    """A hundred of them, and one pass at the end is enough."""
    run = fed(CheckRun.start(a_check(), 0.0), *[None] * 100)
    assert run.verdict_so_far.kind is UNDECIDED
    assert not run.finished
    assert at_end(fed(run, 0.1)).kind is PASS


@pytest.mark.contract("B413")
@pytest.mark.parametrize(("errors", "wanted"), [(4, PASS), (5, INCONCLUSIVE)])
def test_too_many_errors_at_the_end_are_inconclusive(errors: int, wanted: ConclusionKind) -> None:
    """Four in a row are tolerated; none of them is a fail."""
    run = fed(CheckRun.start(a_check(max_age_seconds=1e6), 0.0), 0.1, *[None] * errors)
    found = at_end(run)
    assert found.kind is wanted
    assert (found.reason is Reason.CHECK_ERROR) is (wanted is INCONCLUSIVE)


@pytest.mark.contract("B413")
def test_a_failure_outlives_an_outage() -> None:
    """Errors after it change nothing, nor do errors before it."""
    run = fed(CheckRun.start(a_check(), 0.0), *[None] * 9, 0.9)
    assert at_end(run, 1000.0).kind is FAIL


@pytest.mark.contract("B414")
@pytest.mark.parametrize(
    ("bears", "values", "after", "wanted"),
    [
        ({}, (0.1,), 30.0, PASS),
        ({}, (0.1,), 30.1, INCONCLUSIVE),
        ({"max_age_seconds": 5.0}, (0.1,), 5.1, INCONCLUSIVE),
        ({"min_passes": 3}, (0.1, 0.1, NAN), 0.0, INCONCLUSIVE),
        ({"min_passes": 3}, (0.1, 0.1, NAN, 0.1), 0.0, PASS),
        ({}, (NAN, NAN), 0.0, INCONCLUSIVE),
        ({}, (0.1, NAN, NAN, NAN, NAN), 0.0, INCONCLUSIVE),
        ({"allowed_failures": 9}, (0.9, 0.9), 0.0, INCONCLUSIVE),
        ({}, (), 0.0, INCONCLUSIVE),
    ],
)
def test_a_pass_needs_evidence_that_is_enough_and_recent(
    bears: dict[str, Any],
    values: tuple[float, ...],
    after: float,
    wanted: ConclusionKind,
) -> None:
    """Otherwise the end is inconclusive, and says why."""
    found = at_end(fed(CheckRun.start(a_check(**bears), 0.0), *values), after)
    assert found.kind is wanted
    assert (found.reason is Reason.CHECK_INCONCLUSIVE) is (wanted is INCONCLUSIVE)
    assert found.message


@pytest.mark.contract("B415")
@pytest.mark.parametrize(("allowed", "wanted"), [(None, PASS), (2, PASS), (1, INCONCLUSIVE)])
def test_no_data_is_tolerated_as_far_as_allowed(
    allowed: int | None, wanted: ConclusionKind
) -> None:
    """Any number of it, unless a number is given."""
    run = fed(CheckRun.start(a_check(allowed_no_data=allowed), 0.0), NAN, 0.1, NAN, 0.1)
    assert at_end(run).kind is wanted


@pytest.mark.contract("B416")
@pytest.mark.parametrize(("required", "dry_run"), [(False, False), (True, True)])
def test_what_does_not_decide_reports(required: bool, dry_run: bool) -> None:
    """Its failure is said, and does not decide."""
    quiet = fed(CheckRun.start(a_check(required=required, dry_run=dry_run), 0.0), 0.9)
    assert at_end(quiet).kind is FAIL
    assert not quiet.check.decides


@pytest.mark.contract("B417")
def test_the_bake_window_is_long_enough_for_evidence() -> None:
    """Initial delay, window (or the time of one answer) and two intervals of the slowest check."""
    slow = a_check(metric(window_seconds=120.0), Schedule(30.0, 15.0))
    http = a_check(Http(HttpQuestion("http://web")), Schedule(5.0))
    early = a_check(metric(window_seconds=900.0), Schedule(during=During.ROLLOUT))
    silent = a_check(metric(window_seconds=900.0), required=False)
    assert least_bake_seconds([slow, http, early, silent]) == 195.0
    assert least_bake_seconds([http]) == 20.0
    command = a_check(Command(("smoke",), timeout_seconds=45.0), Schedule(5.0))
    assert least_bake_seconds([command]) == 55.0
    assert least_bake_seconds([early, silent]) == 0.0


@pytest.mark.contract("B419", "B1958")
def test_below_a_second_of_window_nothing_is_asked() -> None:
    """It is no data, takes no count, and is asked at the next tick."""
    check = a_check(metric(text='rate(x{a="${replicaset}"}[${window}])'), Schedule(count=1))
    subject = replace(SUBJECT, first_available_at=99.5)
    found = ask(check, 100.0, subject, During.ROLLOUT)
    assert found == Unaskable("window")
    run, tick = ticked(CheckRun.start(check, 100.0), 100.0)
    run = run.after_unaskable(tick, 100.0, found)
    assert run.wake_at == 110.0
    assert run.last is not None
    assert run.last.message == "the window is below 1s: nothing was asked"
    assert at_end(run).kind is INCONCLUSIVE
    assert ask(check, 110.0, subject, During.ROLLOUT) != Unaskable("window")
    (awaiting, _) = ticked(run, 110.0)
    said = "0 of 1 passes; last: asked, and the answer did not come in time"
    assert awaiting.conclude(115.0).message == said


@pytest.mark.contract("B423", "B1384")
@pytest.mark.parametrize("compare", [Ratio(1.5), MannWhitney()])
def test_without_a_baseline_a_comparison_is_inconclusive(compare: Ratio | MannWhitney) -> None:
    """There is nothing to compare with, and nothing is asked."""
    check = a_check(metric(None, None, compare=compare))
    found = ask(check, 100.0, replace(SUBJECT, baseline=None), During.ROLLOUT)
    assert found == Unaskable("baseline_replicaset", is_alone=True)
    run, tick = ticked(CheckRun.start(check, 100.0), 100.0)
    run = run.after_unaskable(tick, 100.0, found)
    assert run.settled
    assert at_end(run).kind is INCONCLUSIVE
    assert at_end(run).message == "no old version serves: there is nothing to compare with"
    (again, tick) = ticked(CheckRun.start(check, 100.0), 100.0)
    assert not again.after_unaskable(tick, 100.0, Unaskable("window")).settled
    assert not isinstance(ask(check, 100.0, SUBJECT, During.ROLLOUT), Unaskable)


def compared(new: list[float], old: list[float]) -> CheckRun:
    """Follow a comparison over samples of both sides, until it has decided."""
    run = CheckRun.start(
        a_check(metric(None, None, window_seconds=10.0, compare=MannWhitney())), 0.0
    )
    for above, below in zip(new, old, strict=True):
        if run.finished:
            break
        now = run.wake_at
        run, tick = ticked(run, now)
        run = run.after_answer(tick, now, pair(above, below))
    return run


@pytest.mark.contract("B421", "B422")
def test_before_the_end_only_the_clearest_difference_fails() -> None:
    """A difference that rejects at alpha alone waits for the end of the phase."""
    old = [float(value) for value in range(10, 20)]
    clear = compared([3 * value for value in old], old)
    assert clear.verdict_so_far.kind is FAIL
    assert len(clear.pairs) == 8
    likely = compared([14.5, 15.5, 30, 31, 32, 16.5, 33, 34, 12.5, 35], old)
    assert likely.verdict_so_far.kind is UNDECIDED
    assert at_end(likely).kind is FAIL
    assert at_end(likely).reason is Reason.CHECK_FAILED
    assert at_end(compared(old, old)).kind is PASS
    assert at_end(compared(old[:7], old[:7])).kind is INCONCLUSIVE
