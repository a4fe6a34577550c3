"""Counters of both versions: what is asked, what readings add, and answers that cannot be used."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gate.core.checks.bake_window import least_bake_seconds, least_counting_seconds
from gate.core.checks.counter_answers import look_once
from gate.core.checks.counter_readings import CounterReadings, Increase, NotCounterError
from gate.core.checks.measurement import Kind
from gate.core.checks.query_template import Query
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.questions import (
    Answers,
    Counted,
    Form,
    MetricQuestion,
    Questions,
    Samples,
    Series,
)
from gate.core.checks.spec import Check, Counts, During, share_alpha, without_comparison
from gate.core.checks.tick_questions import Unaskable, ask
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
    counts_of,
    look_on,
    samples,
    started,
    steady,
)
from tests.unit.core.checks_world import SUBJECT, ticked, unreachable


def asked(check: Check, subject: Subject = SUBJECT, *, begins: bool = False) -> Questions:
    """Return the questions of a tick at 100 s, which there have to be."""
    questions = ask(check, 100.0, subject, During.BAKE, begins=begins)
    assert isinstance(questions, Questions)
    return questions


@pytest.mark.contract("B1158")
def test_both_versions_are_asked_one_question_each_for_one_time() -> None:
    """Some time ago, when everything had been scraped; a label tells bad ones from all."""
    questions = asked(counts(scrape_seconds=15.0))
    text = (
        'label_replace((requests{pod=~"web-new-.*",code=~"5.."}\n), '
        '"rollout_gate_counted", "bad", "", "")'
        ' or label_replace((requests{pod=~"web-new-.*"}\n), '
        '"rollout_gate_counted", "total", "", "")'
    )
    assert questions.value == MetricQuestion(text, 85.0)
    assert questions.baseline == MetricQuestion(text.replace("web-new", "web-old"), 85.0)
    assert (questions.samples, questions.freshness) == (None, None)


@pytest.mark.contract("B1158")
def test_counting_starts_from_what_was_there_within_the_last_hour() -> None:
    """A target that is not scraped at that moment has not begun at 0; others start at that time."""
    first, later = asked(counts(), begins=True).value, asked(counts()).value
    assert isinstance(first, MetricQuestion)
    assert isinstance(later, MetricQuestion)
    text = later.query
    assert first.query == f"({text}\n) or last_over_time(({text}\n)[1h:30s])"
    run = started()
    assert run.begins
    assert not steady(run, 1, (0, 0), (0, 0)).begins


@pytest.mark.contract("B1158")
def test_a_version_that_is_not_known_is_not_asked_about() -> None:
    """The new one, before it exists; of an old one its label alone may be known."""
    for unknown, missing in (
        (replace(SUBJECT, new=Version()), "replicaset"),
        (replace(SUBJECT, baseline=Version(label_value="old")), "baseline_replicaset"),
    ):
        assert ask(counts(), 9.0, unknown, During.BAKE) == Unaskable(missing)
    alone = replace(SUBJECT, baseline=None)
    assert asked(without_comparison(counts()), alone).baseline is None


@pytest.mark.contract("B1159")
def test_the_first_look_is_after_the_warm_up() -> None:
    """And as much later as counters are read late."""
    assert started(counts(warm_up_seconds=60.0, scrape_seconds=15.0)).wake_at == 75.0


@pytest.mark.contract("B1155")
def test_checks_that_decide_share_alpha() -> None:
    """Those that only report have no part in it, and get none."""
    reporting = replace(counts(), required=False)
    checks = share_alpha([counts(), reporting, counts(During.BOTH)])
    splits = [check.probe.rule.split for check in checks if isinstance(check.probe, Counts)]
    assert splits == [2, 1, 2]


@pytest.mark.contract("B1161")
def test_the_bake_window_is_as_long_as_sixty_looks() -> None:
    """Ten minutes, unless the check is settled earlier."""
    check = counts(warm_up_seconds=60.0)
    assert least_bake_seconds([check]) == 60 + 30 + 62 * 10
    assert least_counting_seconds(check) == 60 + 30 + 9 * 10


Reading = dict[str, float]


def series(reading: Reading) -> list[Series]:
    """Return counters by what they count and an identity, as in `bad a`."""
    return [
        Series(float(value), counted=Counted(name.split()[0]), identity=name.split()[1])
        for name, value in reading.items()
    ]


def increases(*readings: Reading) -> list[Increase]:
    """Return the increase that each reading adds."""
    known, found = CounterReadings(), []
    for reading in readings:
        known, increase = known.plus(series(reading))
        found.append(increase)
    return found


def suspicions(*readings: Reading) -> list[str]:
    """Return why these are the readings of a gauge, after each of them, "" for no reason."""
    known, found = CounterReadings(), []
    for reading in readings:
        known, _ = known.plus(series(reading))
        found.append(known.why_gauge())
    return found


@pytest.mark.contract("B1150")
@each(
    ("readings", "bad", "total"),
    [
        ([{"total a": 90}, {"total a": 100}], 0, 10),
        ([{"total a": 90, "bad a": 5}, {"total a": 100, "bad a": 6}], 1, 10),
        # A series that is born in the phase counts from 0.
        ([{"total a": 90}, {"total a": 100, "bad a": 3}], 3, 10),
        ([{}, {"total a": 7}, {"total a": 9}], 0, 9),
        # A reset: what is there now was counted since.
        ([{"total a": 90}, {"total a": 4}, {"total a": 6}], 0, 6),
        # A missed scrape, even if the series is stale and gone for a while, loses nothing.
        ([{"total a": 90}, {}, {"total a": 120}], 0, 30),
        ([{"total a": 90}, {"total a": 90}, {"total a": 120}], 0, 30),
        # One answer is older than the one before, as of another replica of the monitoring.
        ([{"total a": 5000}, {"total a": 5010}, {"total a": 4990}, {"total a": 5030}], 0, 30),
        # It stays low: it has begun again, faster than is likely, and is counted from there.
        ([{"total a": 5000}, {"total a": 5010}, {"total a": 900}, {"total a": 930}], 0, 40),
        ([{"total a": 5000}, {"total a": 5010}, {"total a": 900}, {}, {"total a": 930}], 0, 40),
        # Of a counter that has begun a moment ago as well; a lower value yet is a restart.
        ([{}, {"total a": 9}, {"total a": 5}, {"total a": 5}, {"total a": 16}], 0, 16),
        ([{}, {"total a": 9}, {"total a": 16}, {"total a": 9}, {"total a": 20}], 0, 20),
        ([{}, {"total a": 9}, {"total a": 16}, {"total a": 8}, {"total a": 9}], 0, 25),
        # A counter with a past is seen first: it was there all along, or under other labels.
        ([{}, {"total a": 5000, "bad a": 9}, {"total a": 5010, "bad a": 9}], 0, 10),
        ([{"total a": 5000}, {"total a": 5010}, {"total b": 5020}, {"total b": 5030}], 0, 20),
        # What is bad does not begin without the events that it is of.
        ([{}, {"total a": 5000, "bad a": 20}, {"total a": 5100, "bad a": 21}], 1, 100),
        # A series that ends keeps what it has added.
        ([{"total a": 90, "total b": 5}, {"total a": 95, "total b": 9}, {"total a": 96}], 0, 10),
    ],
)
def test_increases_are_exact(readings: list[Reading], bad: float, total: float) -> None:
    """The first reading is where counting starts; after it not one event is lost or made up."""
    found = increases(*readings)
    assert found[0] == Increase()
    assert sum(each.bad for each in found) == bad
    assert sum(each.total for each in found) == total


@pytest.mark.contract("B1150")
def test_what_the_other_version_serves_tells_what_is_likely() -> None:
    """A new version that takes over at once is counted whole where the old one served as much."""
    known, _ = CounterReadings().plus([])
    assert known.plus(series({"total a": 90, "bad a": 2}))[1] == Increase()
    served = known.plus(series({"total a": 90, "bad a": 2}), most_elsewhere=80.0)
    assert served[1] == Increase(2.0, 90.0)


@pytest.mark.contract("B1154")
@each("value", [0.5, -1.0, math.nan, math.inf])
def test_what_is_no_count_of_events_is_refused(value: float) -> None:
    """A gauge, a duration, a share."""
    with pytest.raises(NotCounterError, match=r"bad: .* is no count of events"):
        increases({"bad a": value})
    with pytest.raises(NotCounterError, match="are more than events can be"):
        increases({"bad a": 1e17})


@pytest.mark.contract("B1154")
@each(("values", "falls", "readings"), [((100, 90), 4, 8), ((100, 101), 9, 19)], ids=str)
def test_a_gauge_gives_itself_away(values: tuple[float, ...], falls: int, readings: int) -> None:
    """It falls again and again; one that merely trembles, as long as replicas might explain it."""
    *before, last = suspicions(*({"total a": values[at % len(values)]} for at in range(readings)))
    assert not any(before)
    assert last.startswith(f"total: a series fell {falls} times in {readings} readings")


@pytest.mark.contract("B1537")
def test_two_replicas_that_answer_in_turn_count_each_event_once() -> None:
    """Both scrape a pod that counts one event a second every 30 s, the second 15 s later."""
    scraped = [(at // 30 * 30, (at - 15) // 30 * 30 + 15)[at // 5 % 2] for at in range(30, 300, 5)]
    counted = [{"total a": float(value)} for value in scraped]
    found = increases({}, *counted)
    assert sum(each.total for each in found) == max(scraped)
    assert not any(suspicions(*counted))


@pytest.mark.contract("B1154")
def test_a_pod_that_crashes_again_and_again_has_counters() -> None:
    """Its counters begin again a few times, between which they grow."""
    readings = [{"total a": float(1 + at % 5)} for at in range(60)]
    assert sum(each.total for each in increases(*readings)) == 59
    assert not any(suspicions(*readings))


def test_counters_that_differ_in_name_alone_are_one() -> None:
    """A selector may name several metrics."""
    known, _ = CounterReadings().plus([])
    twice = [Series(3.0, counted=Counted.BAD, identity="a")] * 2
    assert known.plus(twice)[1] == Increase(6.0)


def test_series_that_count_nothing_are_refused() -> None:
    """An answer to some other question."""
    with pytest.raises(NotCounterError, match="does not say"):
        CounterReadings().plus([Series(1.0)])


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
    assert counts_of(run).evidence.new.total == run.grid.last_number * 100


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
