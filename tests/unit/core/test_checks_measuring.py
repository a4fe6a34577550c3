"""One measurement: each row of its table, in the order in which the rules decide."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gate.core.checks.baseline_comparison import MannWhitney, Pairs, Ratio
from gate.core.checks.measurement import Kind, measure_error
from gate.core.checks.questions import (
    Answers,
    CommandQuestion,
    Errored,
    Exit,
    Form,
    HttpQuestion,
    HttpReply,
    MetricQuestion,
    NoReply,
    Samples,
    Series,
    Trouble,
)
from gate.core.checks.spec import Bounds, Check, Command, During, Http, Reduce
from gate.core.checks.tick_measurement import measure
from gate.core.model.objects import CleanText
from tests.table import each
from tests.unit.core.checks_world import (
    a_check,
    answer,
    asked,
    metric,
    min_samples,
    pair,
    query,
    vector,
)

NAN, INF = math.nan, math.inf
HTTP = HttpQuestion("https://web.example/health")


def kind(check: Check, answers: Answers) -> Kind:
    """Return what a measurement says."""
    return measure(check, answers).kind


@pytest.mark.contract("B400", "B401")
@each(
    ("least", "most", "value", "wanted"),
    [
        (None, 0.5, 0.5, Kind.PASS),
        (None, 0.5, 0.5000001, Kind.FAIL),
        (1.0, None, 1.0, Kind.PASS),
        (1.0, None, 0.9999, Kind.FAIL),
        (1.0, 2.0, 1.5, Kind.PASS),
        (1.0, 2.0, 2.5, Kind.FAIL),
        (0.0, 0.0, -0.0, Kind.PASS),
        (None, 0.5, INF, Kind.FAIL),
        (None, 0.5, -INF, Kind.NO_DATA),
        (0.5, None, -INF, Kind.FAIL),
        (0.5, None, INF, Kind.NO_DATA),
    ],
)
def test_one_number_is_judged_by_inclusive_bounds(
    least: float | None, most: float | None, value: float, wanted: Kind
) -> None:
    """Inside is a pass, outside a fail; an infinity that violates no bound says nothing."""
    check = a_check(metric(least, most))
    for samples in (vector(value), Samples(Form.SCALAR, (Series(value),))):
        assert measure(check, Answers(samples)).kind is wanted, "a scalar is a vector of one"


@pytest.mark.contract("B402")
@each("answers", [answer(), answer(NAN)])
def test_nothing_is_neither_a_yes_nor_a_no(answers: Answers) -> None:
    """NaN and an empty vector are no data."""
    assert kind(a_check(), answers) is Kind.NO_DATA


@pytest.mark.contract("B403")
def test_several_series_are_an_error_that_names_them() -> None:
    """Nobody said which of them counts; asking again does not help."""
    found = measure(a_check(), answer(0.1, 0.2, 0.9, 0.9, 0.9))
    assert (found.kind, found.permanent) == (Kind.ERROR, True)
    said = "5 series, and no reduce (sum(...) in the query, or reduce: max): "
    assert said + 'errors{pod="web-0"}' in found.message
    assert "web-3" not in found.message


@pytest.mark.contract("B403")
@each(
    ("reduce", "numbers", "value"),
    [
        (Reduce.MAX, (1.0, 3.0, NAN), 3.0),
        (Reduce.MIN, (1.0, 3.0, NAN), 1.0),
        (Reduce.SUM, (1.0, 3.0), 4.0),
        (Reduce.AVG, (1.0, 3.0), 2.0),
        (Reduce.MAX, (NAN, NAN), None),
        (Reduce.SUM, (1.0, NAN), None),
        (Reduce.AVG, (1.0, NAN), None),
        (Reduce.SUM, (INF, -INF), None),
        (Reduce.SUM, (1e308, 1e308), INF),
    ],
)
def test_series_are_reduced_as_promql_would(
    reduce: Reduce, numbers: tuple[float, ...], value: float | None
) -> None:
    """Maximum and minimum pass over NaN, sums keep it."""
    found = measure(a_check(metric(0.0, None, reduce=reduce)), answer(*numbers))
    assert found.value == value


@pytest.mark.contract("B403")
@each(
    ("reduce", "numbers", "wanted"),
    [
        (Reduce.ALL, (0.1, 0.2), Kind.PASS),
        (Reduce.ALL, (0.1, 0.9), Kind.FAIL),
        (Reduce.ALL, (0.1, NAN), Kind.NO_DATA),
        (Reduce.ALL, (0.9, NAN), Kind.FAIL),
        (Reduce.ALL, (INF, 0.1), Kind.FAIL),
        (Reduce.ALL, (-INF, 0.1), Kind.NO_DATA),
        (Reduce.ANY, (0.1, 0.9), Kind.PASS),
        (Reduce.ANY, (0.8, 0.9), Kind.FAIL),
        (Reduce.ANY, (0.9, NAN), Kind.NO_DATA),
        (Reduce.ANY, (0.1, NAN), Kind.PASS),
        (Reduce.ALL, (), Kind.NO_DATA),
        (Reduce.ANY, (), Kind.NO_DATA),
    ],
)
def test_all_and_any_judge_each_series(
    reduce: Reduce, numbers: tuple[float, ...], wanted: Kind
) -> None:
    """What says nothing passes neither way."""
    assert kind(a_check(metric(reduce=reduce)), answer(*numbers)) is wanted


@pytest.mark.contract("B404")
@pytest.mark.parametrize("form", [Form.STRING, Form.MATRIX, Form.HISTOGRAM])
@pytest.mark.parametrize("role", ["value", "samples", "freshness", "baseline"])
def test_what_is_no_number_is_an_error(form: Form, role: str) -> None:
    """Whichever of the queries it answers."""
    answers = Answers(vector(0.1), vector(100.0), vector(1.0), vector(0.1))
    check = a_check(metric(min_samples=min_samples(10)))
    found = measure(check, replace(answers, **{role: Samples(form)}))
    assert (found.kind, found.permanent) == (Kind.ERROR, True)
    assert form in found.message


@pytest.mark.contract("B405")
@each(("value", "wanted"), [(0.1, Kind.NO_DATA), (0.9, Kind.FAIL), (NAN, Kind.NO_DATA)])
def test_a_partial_answer_proves_no_health(value: float, wanted: Kind) -> None:
    """A pass becomes no data, a fail stays."""
    answers = Answers(vector(value, remarks=("store-2 is unreachable",)))
    assert kind(a_check(), answers) is wanted


@pytest.mark.contract("B405")
@pytest.mark.parametrize("role", ["samples", "freshness"])
def test_what_stands_behind_a_value_has_to_be_whole_too(role: str) -> None:
    """A part of the samples may be the part that is well."""
    check = a_check(metric(min_samples=min_samples(1), freshness=query("up")))
    whole = Answers(vector(0.1), samples=vector(1.0), freshness=vector(1.0))
    assert kind(check, whole) is Kind.PASS
    partial = {role: vector(1.0, remarks=("store-2 is unreachable",))}
    assert kind(check, replace(whole, **partial)) is Kind.NO_DATA


@pytest.mark.contract("B406")
@each(
    ("ages", "wanted"),
    [((30.0,), Kind.PASS), ((30.1,), Kind.NO_DATA), ((NAN,), Kind.NO_DATA), ((), Kind.NO_DATA),
     ((1.0, 2.0), Kind.ERROR)],
)  # fmt: skip
def test_old_samples_are_no_data(ages: tuple[float, ...], wanted: Kind) -> None:
    """Three intervals of 10 s are the usual limit, its end included; nor is a fail one."""
    check = a_check(metric(freshness=query('errors{replicaset="${replicaset}"}')))
    assert kind(check, Answers(vector(0.1), freshness=vector(*ages))) is wanted
    strict = a_check(metric(freshness=query("errors")), max_age_seconds=5.0)
    assert kind(strict, Answers(vector(0.9), freshness=vector(6.0))) is Kind.NO_DATA


@pytest.mark.contract("B406")
def test_freshness_asks_for_the_age_of_the_newest_sample() -> None:
    """A comment at the selector's end does not swallow what closes the query."""
    questions = asked(a_check(metric(freshness=query('up{a="${replicaset}"} # mine'))))
    assert questions.freshness == MetricQuestion(
        'time() - max(timestamp(up{a="web-new"} # mine\n))', 100.0
    )


@pytest.mark.contract("B407")
@each(
    ("counts", "wanted"),
    [((10.0,), Kind.FAIL), ((9.9,), Kind.NO_DATA), ((NAN,), Kind.NO_DATA), ((), Kind.NO_DATA),
     ((50.0, 50.0), Kind.ERROR)],
)  # fmt: skip
def test_too_few_samples_are_no_data(counts: tuple[float, ...], wanted: Kind) -> None:
    """Neither a fail nor a pass stands on three requests."""
    check = a_check(metric(min_samples=min_samples(10)))
    assert kind(check, Answers(vector(0.9), vector(*counts))) is wanted


@pytest.mark.contract("B407", "B410")
def test_all_queries_of_a_tick_are_asked_for_the_same_time() -> None:
    """The value, its samples, its age, and the baseline's."""
    check = a_check(
        metric(min_samples=min_samples(1), freshness=query("errors"), compare=Ratio(2.0))
    )
    questions = asked(check, at=123.0)
    parts = (questions.value, questions.samples, questions.freshness, questions.baseline)
    assert [isinstance(part, MetricQuestion) and part.at for part in parts] == [123.0] * 4
    assert questions.baseline == MetricQuestion('errors{replicaset="web-old"}', 123.0)


@pytest.mark.contract("B408", "B409")
@pytest.mark.parametrize("trouble", list(Trouble))
def test_what_has_no_answer_is_an_error(trouble: Trouble) -> None:
    """With its cause, and with whether asking again can help."""
    error = Errored(CleanText("why"), trouble)
    found = measure_error(error)
    assert (found.kind, found.message, found.trouble) == (Kind.ERROR, "why", trouble)
    assert found.permanent is error.permanent
    assert error.usage is (trouble is Trouble.BAD_QUERY)


def test_an_answer_of_another_kind_is_a_mistake() -> None:
    """It says so, and judges nothing."""
    with pytest.raises(ValueError, match="Exit answers no question of errors"):
        measure(a_check(), Answers(Exit(0)))


@pytest.mark.contract("B420")
@each(
    ("new", "old", "wanted"),
    [
        (0.30, 0.20, Kind.PASS),
        (0.31, 0.20, Kind.FAIL),
        (0.04, 0.02, Kind.PASS),
        (0.05, 0.0, Kind.PASS),
        (0.06, 0.0, Kind.FAIL),
        (0.0, 0.0, Kind.PASS),
        (-0.9, -1.0, Kind.PASS),
        (INF, 0.2, Kind.FAIL),
        (-INF, 0.2, Kind.NO_DATA),
        (NAN, 0.2, Kind.NO_DATA),
    ],
)
def test_new_is_compared_with_old_by_ratio(new: float, old: float, wanted: Kind) -> None:
    """Over one and a half times old and over 0.05 more; an old of 0 leaves the delta alone."""
    check = a_check(metric(None, None, compare=Ratio(1.5, 0.05)))
    assert kind(check, pair(new, old)) is wanted


@pytest.mark.contract("B405", "B423")
@each("compare", [Ratio(1.5), MannWhitney()])
@each("old", [vector(), vector(NAN), vector(INF), vector(0.1, remarks=("partial",))])
def test_a_baseline_that_says_nothing_is_no_data(
    compare: Ratio | MannWhitney, old: Samples
) -> None:
    """The version cannot be blamed for it, nor be acquitted by it; a part is fewer than it had."""
    check = a_check(metric(None, None, compare=compare))
    assert kind(check, Answers(vector(9.0), baseline=old)) is Kind.NO_DATA


@pytest.mark.contract("B420")
def test_bounds_hold_beside_a_comparison() -> None:
    """Better than before is not good enough where there is a bound."""
    check = a_check(metric(None, 0.5, compare=Ratio(1.5)))
    assert kind(check, pair(0.6, 0.9)) is Kind.FAIL
    assert kind(check, pair(0.4, 0.9)) is Kind.PASS


@pytest.mark.contract("B421")
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_samples_are_compared_by_their_ranks_whatever_the_scale(scale: float) -> None:
    """Too few say nothing, a doubled value fails, an equal one passes."""
    check = a_check(metric(None, None, compare=MannWhitney()))
    low = [scale * (1 + step / 100) for step in range(20)]
    high = [2 * value for value in low]

    def kinds(new: list[float], old: list[float]) -> Kind:
        earlier = Pairs(tuple(new[:-1]), tuple(old[:-1]))
        return measure(check, pair(new[-1], old[-1]), earlier).kind

    assert kinds(high[:7], low[:7]) is Kind.NO_DATA
    assert kinds(high[:8], low[:8]) is Kind.FAIL
    assert kinds(low, low) is Kind.PASS
    assert kinds(low, high) is Kind.PASS
    assert kinds([1.2 * value for value in low], low) is Kind.PASS


@pytest.mark.contract("B424")
@each(
    ("reply", "wanted"),
    [
        (HttpReply(200, 0.1), Kind.PASS),
        (HttpReply(204, 0.1), Kind.PASS),
        (HttpReply(302, 0.1, location=CleanText("/login")), Kind.FAIL),
        (HttpReply(404, 0.1), Kind.FAIL),
        (HttpReply(503, 0.1), Kind.FAIL),
        (HttpReply(200, 0.51), Kind.FAIL),
        (NoReply(CleanText("refused")), Kind.FAIL),
    ],
)
def test_a_reply_is_judged_by_status_and_latency(reply: HttpReply | NoReply, wanted: Kind) -> None:
    """The service under test answers for its silence too."""
    assert kind(a_check(Http(HTTP, max_latency_seconds=0.5)), Answers(reply)) is wanted


@pytest.mark.contract("B424")
@each(
    ("found", "number", "wanted"),
    [
        (True, 3.0, Kind.PASS),
        (False, 3.0, Kind.FAIL),
        (True, 2.0, Kind.FAIL),
        (True, None, Kind.NO_DATA),
        (True, INF, Kind.NO_DATA),
        (True, -INF, Kind.FAIL),
    ],
)
def test_a_body_is_judged_by_text_and_number(
    found: bool, number: float | None, wanted: Kind
) -> None:
    """The number is judged as a query's is."""
    question = replace(HTTP, contains="ok", json_path=("ready",))
    check = a_check(Http(question, bounds=Bounds(3.0)))
    assert kind(check, Answers(HttpReply(200, 0.1, found, number))) is wanted


@pytest.mark.contract("B425")
@each(
    ("code", "wanted", "message"),
    [
        (0, Kind.PASS, "exit 0: done"),
        (1, Kind.FAIL, "exit 1: done"),
        (75, Kind.ERROR, "exit 75: done"),
        (-9, Kind.FAIL, "ended by SIGKILL: done"),
        (None, Kind.FAIL, "did not end in time: done"),
    ],
)
def test_a_command_is_judged_by_its_exit(code: int | None, wanted: Kind, message: str) -> None:
    """The last line of its output is the evidence; 75 asks to be tried again."""
    found = measure(a_check(Command(("t",))), Answers(Exit(code, CleanText("begun\ndone\n"))))
    assert (found.kind, found.message, found.permanent) == (wanted, message, False)


@pytest.mark.contract("B426")
def test_a_command_is_told_what_it_judges() -> None:
    """Under the names of the page, and nothing else."""
    questions = asked(a_check(Command(("t", "--fast"), 5.0)))
    wanted = {
        "ROLLOUT_GATE_NAMESPACE": "shop",
        "ROLLOUT_GATE_DEPLOYMENT": "web",
        "ROLLOUT_GATE_REPLICASET": "web-new",
        "ROLLOUT_GATE_POD_TEMPLATE_HASH": "new",
        "ROLLOUT_GATE_REVISION": "7",
        "ROLLOUT_GATE_PHASE": During.ROLLOUT.value,
    }
    assert questions.value == CommandQuestion(("t", "--fast"), tuple(wanted.items()), 5.0)
