"""Replays of recordings with measurements: judged as then, or by other bounds, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from gate.app.replay.judgement import Judged, Recording, Stands, judge
from gate.app.replay.recorded_answers import RecordedAnswers
from gate.app.replay.same_question import alike
from gate.core.checks.baseline_comparison import Ratio
from gate.core.checks.query_template import Query
from gate.core.checks.questions import (
    Answer,
    Answers,
    Counted,
    Errored,
    Exit,
    Form,
    HttpQuestion,
    HttpReply,
    MetricQuestion,
    Questions,
    Samples,
    Series,
    Trouble,
)
from gate.core.checks.spec import (
    Bounds,
    Check,
    Command,
    Counts,
    Http,
    Metric,
    MinSamples,
    Schedule,
    Tolerances,
)
from gate.core.checks.tick_grid import Tick
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.protocol import events
from gate.core.protocol.effects import Ask
from gate.core.rollout.policy import Budgets, Policy
from gate.core.statistics.count_decision import CountRule
from gate.wire import trace
from gate.wire.measurements import Measured

GOOD_ROLLING = Path(__file__).parents[2] / "traces" / "good-rolling.jsonl"
BAKE_SECONDS = 60.0


def query(text: str) -> Query:
    """Parse a query."""
    return Query.parse(text, BUILT_IN)


def metric(text: str = "errors", most: float = 0.5, name: str = "errors", **more: object) -> Check:
    """Make a check of a query that names no variable."""
    return Check(name, Metric(query(text), Bounds(most=most)), **more)  # type: ignore[arg-type]


def value(number: float) -> Answers:
    """Make the answer to a query."""
    return Answers(Samples(Form.VECTOR, (Series(number),)))


def every_ten_seconds(*said: Answers | Errored, name: str = "errors") -> list[Measured]:
    """Measure at the ticks of the usual grid, each answer a moment later."""
    return [
        Measured(10.0 * tick + 0.1, name, Tick(tick, 10.0 * tick), each)
        for tick, each in enumerate(said)
    ]


def recording(checks: Iterable[Check], *measured: Measured, until: float = 100.0) -> Recording:
    """Return a recorded good rollout with measurements, watched until a second."""
    found = trace.read(GOOD_ROLLING)
    heard = [*found.events()]
    end = [replace(heard[-1], at=until)]
    everything = sorted([*heard, *measured, *end], key=lambda event: event.at)
    before = {live.ref: Absent() for live in found.applied}
    return Recording(found.before, before, found.applied, everything, tuple(checks))


def replayed(
    then: Iterable[Check], now: Iterable[Check], *measured: Measured, until: float = 100.0
) -> Judged:
    """Judge a recording of some checks by others."""
    policy = Policy(budgets=Budgets(bake_seconds=BAKE_SECONDS), checks=tuple(now))
    (judged,) = judge(recording(then, *measured, until=until), policy)
    return judged


ALL_GOOD = every_ten_seconds(*[value(0.1)] * 9)
BAD_LATER = every_ten_seconds(*[value(0.1)] * 4, value(0.9))


# -- judged as then --------------------------------------------------------------------------------


@pytest.mark.contract("B467")
def test_what_was_measured_well_is_complete() -> None:
    """Each check is told of, with its evidence."""
    judged = replayed([metric()], [metric()], *ALL_GOOD)
    assert (judged.verdict, judged.reason) == (Stands.COMPLETE, Reason.COMPLETE)
    assert judged.decided_at is not None
    assert judged.decided_at > BAKE_SECONDS
    (row,) = judged.document()["checks"]
    assert (row["name"], row["verdict"], row["last_value"]) == ("errors", "pass", 0.1)
    assert row["measurements"] >= 6
    assert "errors: 0.1 is <= 0.5" in judged.text()


@pytest.mark.contract("B467")
def test_a_bad_measurement_fails_the_rollout_when_it_was_taken() -> None:
    """The verdict is that of the whole attempt, not of the pods alone."""
    judged = replayed([metric()], [metric()], *BAD_LATER)
    assert (judged.verdict, judged.reason) == (Stands.FAILED, Reason.CHECK_FAILED)
    assert judged.decided_at == pytest.approx(40.1)
    assert "0.9 is not <= 0.5" in judged.message
    assert judged.document()["verdict"] == "failed"


@pytest.mark.contract("B467")
def test_errors_of_then_are_errors() -> None:
    """An outage that was recorded is inconclusive, as it was."""
    down = Errored(CleanText("connection refused"), Trouble.REFUSED)
    judged = replayed([metric()], [metric()], *every_ten_seconds(*[down] * 9))
    assert (judged.verdict, judged.reason) == (Stands.INCONCLUSIVE, Reason.CHECK_ERROR)
    assert "connection refused" in judged.document()["checks"][0]["message"]


@pytest.mark.contract("B467")
def test_what_was_not_measured_is_not_made_up() -> None:
    """A recording that ends early leaves undecided what is, one without measurements too."""
    cut = replayed([metric()], [metric()], *ALL_GOOD[:3], until=25.0)
    assert cut.decided_at is None
    (row,) = cut.document()["checks"]
    assert row["verdict"] == "undecided"
    silent = replayed([metric()], [metric()])
    assert (silent.verdict, silent.reason) == (Stands.INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE)


@pytest.mark.contract("B467")
def test_a_smoke_test_that_ran_a_moment_before_the_replay_asks_counts() -> None:
    """What runs once is heard once: the run may have been complete a moment sooner."""
    smoke = Check("smoke", Command(("./smoke",)), Schedule(count=1, initial_delay_seconds=30.0))
    early = Measured(29.0, "smoke", Tick(0, 28.9), Answers(Exit(1)))
    judged = replayed([smoke], [smoke], early)
    assert (judged.verdict, judged.reason) == (Stands.FAILED, Reason.CHECK_FAILED)


@pytest.mark.contract("B467")
def test_what_was_measured_before_the_question_is_no_answer() -> None:
    """A check that begins later now is not judged by what was said before."""
    later = metric(schedule=Schedule(initial_delay_seconds=40.0))
    old = [Measured(10.1, "errors", Tick(1, 10.0), value(0.9))]
    judged = replayed([metric()], [later], *old)
    assert judged.verdict is Stands.INCONCLUSIVE
    (row,) = judged.checks
    assert row["measurements"] == 0


# -- judged by others ------------------------------------------------------------------------------


@pytest.mark.contract("B468")
def test_other_bounds_are_judged_by_the_recorded_answers() -> None:
    """Both ways: what passed fails now, and what failed passes."""
    failed = replayed([metric()], [metric(most=0.05)], *ALL_GOOD)
    assert (failed.verdict, failed.reason) == (Stands.FAILED, Reason.CHECK_FAILED)
    more = every_ten_seconds(*[value(0.1)] * 4, *[value(0.9)] * 6)
    assert replayed([metric()], [metric(most=1.0)], *more).verdict is Stands.COMPLETE


@pytest.mark.contract("B468")
def test_other_tolerances_are_judged_by_the_recorded_answers() -> None:
    """Failures that are tolerated now."""
    bears = metric(tolerances=Tolerances(allowed_failures=1))
    measured = every_ten_seconds(*[value(0.1)] * 4, value(0.9), *[value(0.1)] * 5)
    assert replayed([metric()], [metric()], *measured).verdict is Stands.FAILED
    assert replayed([metric()], [bears], *measured).verdict is Stands.COMPLETE


@pytest.mark.contract("B468")
@pytest.mark.parametrize("seconds", [3.0, 25.0])
def test_another_interval_takes_what_comes_next(seconds: float) -> None:
    """Each question has the next answer, so that a failure is seen whenever it is asked."""
    other = metric(schedule=Schedule(interval_seconds=seconds))
    assert replayed([metric()], [other], *ALL_GOOD).verdict is Stands.COMPLETE
    bad = every_ten_seconds(*[value(0.1)] * 4, *[value(0.9)] * 6)
    assert replayed([metric()], [other], *bad).verdict is Stands.FAILED


@pytest.mark.contract("B468")
@pytest.mark.parametrize(
    ("other", "words"),
    [
        (metric("sum(errors)"), "the recording's check of that name asked something else"),
        (metric(name="new"), "the recording has no measurements of it"),
        (
            Check("errors", Command(("true",))),
            "the recording's check of that name asked something else",
        ),
    ],
)
def test_what_was_not_asked_then_is_inconclusive(other: Check, words: str) -> None:
    """Another query, another name, another kind: no outage, but a thing that nobody knows."""
    judged = replayed([metric()], [other], *ALL_GOOD)
    assert (judged.verdict, judged.reason) == (Stands.INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE)
    assert words in judged.message
    assert "error" not in judged.message.removeprefix("errors")


@pytest.mark.contract("B1163")
def test_counters_are_counted_again_under_another_tolerance() -> None:
    """Four times the bad requests fail a version as before, and pass under a wide rule."""
    strict = replace(of_counts(), name="errors", schedule=Schedule(interval_seconds=5.0))
    wide = CountRule(tolerance=9.0, harm=20.0)
    measured = [
        Measured(
            5.0 * look + 0.1,
            "errors",
            Tick(look, 5.0 * look),
            Answers(counters(40 * look, 1000 * look), baseline=counters(10 * look, 1000 * look)),
        )
        for look in range(20)
    ]
    assert replayed([strict], [strict], *measured).reason is Reason.CHECK_FAILED
    tolerated = replace(strict, probe=of_counts(rule=wide).probe)
    assert replayed([strict], [tolerated], *measured).verdict is Stands.COMPLETE


def counters(bad: int, total: int) -> Samples:
    """Return the counters of one version."""
    counted = ((Counted.BAD, bad), (Counted.TOTAL, total))
    return Samples(
        Form.VECTOR,
        tuple(Series(float(value), counted=kind, identity="a") for kind, value in counted),
    )


def test_a_recording_is_read_once_for_all_policies() -> None:
    """Its events may be asked for a single time."""
    found = recording([metric()], *ALL_GOOD)
    once = replace(found, events=iter([*found.events]))
    policies = [
        Policy(budgets=Budgets(bake_seconds=60.0), checks=(metric(most=most),))
        for most in (0.5, 0.05)
    ]
    verdicts = [judged.verdict for judged in judge(once, *policies)]
    assert verdicts == [Stands.COMPLETE, Stands.FAILED]


# -- what is asked alike ---------------------------------------------------------------------------


def of_query(text: str = "a[${window}]", **more: object) -> Check:
    """Make a check with more to it than a query."""
    probe = Metric(query(text), Bounds(most=1.0), **more)  # type: ignore[arg-type]
    return Check("c", probe)


def request(url: str = "https://web/x", **more: object) -> Check:
    """Make an HTTP check."""
    return Check("c", Http(HttpQuestion(url, **more)))  # type: ignore[arg-type]


def of_counts(bad: str = "bad", **more: object) -> Check:
    """Make a comparison by counts."""
    return Check("c", Counts(query(bad), query("total"), **more))  # type: ignore[arg-type]


FEW = MinSamples(query("count"), 5.0)
ALIKE = [
    (of_query(), of_query()),
    (of_query(), replace(of_query(), schedule=Schedule(3.0))),
    (of_query("a", window_seconds=60.0), of_query("a", window_seconds=90.0)),
    (of_query(min_samples=FEW), of_query()),
    (of_query(min_samples=FEW), of_query(min_samples=replace(FEW, least=9.0))),
    (of_query(freshness=query("up")), of_query()),
    (of_query(compare=Ratio(2.0)), of_query(compare=Ratio(3.0))),
    (of_query(compare=Ratio(2.0)), of_query()),
    (of_counts(), of_counts(rule=CountRule(tolerance=0.5))),
    (replace(of_query(), deployment="web"), of_query()),
    (request(), request(timeout_seconds=3.0)),
    (request("https://web/x?masked:0123"), request("https://web/x?token=1")),
    (request(contains="ok", json_path=("a",)), request()),
    (Check("c", Command(("./a", "masked:01"))), Check("c", Command(("./a", "-v")))),
]
OTHERWISE = [
    (of_query(), of_query("b[${window}]")),
    (of_query(), of_query(window_seconds=90.0)),
    (of_query(), of_query(min_samples=FEW)),
    (of_query(min_samples=FEW), of_query(min_samples=MinSamples(query("other"), 5.0))),
    (of_query(), of_query(freshness=query("up"))),
    (of_query(), of_query(compare=Ratio(2.0))),
    (of_counts(), of_counts(bad="others")),
    (of_counts(), of_query()),
    (of_query(), replace(of_query(), user_variables=FrozenMap({"a": "b"}))),
    (replace(of_query(), deployment="web"), replace(of_query(), deployment="api")),
    (request(), request("https://web/y")),
    (request("https://web/x?masked:0123"), request("https://web/x")),
    (request("https://web/x?a=1"), request("https://web/x?a=2")),
    (request(), request(method="HEAD")),
    (request(), request(contains="ok")),
    (request(), request(json_path=("a",))),
    (request(), request(redirects=1)),
    (Check("c", Command(("./a", "-v"))), Check("c", Command(("./b", "-v")))),
    (Check("c", Command(("./a", "masked:01"))), Check("c", Command(("./a",)))),
    (request(), of_query()),
]


@pytest.mark.contract("B468")
@pytest.mark.parametrize(("recorded", "configured"), ALIKE)
def test_what_asks_no_more_than_was_asked_is_alike(recorded: Check, configured: Check) -> None:
    """Whatever is made of the answers; what was masked is taken for the same."""
    assert alike(recorded, configured)


@pytest.mark.contract("B468")
@pytest.mark.parametrize(("recorded", "configured"), OTHERWISE)
def test_what_asks_anything_else_is_not(recorded: Check, configured: Check) -> None:
    """There is no answer to it in the recording."""
    assert not alike(recorded, configured)


# -- answers that fit ------------------------------------------------------------------------------


def answer_to(questions: Questions, said: Answers, check: Check) -> Answers | Errored:
    """Ask a recording that holds one measurement."""
    recorded = RecordedAnswers([check], [check])
    effect = Ask(7, check.name, Tick(0, 0.0), questions)
    assert recorded.ask(effect, 0.0) is None
    answer = recorded.take_measurement(Measured(1.0, check.name, Tick(0, 0.0), said))
    assert answer is not None
    assert (answer.at, answer.effect_id) == (1.0, 7)
    return answer.answers if isinstance(answer, events.Answered) else answer.error


def test_what_is_not_asked_any_more_is_left_out() -> None:
    """A text that nobody looks for cannot be missing."""
    samples = Samples(Form.VECTOR, (Series(1.0),))
    asked = Questions(MetricQuestion("a", 0.0))
    said = answer_to(asked, Answers(samples, samples, samples, samples), of_query())
    assert said == Answers(samples)
    reply = HttpReply(200, 0.1, found=False, number=7.0)
    said = answer_to(Questions(HttpQuestion("https://web/x")), Answers(reply), request())
    assert said == Answers(HttpReply(200, 0.1))


@pytest.mark.parametrize("wrong", [Exit(0), HttpReply(200, 0.1)])
def test_an_answer_of_another_kind_is_none(wrong: Answer) -> None:
    """Somebody wrote into the recording: the check is inconclusive, and nothing breaks."""
    asked = Questions(MetricQuestion("a", 0.0))
    assert isinstance(answer_to(asked, Answers(wrong), of_query()), Errored)
    both = Questions(MetricQuestion("a", 0.0), baseline=MetricQuestion("b", 0.0))
    good = Samples(Form.VECTOR)
    assert isinstance(answer_to(both, Answers(good, baseline=wrong), of_query()), Errored)
    assert isinstance(answer_to(both, Answers(good), of_query()), Errored)
