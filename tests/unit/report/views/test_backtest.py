"""What a backtest prints: on a terminal cut to its width, elsewhere whole."""

from __future__ import annotations

from gate.report.style.style import Style, columns
from gate.report.views.backtest import Backtested, Judgement, backtest_text, document


def judgement(verdict: str, reason: str, decided_at: float | None, why: str = "") -> Judgement:
    """Make what one policy says."""
    return {"verdict": verdict, "reason": reason, "message": why, "decided_at": decided_at}


COMPLETE = judgement("complete", "Complete", 95.02, "4 of 4 new pods available")
FAILED = judgement("failed", "CheckFailed", 40.1, "errors: 0.2 is not <= 0.1 " + "and so on " * 9)
NO_MEASUREMENTS = "the recording has no measurements of it"
DOUBT = judgement("inconclusive", "CheckInconclusive", 95.0, NO_MEASUREMENTS)


def row(file: str, then: Judgement, now: Judgement) -> Backtested:
    """Make the line of a recording."""
    return {"file": file, "then": then, "now": now, "turned": then["verdict"] != now["verdict"]}


def test_turned_verdicts_are_counted_by_where_they_turned() -> None:
    """The most frequent turn first."""
    rows = [row("a", COMPLETE, FAILED), row("b", COMPLETE, COMPLETE)]
    more = [row("c", COMPLETE, DOUBT), row("d", COMPLETE, DOUBT)]
    told = backtest_text(document([*rows, *more], []), Style()).splitlines()
    assert told[1].startswith("turned  a ")
    assert "complete  1m35s  failed CheckFailed" in told[1]
    assert told[2].startswith("        b ")
    last = "3 of 4 verdicts turned: 2 from complete to inconclusive, 1 from complete to failed"
    assert told[-1] == last


def test_a_terminal_gets_lines_of_its_width() -> None:
    """A file or a log gets them whole."""
    found = document([row("recordings/2026-11-21.jsonl", COMPLETE, FAILED)], [])
    assert all(columns(line) <= 80 for line in backtest_text(found, Style(width=80)).splitlines())
    assert FAILED["message"].strip() in backtest_text(found, Style(width=80), whole=True)


def test_nothing_that_could_be_judged_is_no_table() -> None:
    """Only what is wrong with each file."""
    found = document([], [{"file": "a", "problem": "a:1: no line of a recording: \x1b[31mred"}])
    text = backtest_text(found, Style())
    assert text.startswith("0 of 0 verdicts turned\nnot judged: a:1: no line of a recording: ")
    assert "\x1b" not in text
