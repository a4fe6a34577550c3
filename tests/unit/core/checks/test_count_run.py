"""A comparison by counts over a phase: what the readings of both sides say, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.checks.old_pods import OldPods
from gate.core.checks.questions import Answers, Form, Questions, Samples
from gate.core.checks.run import CheckRun, ConclusionKind
from gate.core.checks.spec import Counts, During
from gate.core.checks.tick_questions import ask
from gate.core.model.outcome import Reason
from tests.table import each
from tests.unit.core.checks.count_looks import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    UNDECIDED,
    Reading,
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
from tests.unit.core.checks_world import SUBJECT


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
            " with this traffic 2.39 times as bad fails four times in five"
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

    def become_worse(look: int) -> Answers:
        new = samples(1044 + 30 * (look - 45), 10_000 + 100 * look)
        return both(new, samples(1000 + look, 10_000 + 100 * look))

    worse = look_on(worse, range(46, 80), become_worse)
    assert conclude(worse).kind is FAIL


@pytest.mark.contract("B1561")
def test_a_window_that_begins_again_keeps_what_was_counted_of_the_same_versions() -> None:
    """What both count until its first look is not compared: traffic may have moved meanwhile."""
    versions = SUBJECT.versions
    seen = steady(CheckRun.start(counts(), 0.0, versions), 11, (1, 100), (1, 100))
    again = seen.start_again(500.0, versions)
    assert again.due(500.0) is not None, "it begins without a delay"

    def read(look: int) -> Answers:
        new = samples(1310 + look, 12_000 + 100 * look)
        return both(new, samples(1010 + look, 14_000 + 100 * look))

    after = look_on(again, range(1, 4), read)
    before, compared = counts_of(seen).evidence.compared, counts_of(after).evidence.compared
    assert compared.new.bad - before.new.bad == compared.old.bad - before.old.bad == 2
    assert compared.ticks - before.ticks == 2
    other = seen.start_again(500.0, (versions[0], None))
    assert other == CheckRun.start(counts(), 500.0, (versions[0], None))


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
    assert counts_of(run).enough_seconds == counts_of(run).shared_seconds == 300
    said = conclude(run)
    assert said.kind is INCONCLUSIVE
    assert said.message.startswith(f"{why}: ")


@pytest.mark.contract("B1451")
def test_what_never_served_together_is_not_said_to_lie_anywhere() -> None:
    """The old version goes before the new one comes: no ratio is looked for between the two."""
    run = started(counts(During.BOTH))
    for look in range(30):
        new, old = samples(16 * look, 1000 * look), samples(1000 + look, 10_000 + 100 * look)
        gone = Samples(Form.VECTOR)
        run = answer(run, both(gone, old) if look < 12 else both(new, gone))
    why, _, _ = conclude(run).message.partition(": ")
    assert why == (
        "the old version no longer serves; both served together for 0s (0 looks, of at least 9)"
    )


def after_trouble(during: During, bad_before: float) -> CheckRun:
    """Return a run in which old serves alone for two minutes, then beside one thrice as bad."""
    run, new, old = started(counts(during)), (0.0, 0.0), (1000.0, 10_000.0)
    for number in range(61):
        new_side = samples(*new) if number >= 12 else Samples(Form.VECTOR)
        run = answer(run, both(new_side, samples(*old)))
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
        run = answer(run, both(samples(*new), samples(*old)))
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
    run = look_on(run, range(30), lambda look: Answers(samples(round(bad * look), 1000 * look)))
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
        new = samples(1000 + bad * look, 10_000 + 100 * look)
        run = answer(run, both(new, samples(1000 + 4 * bad, 10_400)))
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
        new = samples(1000 + 5 * look, 10_000 + 100 * look)
        run = answer(run, both(new, samples(1020, 10_400)), OldPods(are_there=look < 18))
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
    busy = conclude(steady(started(), 6, (200, 100_000), (200, 100_000)))
    assert busy.message.startswith(
        "both served together for 50s (5 looks, of at least 9); to find twice as bad takes about"
        " 90s: "
    )
    enough = steady(started(), 25, (2, 1000), (2, 1000))
    found = counts_of(enough).estimate(at_the_end=True).detectable
    assert found is not None
    assert 1.95 < found < 2.05


@pytest.mark.contract("B1610")
@each(
    ("new_unseen", "old_unseen", "shared"),
    [
        (range(0), range(0), 400),
        (range(11, 31), range(0), 190),
        (range(0), range(11, 31), 190),
        (range(11, 31), range(11, 31), 400),
        (range(11, 13), range(0), 400),
    ],
)
def test_what_one_version_was_not_seen_in_is_no_time_that_both_served(
    new_unseen: range, old_unseen: range, shared: int
) -> None:
    """But what its counters brought later is, where compared; so is a time that saw neither."""

    def read(look: int) -> Answers:
        side = samples(1000 + 2 * look, 10_000 + 1000 * look)
        missing = Samples(Form.VECTOR)
        return both(
            missing if look in new_unseen else side, missing if look in old_unseen else side
        )

    run = look_on(started(counts(During.BOTH)), range(41), read)
    assert counts_of(run).shared_seconds == shared


@pytest.mark.contract("B1630")
@each(
    ("idle", "shared"),
    [
        (range(11, 31), 200),
        (range(1, 21), 200),
        (range(11, 18), 330),
        (range(11, 17), 400),
        (range(1, 40, 3), 400),
    ],
)
def test_a_time_in_which_neither_version_had_a_request_is_none_that_both_served(
    idle: range, shared: int
) -> None:
    """Counters that stand for no longer than two scrape intervals (60 s) may not be scraped yet."""

    def read(look: int) -> Answers:
        busy = look - sum(one <= look for one in idle)
        side = samples(1000 + 2 * busy, 10_000 + 1000 * busy)
        return both(side, side)

    run = look_on(started(counts(During.BOTH)), range(41), read)
    assert counts_of(run).shared_seconds == shared


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
