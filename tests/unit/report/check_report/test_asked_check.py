"""Checks that were asked once: the table, the explanation, and where a server points."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.measurement import make_fail, measure_error, no_data
from gate.core.checks.questions import (
    Answer,
    Answers,
    CommandQuestion,
    Errored,
    Exit,
    HttpQuestion,
    HttpReply,
    NoReply,
    Trouble,
)
from gate.core.checks.spec import Bounds, Check, Command, Counts, During, Http, Reduce, Schedule
from gate.core.checks.tick_measurement import measure
from gate.core.model.objects import CleanText
from gate.report.check_report.asked_check import AskedCheck
from gate.report.check_report.document import checks_document
from gate.report.check_report.figures import bounds_of
from gate.report.check_report.query_pointer import point_at_place, question_text, show_queries
from gate.report.check_report.text import checks_explained, checks_table
from gate.report.schema.check_result import ChecksResult
from gate.report.schema.json_schema import checks_schema
from gate.report.style.style import Style, columns
from tests.table import each
from tests.unit.core.checks_world import a_check, asked, metric, min_samples, query, vector

AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LIVE = HttpQuestion("https://shop.example/live?key=c4nary")
HOSTILE = "x\x1b[31m::error::\u202e" * 30


def answered(check: Check, *answers: Answer) -> AskedCheck:
    """Return a check with its answers, in the order of its questions' roles."""
    given = Answers(*answers)
    questions = asked(check)
    return AskedCheck(check, "deployment/web", measure(check, given), questions, given)


def troubled(check: Check, error: Errored, role: str = "value") -> AskedCheck:
    """Return a check that nobody answered."""
    return AskedCheck(check, "", measure_error(error), asked(check), error=error, error_role=role)


def checks_result(*checks: AskedCheck) -> ChecksResult:
    """Return the document, which keeps to its schema."""
    result = checks_document(checks, AT)
    Draft202012Validator(checks_schema()).validate(result)
    return result


def named(check: Check, name: str) -> Check:
    """Return a check by another name."""
    return Check(name, check.probe, check.schedule, check.tolerances, required=check.required)


# -- the document ----------------------------------------------------------------------------------


@pytest.mark.contract("B456")
def test_the_worst_check_gives_the_code_and_is_named() -> None:
    """A wrong query before all, then what refuses, fails, and cannot be told."""
    good = answered(a_check(), vector(0.1))
    unseen = answered(named(a_check(), "unseen"), vector())
    bad = answered(named(a_check(), "bad"), vector(0.9))
    away = troubled(named(a_check(), "away"), Errored(CleanText("no"), Trouble.UNAUTHORIZED))
    wrong = troubled(named(a_check(), "wrong"), Errored(CleanText("no"), Trouble.BAD_QUERY))
    codes = [
        checks_result(good)["exit_code"],
        checks_result(good, unseen)["exit_code"],
        checks_result(good, unseen, bad)["exit_code"],
        checks_result(good, unseen, bad, away)["exit_code"],
        checks_result(good, unseen, bad, away, wrong)["exit_code"],
    ]
    assert codes == [0, 7, 6, 3, 2]
    assert checks_result(good, bad)["message"] == "bad: fails"


@pytest.mark.contract("B650")
@each(
    ("troubles", "words"),
    [
        ([Trouble.TLS], "errors: no TLS connection to the source could be made"),
        ([Trouble.REDIRECTED], "errors: the source redirects, which is not followed"),
        ([Trouble.UNAUTHORIZED], "errors: the source does not accept the credentials"),
        ([Trouble.FORBIDDEN], "errors: the source denies the request"),
        ([Trouble.NOT_FOUND], "errors: the source has no such path"),
        ([Trouble.BAD_ANSWER], "errors: what answers is not what the check expects"),
        ([Trouble.CREDENTIALS], "errors: the credentials cannot be used"),
        ([Trouble.ADDRESS], "errors: there is no address to ask"),
        ([Trouble.COMMAND], "errors: the command cannot be run"),
        (
            [Trouble.TLS, Trouble.NOT_FOUND, Trouble.TLS],
            (
                "errors, c: no TLS connection to the source could be made;"
                " b: the source has no such path"
            ),
        ),
    ],
    ids=lambda row: row[1],
)
def test_why_a_check_cannot_be_asked_is_told(troubles: list[Trouble], words: str) -> None:
    """Each is another thing to mend; checks with one trouble are told together."""
    away = [
        troubled(named(a_check(), name), Errored(CleanText("no"), trouble))
        for name, trouble in zip(("errors", "b", "c"), troubles, strict=False)
    ]
    assert checks_result(*away)["message"] == words


@pytest.mark.contract("B456", "B458")
def test_of_many_series_ten_are_kept_and_all_counted() -> None:
    """A query that matches the whole cluster does not fill the screen; NaN is no number of JSON."""
    odd = (math.nan, math.inf, -math.inf)
    result = checks_result(answered(a_check(metric(reduce=Reduce.MAX)), vector(*odd, *range(37))))
    (row,) = result["checks"]
    (question,) = row["questions"]
    assert row["value"] is None
    assert [one["value"] for one in question["series"]][:3] == ["NaN", "+Inf", "-Inf"]
    assert (len(question["series"]), question["series_count"]) == (10, 40)
    assert "and 30 more" in checks_explained(result, Style())


@pytest.mark.contract("B458")
@each(
    ("schedule", "tolerances", "says"),
    [
        (Schedule(), {}, "asked every 10s in rollout and bake; one failure fails it, one pass is"),
        (Schedule(count=1, during=During.BAKE), {}, "asked once, in bake; one failure fails it"),
        (
            Schedule(count=2, during=During.BAKE),
            {},
            "asked 2 times in bake, every 10s; one ",
        ),
        (Schedule(), {"allowed_failures": 2}, "; more than 2 failures fail it, one pass is needed"),
        (Schedule(), {"consecutive_failures": 3}, "; 3 failures in a row fail it, one pass is"),
        (Schedule(), {"min_passes": 4}, "; one failure fails it, 4 passes are needed"),
        (Schedule(), {"required": False}, "; it only reports"),
    ],
    ids=lambda row: row[2],
)
def test_when_it_is_asked_and_how_it_decides_in_a_run_is_said(
    schedule: Schedule, tolerances: dict[str, Any], says: str
) -> None:
    """One measurement of now is not yet the verdict of a rollout."""
    check = a_check(schedule=schedule, **tolerances)
    (row,) = checks_result(answered(check, vector(0.1)))["checks"]
    assert says in row["rules"][-1]["says"]


@pytest.mark.contract("B458")
def test_each_rule_says_what_it_made_of_the_answers() -> None:
    """In the order in which they decide."""
    probe = metric(min_samples=min_samples(20), freshness=query("up"), compare=Ratio(2, 0.1))
    (row,) = checks_result(
        answered(a_check(probe), vector(0.3), vector(340), vector(3.5), vector(0.2))
    )["checks"]
    assert [(rule["rule"], rule["says"]) for rule in row["rules"]][:-1] == [
        ("samples", "340, of at least 20"),
        ("age", "the newest sample is 3.5 seconds old, of at most 30s"),
        ("reduce", "none: it has to be one series"),
        ("bounds", "good is <= 0.5"),
        ("compare", "0.3 against 0.2; good is <= 2 x old + 0.1"),
        ("verdict", "pass: 0.3 against 0.2"),
    ]
    assert (row["value"], row["baseline"]) == (0.3, 0.2)


@each(
    ("check", "words"),
    [
        (a_check(metric(1.0, 5.0)), "1 to 5"),
        (a_check(metric(most=None, compare=MannWhitney())), "old + 25%, alpha 0.02"),
        (a_check(metric(compare=Ratio(1.5))), "<= 0.5, <= 1.5 x old"),
        (a_check(Http(LIVE, (200, 200))), "200"),
        (a_check(Http(LIVE, (200, 299), 0.5, Bounds(most=3))), "200-299, <= 0.5s, <= 3"),
        (a_check(Command(("true",))), "exit 0"),
    ],
    ids=lambda row: row[1],
)
def test_what_is_good_is_said_in_few_words(check: Check, words: str) -> None:
    """The column of bounds, for every kind of check."""
    assert bounds_of(check) == words


def test_each_kind_of_answer_is_a_line() -> None:
    """What came back, in the words of its source."""
    web = a_check(Http(LIVE))
    run = a_check(Command(("./smoke.sh", "a b")))
    replies: list[tuple[Check, Answer, str]] = [
        (a_check(), vector(), "no series (vector)"),
        (web, HttpReply(200, 0.1234), "200 after 0.123s"),
        (web, NoReply(CleanText("refused")), "refused"),
        (run, Exit(3), "exit 3"),
        (run, Exit(None), "did not end in time"),
    ]
    for check, answer, words in replies:
        (row,) = checks_result(answered(check, answer))["checks"]
        assert row["questions"][0]["answer"] == words


@pytest.mark.contract("B450")
def test_a_question_shows_no_query_of_a_url() -> None:
    """Keys are often there; commands are shown as a shell would take them."""
    assert question_text(LIVE) == "GET https://shop.example/live?..."
    assert question_text(CommandQuestion(("./smoke.sh", "a b"))) == "./smoke.sh 'a b'"


# -- for people ------------------------------------------------------------------------------------


def hostile() -> ChecksResult:
    """Return checks whose every text is an attack or too long."""
    check = a_check(metric(reduce=Reduce.MAX))
    long = Check("n" * 62, metric(), required=False)
    bad = AskedCheck(long, HOSTILE, make_fail(HOSTILE, 1.0), asked(long), None)
    place = Errored(CleanText(HOSTILE), Trouble.BAD_QUERY, HOSTILE, (1, 300))
    far = Check("far", type(metric())(query("up + " * 200 + "up"), Bounds(most=1)))
    return checks_result(answered(check, vector(*range(9))), bad, troubled(far, place))


@pytest.mark.contract("B456")
@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_table_has_no_line_that_a_terminal_breaks(width: int) -> None:
    """Names, queries and messages are cut or wrapped, and nothing is an escape."""
    lines = checks_table(hostile(), Style(width=width)).splitlines()
    assert all(columns(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)


def test_it_degrades_to_ascii_and_colours_only_when_asked_for() -> None:
    """A stream without box drawing gets plain signs."""
    for render in (checks_table, checks_explained):
        assert render(hostile(), Style(encoding="ascii")).isascii()
        assert "\x1b" not in render(hostile(), Style())
        assert "\x1b[1;31m" in render(hostile(), Style(color=True))


# -- where a server points -------------------------------------------------------------------------


@pytest.mark.contract("B451")
def test_of_a_long_query_the_part_around_the_place_is_shown() -> None:
    """The mark is on the screen, whatever the length."""
    text = "".join(chr(ord("a") + at % 26) for at in range(4000))
    line, mark = point_at_place(text, (1, 2001), Style(encoding="ascii"), room=60)
    assert line.startswith("...")
    assert line.endswith("...")
    assert line[mark.index("^")] == text[2000]
    assert columns(line) == 60


@pytest.mark.contract("B451")
@each(
    ("text", "place", "shown"),
    [
        ("sum(\n  rate(errors)\n) by (", (2, 8), ["sum(", "  rate(errors)", "       ^", ") by ("]),
        ('x{a="\u00e4"} !', (1, 11), ['x{a="\u00e4"} !', "         ^"]),
        *(("up", place, ["up"]) for place in ((0, 1), (9, 1), (1, 0))),
    ],
)
def test_the_caret_stands_under_the_place(
    text: str, place: tuple[int, int], shown: list[str]
) -> None:
    """Line and column from 1, a column being a byte; a place that is not there marks nothing."""
    assert point_at_place(text, place) == shown


@pytest.mark.contract("B451", "B458")
def test_of_a_comparison_by_counts_the_two_configured_queries_are_shown() -> None:
    """Nobody wrote the query that joins them; a mistake is marked in the one that has it."""
    bad, total = query('requests{code=~"5.."}'), query("requests")
    check = Check("errors", Counts(bad, total), Schedule(10.0))
    counted = AskedCheck(check, "deployment/web", no_data("none"), asked(check))
    shown = checks_table(checks_result(counted), Style())
    assert '    bad: requests{code=~"5.."}\n    total: requests\n' in shown
    explained = checks_explained(checks_result(counted), Style())
    assert '    bad          requests{code=~"5.."}\n    total        requests\n' in explained
    joined = question_text(asked(check).value)
    column = joined.encode().index(b"5..") + 1
    assert show_queries(joined, (1, column)) == [
        ("bad", ['requests{code=~"5.."}', "                ^"])
    ]
    assert show_queries(joined, (2, joined.split("\n")[1].index("requests") + 2)) == [
        ("total", ["requests", " ^"])
    ]
