"""A comparison by counts over a phase: what is asked, and what the readings of both sides say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.checks.bake_window import least_bake_seconds, least_counting_seconds
from gate.core.checks.counter_answers import look_once
from gate.core.checks.measurement import Kind
from gate.core.checks.old_pods import OldPods
from gate.core.checks.query_template import Query
from gate.core.checks.query_variables import Version
from gate.core.checks.questions import (
    Answers,
    Counted,
    Form,
    MetricQuestion,
    Questions,
    Samples,
    Series,
)
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind
from gate.core.checks.spec import (
    Check,
    ComparedPods,
    Counts,
    During,
    Schedule,
    share_alpha,
    without_comparison,
)
from gate.core.checks.tick_questions import Unaskable, ask
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.statistics.count_decision import CountRule
from tests.table import each
from tests.unit.core.checks_world import SUBJECT, ticked, unreachable

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


def steady(
    run: CheckRun, looks: int, new: Reading, old: Reading, begun: float = 1000.0
) -> CheckRun:
    """Look so often, at counters that had counted before and grow by as much each time."""
    first = run.grid.last_number + 1
    for look in range(first, first + looks):
        now = run.wake_at
        run, tick = ticked(run, now)
        sides = (
            samples(begun + bad * look, 10 * begun + total * look) for bad, total in (new, old)
        )
        run = run.after_answer(tick, now, both(*sides))
        if run.finished:
            break
    return run


def started(check: Check | None = None) -> CheckRun:
    """Begin at 0."""
    return CheckRun.start(check or counts(), 0.0)


def conclude(run: CheckRun) -> Conclusion:
    """Conclude after the last look."""
    return run.conclude(run.last_at + 1)


# -- what is asked ---------------------------------------------------------------------------------


@pytest.mark.contract("B1158")
def test_both_versions_are_asked_one_question_each_for_one_time() -> None:
    """Some time ago, when everything had been scraped; a label tells bad ones from all."""
    questions = ask(counts(scrape_seconds=15.0), 100.0, SUBJECT, During.BAKE)
    assert not isinstance(questions, Unaskable)
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
    questions = ask(counts(), 100.0, SUBJECT, During.BAKE, begins=True)
    assert not isinstance(questions, Unaskable)
    assert isinstance(questions.value, MetricQuestion)
    now = ask(counts(), 100.0, SUBJECT, During.BAKE)
    assert isinstance(now, Questions)
    assert isinstance(now.value, MetricQuestion)
    text = now.value.query
    assert questions.value.query == f"({text}\n) or last_over_time(({text}\n)[1h:30s])"
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
    alone = without_comparison(counts())
    questions = ask(alone, 100.0, replace(SUBJECT, baseline=None), During.BAKE)
    assert not isinstance(questions, Unaskable)
    assert questions.baseline is None


@pytest.mark.contract("B1159")
def test_the_first_look_is_after_the_warm_up() -> None:
    """And as much later as counters are read late."""
    assert started(counts(warm_up_seconds=60.0, scrape_seconds=15.0)).wake_at == 75.0


# -- what they say ---------------------------------------------------------------------------------


@pytest.mark.contract("B1151")
@each("during", [During.BAKE, During.BOTH])
def test_a_worse_version_fails_at_once(during: During) -> None:
    """With what was counted, how far the ratio may lie, and what could have been shown."""
    run = steady(started(counts(during)), 61, (4, 100), (1, 100))
    assert run.finished
    assert run.tally.measured < 30
    said = run.verdict_so_far
    assert (said.kind, said.reason) == (FAIL, Reason.CHECK_FAILED)
    if during is During.BAKE:
        assert said.message == (
            "36 of 900 bad, of the old version 9 of 900, 4 times the rate, likely 1.52 to 16.2;"
            " this traffic could show 2.39 times"
        )


@pytest.mark.contract("B1151", "B1159")
def test_an_equal_version_passes_and_is_watched_on() -> None:
    """What has passed is settled; if it becomes worse while it is looked at, it still fails."""
    run = steady(started(), 45, (1, 100), (1, 100))
    assert run.settled
    assert not run.finished
    assert run.verdict_so_far.kind is UNDECIDED
    assert conclude(run).kind is PASS
    worse = started()
    worse = replace(worse, counts=run.counts, grid=replace(run.grid))
    for look in range(46, 80):
        now = worse.wake_at
        worse, tick = ticked(worse, now)
        new = samples(1044 + 30 * (look - 45), 10_000 + 100 * look)
        worse = worse.after_answer(tick, now, both(new, samples(1000 + look, 10_000 + 100 * look)))
        if worse.finished:
            break
    assert conclude(worse).kind is FAIL


@pytest.mark.contract("B1151")
def test_what_is_neither_shown_is_inconclusive() -> None:
    """And the message says what this traffic could have shown."""
    said = conclude(steady(started(), 20, (1.5, 100), (1, 100), begun=1000.0))
    assert said.kind is INCONCLUSIVE
    assert said.reason is Reason.CHECK_INCONCLUSIVE
    early = conclude(steady(started(), 7, (9, 100), (1, 100)))
    assert early.kind is INCONCLUSIVE
    assert early.message.startswith(
        "both served together for 60s (6 looks, of at least 9); to find twice as bad takes about"
    )


@pytest.mark.contract("B1451")
@each(
    ("min_delta", "new", "why"),
    [
        (0.0, (16, 1000), "neither above 1.25 nor below 2 times is shown"),
        (
            0.05,
            (40, 1000),
            "the new rate is at most 0.05 (min-delta) above the old one",
        ),
    ],
)
def test_what_had_enough_traffic_is_not_told_to_wait(
    min_delta: float, new: Reading, why: str
) -> None:
    """Five minutes that find twice as bad: what is less, or allowed, is the reason."""
    check = counts(During.BOTH)
    assert isinstance(check.probe, Counts)
    probe = replace(check.probe, rule=replace(check.probe.rule, min_delta=min_delta))
    run = steady(started(replace(check, probe=probe)), 31, new, (10, 1000))
    assert run.counts is not None
    assert run.counts.enough_seconds == run.counts.shared.seconds == 300
    said = conclude(run)
    assert said.kind is INCONCLUSIVE
    assert said.message.startswith(f"{why}: ")


def after_trouble(during: During, bad_before: float) -> CheckRun:
    """Return a run in which old serves alone for two minutes, then beside one thrice as bad."""
    run, new, old = started(counts(during)), (0.0, 0.0), (1000.0, 10_000.0)
    for number in range(61):
        now = run.wake_at
        run, tick = ticked(run, now)
        new_side = samples(*new) if number >= 12 else Samples(Form.VECTOR)
        run = run.after_answer(tick, now, both(new_side, samples(*old)))
        if run.finished:
            break
        if number < 12:
            old = (old[0] + bad_before, old[1] + 1000)
        if number >= 11:
            new, old = (new[0] + 15, new[1] + 500), (old[0] + 5, old[1] + 500)
    return run


@pytest.mark.contract("B1450")
@each("during", [During.BAKE, During.BOTH])
def test_trouble_of_the_old_version_before_the_new_one_serves_acquits_nobody(
    during: During,
) -> None:
    """It fails at the same look, and the ratio it names is that of the time of both."""
    calm, trouble = after_trouble(during, 10), after_trouble(during, 100)
    assert (calm.verdict_so_far.kind, trouble.verdict_so_far.kind) == (FAIL, FAIL)
    assert trouble.last_at == calm.last_at
    said = trouble.verdict_so_far.message
    assert "; while both served " in said
    assert ", 3 times the rate, likely " in said
    assert trouble.failure is not None
    assert (trouble.failure.value, trouble.failure.baseline) == (0.03, 0.01)


@pytest.mark.contract("B1450")
@each("during", [During.BAKE, During.BOTH])
def test_trouble_after_the_old_version_has_gone_fails_nobody(during: During) -> None:
    """Both were equal while both served; then six times as many are bad, whatever the cause."""
    run, new, old = started(counts(during)), (1000.0, 10_000.0), (1000.0, 10_000.0)
    for number in range(61):
        now = run.wake_at
        run, tick = ticked(run, now)
        run = run.after_answer(tick, now, both(samples(*new), samples(*old)))
        new = (new[0] + (12 if number >= 30 else 2), new[1] + 200)
        old = (old[0] + 2, old[1] + 200) if number < 9 else old
    assert not run.finished
    said = conclude(run)
    assert said.kind is INCONCLUSIVE
    assert said.message.startswith("the old version no longer serves; both served together for 90s")
    assert "; while both served 18 of 1,800 against 18 of 1,800, 1 times the rate" in said.message


@pytest.mark.contract("B1151")
def test_the_last_look_takes_what_is_left_of_alpha() -> None:
    """What no earlier look would fail, the end of the phase does."""
    run = steady(started(), 31, (2, 100), (1, 100))
    assert run.failure is None
    assert conclude(run).kind is FAIL


@pytest.mark.contract("B1152")
@each(
    ("new", "old", "why"),
    [
        ((0, 0), (1, 100), "the new version served nothing meanwhile"),
        ((1, 100), (0, 0), "the old version served nothing meanwhile"),
        ((0, 10), (0, 10), "without a bad one while both served there is no ratio"),
    ],
)
def test_without_traffic_on_both_sides_it_is_inconclusive(
    new: Reading, old: Reading, why: str
) -> None:
    """Never a pass."""
    said = conclude(steady(started(), 40, new, old))
    assert (said.kind, said.reason) == (INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE)
    assert why in said.message


@pytest.mark.contract("B423", "B1152")
@each(("bad", "kind"), [(0, PASS), (0.01, PASS), (2, INCONCLUSIVE)])
def test_with_no_version_before_it_a_negligible_rate_alone_passes(
    bad: float, kind: ConclusionKind
) -> None:
    """It is the first version, or a complete one that `verify` judges: asked of by itself."""
    asked = ask(counts(), 100.0, replace(SUBJECT, baseline=None), During.BAKE)
    assert isinstance(asked, Questions)
    assert asked.baseline is None
    run = started()
    for look in range(30):
        now = run.wake_at
        run, tick = ticked(run, now)
        run = run.after_answer(tick, now, Answers(samples(round(bad * look), 1000 * look)))
    said = conclude(run)
    assert said.kind is kind
    assert "with no version before it to compare with" in said.message


@pytest.mark.contract("B1165")
@each(("bad", "settled"), [(2, True), (0, False)])
def test_without_the_old_version_it_waits_for_a_negligible_rate_alone(
    bad: float, settled: bool
) -> None:
    """After nine looks at a silent old version; the message says so."""
    run = steady(started(), 5, (bad, 100), (bad, 100))
    for look in range(5, 14):
        assert not run.settled
        now = run.wake_at
        run, tick = ticked(run, now)
        new = samples(1000 + bad * look, 10_000 + 100 * look)
        run = run.after_answer(tick, now, both(new, samples(1000 + 4 * bad, 10_400)))
    assert run.settled == settled
    assert not run.finished
    said = conclude(run)
    assert said.kind is INCONCLUSIVE
    assert said.message.startswith("the old version no longer serves; both served together for 40s")


@pytest.mark.contract("B1165")
def test_old_pods_that_are_there_are_waited_for() -> None:
    """Their counters may be missing for a while, as where scrapes fail, or nobody asks them."""
    run = steady(started(), 5, (5, 100), (5, 100))
    for look in range(5, 20):
        now = run.wake_at
        run, tick = ticked(run, now)
        new = samples(1000 + 5 * look, 10_000 + 100 * look)
        answers = both(new, samples(1020, 10_400))
        run = run.after_answer(tick, now, answers, OldPods(are_there=look < 18))
    assert not run.settled
    assert "no longer serves" not in conclude(run).message


@pytest.mark.contract("B1381")
def test_what_was_too_short_to_compare_says_for_how_long_both_served_and_what_would_do() -> None:
    """The reason comes first; as long as that is enough where the traffic stays the same."""
    run = steady(started(), 13, (2, 1000), (2, 1000))
    told = conclude(run)
    why, _, numbers = told.message.partition(": ")
    assert why == "both served together for 120s; to find twice as bad takes about 237s"
    assert numbers.startswith("24 of 12,000 bad, of the old version 24 of 12,000, 1 times")
    enough = steady(started(), 25, (2, 1000), (2, 1000))
    assert enough.counts is not None
    found = enough.counts.estimate(at_the_end=True).detectable
    assert found is not None
    assert 1.95 < found < 2.05


@pytest.mark.contract("B1220")
def test_between_two_scrapes_no_version_is_gone_and_none_is_judged() -> None:
    """Looks each second at counters that are scraped every fifteen: one scrape decides nothing."""
    brisk = counts(scrape_seconds=30.0)
    run = started(replace(brisk, schedule=replace(brisk.schedule, interval_seconds=1.0)))
    for look in range(130):
        now = run.wake_at
        run, tick = ticked(run, now)
        scrapes = look // 15
        new = samples(1000 + 300 * scrapes, 10_000 + 1000 * scrapes)
        run = run.after_answer(
            tick, now, both(new, samples(1000 + scrapes, 10_000 + 1000 * scrapes))
        )
        assert not run.settled
    assert not run.finished
    run = steady(run, 20, (300, 1000), (1, 1000))
    assert run.finished


@pytest.mark.contract("B1380")
def test_in_a_rollout_pods_that_are_scraped_in_turn_are_compared() -> None:
    """Looks every 10 s at one pod a side, scraped every 30 s, each at a time of its own."""
    run = started(counts(During.ROLLOUT, scrape_seconds=30.0))
    for look in range(60):
        now = run.wake_at
        run, tick = ticked(run, now)
        new, old = (look + 1) // 3, look // 3
        new_side = samples(1000 + 60 * new, 10_000 + 300 * new)
        run = run.after_answer(
            tick, now, both(new_side, samples(1000 + 3 * old, 10_000 + 300 * old))
        )
        if run.finished:
            break
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
        run = started(replace(plain, probe=probe))
        for look in range(60):
            now = run.wake_at
            run, tick = ticked(run, now)
            with_bad, without = samples(5.0 * look, 1000.0 * look), samples(None, 1000.0 * look)
            sides = (without, with_bad) if side == "new" else (with_bad, without)
            run = run.after_answer(tick, now, both(*sides))
            if run.finished:
                break
        said = conclude(run)
        assert said.kind in ends
        why = "bad gives no series although total does" if ends == {INCONCLUSIVE} else "counts as 0"
        assert why in said.message
        assert f"the {side} version" in said.message


@pytest.mark.contract("B1154")
def test_a_gauge_decides_nothing() -> None:
    """Not even what it seemed to show before it gave itself away."""
    run = started()
    for look in range(40):
        now = run.wake_at
        run, tick = ticked(run, now)
        new = samples(900 + 90 * (look % 2), 10_000 + 1000 * look)
        run = run.after_answer(tick, now, both(new, samples(1000 + look, 10_000 + 100 * look)))
    assert not run.finished
    said = conclude(run)
    assert (said.kind, said.reason) == (INCONCLUSIVE, Reason.CHECK_ERROR)
    assert said.message.startswith("bad: a series fell")


@pytest.mark.contract("B1152", "B1162")
def test_a_service_without_an_error_yet_passes_by_its_negligible_rate() -> None:
    """No series of bad events is none of them, where the total exists."""
    run = started()
    for look in range(60):
        now = run.wake_at
        run, tick = ticked(run, now)
        side = samples(None, 1000.0 + 100 * look)
        run = run.after_answer(tick, now, both(side, side))
    assert conclude(run).kind is PASS
    assert conclude(run).message == (
        "0 of 5,900 bad, of the old version 0 of 5,900 (neither version has a series of bad, which"
        " counts as 0)"
    )


@pytest.mark.contract("B1154")
def test_more_bad_events_than_events_are_an_error() -> None:
    """Told with both numbers; five in a row and the check is inconclusive."""
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
    now = run.wake_at
    run, tick = ticked(run, now)
    after = run.after_answer(tick, now, answers)
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


# -- around it -------------------------------------------------------------------------------------


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


# -- with fresh pods alone -------------------------------------------------------------------------


def fresh(during: During = During.BAKE) -> Check:
    """Return a comparison with fresh pods."""
    return counts(during, compared_pods=ComparedPods.FRESH)


def of_pods(**read: Reading) -> Samples:
    """Return the counters of pods by their names."""
    sides = {pod: samples(*counted).series for pod, counted in read.items()}
    return Samples(
        Form.VECTOR,
        tuple(
            replace(each, pod=pod, identity=pod) for pod, found in sides.items() for each in found
        ),
    )


def look(run: CheckRun, old_pods: OldPods, new: Reading, **old: Reading) -> CheckRun:
    """Look once, at a new pod and at old ones."""
    now = run.wake_at
    run, tick = ticked(run, now)
    return run.after_answer(tick, now, both(of_pods(new=new), of_pods(**old)), old_pods)


def counted_old(run: CheckRun) -> Reading:
    """Return what is compared with."""
    assert run.counts is not None
    old = run.counts.evidence.old
    return old.bad, old.total


@pytest.mark.contract("B1206")
def test_fresh_pods_alone_are_compared_with() -> None:
    """From when they are fresh; what one counted last is read after it is gone."""
    run = look(started(fresh()), OldPods(frozenset({"a"})), (0, 0), a=(1, 100), b=(5, 900))
    run = look(run, OldPods(frozenset({"a"})), (1, 50), a=(2, 150), b=(9, 999))
    assert counted_old(run) == (1, 50)
    both_fresh = OldPods(frozenset({"a", "b"}))
    run = look(run, both_fresh, (2, 100), a=(3, 200), b=(10, 1010), c=(7, 70))
    assert counted_old(run) == (1 + 1 + 1, 50 + 50 + 11)
    run = look(run, OldPods(frozenset({"b"})), (3, 150), a=(4, 230), b=(10, 1010))
    assert counted_old(run) == (4, 141)
    run = look(run, OldPods(frozenset({"b"}), frozenset({"a"})), (3, 150), a=(9, 300), b=(10, 1010))
    assert counted_old(run) == (4, 141)
    assert "of 1 fresh old pod 4 of 141" in conclude(run).message


@pytest.mark.contract("B1207")
def test_without_a_fresh_pod_it_is_inconclusive() -> None:
    """However bad the new version is beside all the others; only a negligible rate passes."""
    others = OldPods(others=frozenset({"a"}))
    for bad, kind in ((9, INCONCLUSIVE), (0, PASS)):
        run = started(fresh())
        for number in range(61):
            grown = (1.0 * number, 200.0 * number)
            run = look(run, others, (bad * number, 200.0 * number), a=grown)
        said = conclude(run)
        assert said.kind is kind
    worse = look(look(started(fresh()), others, (0, 0), a=(0, 0)), others, (9, 10), a=(0, 10))
    assert conclude(worse).message.startswith("no old pod was started within 60s of a new one: ")


@pytest.mark.contract("B1207")
def test_counters_without_the_label_pod_are_an_error() -> None:
    """In a rollout, and before one, where the version that serves is looked at."""
    run = started(fresh())
    now = run.wake_at
    run, tick = ticked(run, now)
    run = run.after_answer(tick, now, both(of_pods(new=(0, 0)), samples(1, 10)))
    assert run.last is not None
    assert (run.last.kind, "has no label pod" in run.last.message) == (Kind.ERROR, True)
    alone = without_comparison(fresh()).probe
    assert isinstance(alone, Counts)
    found = look_once(alone, Answers(samples(1, 10)))
    assert (found.kind, found.permanent) == (Kind.ERROR, True)
    assert look_once(alone, Answers(of_pods(new=(1, 10)))).kind is Kind.PASS


@pytest.mark.contract("B1207")
def test_fresh_pods_that_are_gone_are_said_to_be() -> None:
    """Not that the whole old version is."""
    run = started(fresh())
    pods = OldPods(frozenset({"a"}))
    for number in range(14):
        old = min(number, 3)
        run = look(run, pods, (2.0 * number, 100.0 * number), a=(2.0 * old, 100.0 * old))
    assert run.settled
    assert conclude(run).message.startswith("the fresh old pods no longer serve; both ")
