"""Answers of counters that add nothing, or give away that they count nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.checks.counter_answers import look_once
from gate.core.checks.measurement import Kind
from gate.core.checks.query_template import Query
from gate.core.checks.questions import Answers, Form, Samples
from gate.core.checks.spec import Counts, During, without_comparison
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from tests.table import each
from tests.unit.core.checks.count_looks import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    answer,
    both,
    conclude,
    counts,
    look_on,
    samples,
    started,
    steady,
)
from tests.unit.core.checks_world import ticked, unreachable


@pytest.mark.contract("B1220")
def test_between_two_scrapes_no_version_is_gone_and_none_is_judged() -> None:
    """Looks each second at counters that are scraped every fifteen: one scrape decides nothing."""
    brisk = counts(scrape_seconds=30.0)
    run = started(replace(brisk, schedule=replace(brisk.schedule, interval_seconds=1.0)))
    for look in range(130):
        scrapes = look // 15
        new = samples(1000 + 300 * scrapes, 10_000 + 1000 * scrapes)
        run = answer(run, both(new, samples(1000 + scrapes, 10_000 + 1000 * scrapes)))
        assert not run.settled
    assert not run.finished
    run = steady(run, 20, (300, 1000), (1, 1000))
    assert run.finished


@pytest.mark.contract("B1380")
def test_in_a_rollout_pods_that_are_scraped_in_turn_are_compared() -> None:
    """Looks every 10 s at one pod a side, scraped every 30 s, each at a time of its own."""

    def scraped_in_turn(look: int) -> Answers:
        new, old = (look + 1) // 3, look // 3
        new_side = samples(1000 + 60 * new, 10_000 + 300 * new)
        return both(new_side, samples(1000 + 3 * old, 10_000 + 300 * old))

    run = started(counts(During.ROLLOUT, scrape_seconds=30.0))
    run = look_on(run, range(60), scraped_in_turn)
    assert run.verdict_so_far.kind is FAIL


@pytest.mark.contract("B1221")
@each("side", ["new", "old"])
def test_a_computed_bad_without_series_is_not_zero(side: str) -> None:
    """Unequal labels lose all bad events of one version: it neither passes nor makes the other."""
    bad = Query.parse('n{pod="${replicaset}"} - b{pod="${replicaset}",le="0.5"}', BUILT_IN)
    plain = counts()
    assert isinstance(plain.probe, Counts)
    for probe, ends in (
        (replace(plain.probe, bad=bad), {INCONCLUSIVE}),
        (plain.probe, {PASS, FAIL}),
    ):

        def without_bad(look: int) -> Answers:
            with_bad, without = samples(5.0 * look, 1000.0 * look), samples(None, 1000.0 * look)
            return both(without, with_bad) if side == "new" else both(with_bad, without)

        run = look_on(started(replace(plain, probe=probe)), range(60), without_bad)
        said = conclude(run)
        assert said.kind in ends
        why = "bad gives no series although total does" if ends == {INCONCLUSIVE} else "counts as 0"
        assert why in said.message
        assert f"the {side} version" in said.message


@pytest.mark.contract("B1154")
def test_a_gauge_decides_nothing() -> None:
    """Not even what it seemed to show before it gave itself away."""

    def fall_and_rise(look: int) -> Answers:
        new = samples(900 + 90 * (look % 2), 10_000 + 1000 * look)
        return both(new, samples(1000 + look, 10_000 + 100 * look))

    run = look_on(started(), range(40), fall_and_rise)
    assert not run.finished
    said = conclude(run)
    assert (said.kind, said.reason) == (INCONCLUSIVE, Reason.CHECK_ERROR)
    assert said.message.startswith("bad: a series fell")


@pytest.mark.contract("B1152", "B1162")
def test_a_service_without_an_error_yet_passes_by_its_negligible_rate() -> None:
    """No series of bad events is none of them, where the total exists."""
    side = [samples(None, 1000.0 + 100 * look) for look in range(60)]
    run = look_on(started(), range(60), lambda look: both(side[look], side[look]))
    assert conclude(run).kind is PASS
    assert conclude(run).message == (
        "0 of 5,900 bad, of the old version 0 of 5,900 (neither version has a series of bad, which"
        " counts as 0)"
    )


@pytest.mark.contract("B1154")
def test_more_bad_events_than_events_are_an_error() -> None:
    """LockFacts with both numbers; five in a row and the check is inconclusive."""
    run = steady(started(), 7, (30, 20), (1, 100))
    assert run.last_kind is Kind.ERROR
    said = conclude(run)
    assert (said.kind, said.reason) == (INCONCLUSIVE, Reason.CHECK_ERROR)
    assert "the new version has more bad events" in said.message


@pytest.mark.contract("B1154")
@each(
    ("answers", "kind", "why"),
    [
        (both(Samples(Form.SCALAR), samples(1, 2)), Kind.ERROR, "a scalar"),
        (both(samples(0.5, 2), samples(1, 2)), Kind.ERROR, "no count of events"),
        (
            both(replace(samples(1, 2), remarks=(CleanText("too late"),)), samples(1, 2)),
            Kind.NO_DATA,
            "partial: too late",
        ),
    ],
)
def test_an_answer_that_cannot_be_used_adds_nothing(answers: Answers, kind: Kind, why: str) -> None:
    """Counting goes on from the last reading that could."""
    run = steady(started(), 3, (1, 100), (1, 100))
    after = answer(run, answers)
    assert after.last is not None
    assert after.last.kind is kind
    assert why in after.last.message
    assert after.counts == run.counts


def test_errors_lose_no_count() -> None:
    """What came meanwhile is in the next reading."""
    run = steady(started(), 3, (1, 100), (1, 100))
    now = run.wake_at
    run, tick = ticked(run, now)
    run = run.after_error(tick, now, unreachable())
    run = steady(run, 1, (1, 100), (1, 100))
    assert run.counts is not None
    assert run.counts.evidence.new.total == run.grid.last_number * 100


def test_before_the_second_reading_nothing_is_said() -> None:
    """A phase that ends there is inconclusive."""
    assert conclude(started()).message == "never ran"
    said = conclude(steady(started(), 1, (1, 100), (1, 100)))
    assert said.kind is INCONCLUSIVE
    assert said.message == "counting starts here: 1 series of total, 1 of bad"


@pytest.mark.contract("B1162")
@each(
    ("bad", "total", "kind", "message"),
    [
        (3, 100, Kind.PASS, "1 series of total, 1 of bad"),
        (None, 100, Kind.PASS, "1 series of total, 0 of bad, which counts as 0"),
        (None, None, Kind.NO_DATA, "no series of total"),
        (3, None, Kind.NO_DATA, "no series of total"),
        (200, 100, Kind.ERROR, "more bad events (200) than events at all (100)"),
        (0.5, 100, Kind.ERROR, "bad: 0.5 is no count of events"),
    ],
)
def test_one_look_shows_whether_the_counters_are_there(
    bad: float | None, total: float | None, kind: Kind, message: str
) -> None:
    """As preflight looks at the version that serves."""
    alone = without_comparison(counts()).probe
    assert isinstance(alone, Counts)
    found = look_once(alone, Answers(samples(bad, total)))
    assert found.kind is kind
    assert message in found.message


@pytest.mark.contract("B1162")
def test_one_look_at_two_versions_compares_nothing() -> None:
    """It takes a phase."""
    probe = counts().probe
    assert isinstance(probe, Counts)
    found = look_once(probe, both(samples(1, 10), samples(1, 10)))
    assert (found.kind, "one look compares nothing" in found.message) == (Kind.NO_DATA, True)
