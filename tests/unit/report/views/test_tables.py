"""Tables of one command each, on streams of any width: locks, rehearsals, a backtest."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gate.report.style.style import Style, columns
from gate.report.views import backtest, rehearsals
from gate.report.views.backtest import Backtested, Judgement, Unreadable, backtest_text
from gate.report.views.locks import LockRow, locks_table
from gate.report.views.rehearsals import RehearsalResult, rehearsals_text

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LOCK = LockRow(
    namespace="shop",
    name="rollout-gate.deployment.web",
    locks="deployment/web",
    state="dead",
    holder="a-runner-with-a-name 7112d9b0d206",
    run_url="https://github.com/shop/web/actions/runs/7",
    acquired_at="2026-11-21T11:55:00Z",
    renewed_at="",
    unfinished=True,
)
WHY = (
    "ImagePull: registry.example.com:5000/shop/web:2.3.1: authorization failed"
    " (1 of 1 created pods)"
)


@pytest.mark.contract("B527")
def test_a_narrow_terminal_has_a_block_for_each_lock() -> None:
    """As a table where it fits; else nothing is wider than the terminal, and nothing is lost."""
    assert locks_table([LOCK], NOW, Style(width=160)).split()[:2] == ["LOCK", "STATE"]
    text = locks_table([LOCK, LOCK], NOW, Style(width=40), with_namespace=True)
    assert all(columns(line) <= 40 for line in text.splitlines())
    first, second = text.rstrip("\n").split("\n\n")
    assert first == second
    heads = [line.split(maxsplit=1)[0] for line in first.splitlines()]
    assert heads[:4] == ["NAMESPACE", "LOCK", "STATE", "SINCE"]
    for part in ("dead, unfinished", LOCK.holder.split()[1], "runs/7"):
        assert part in " ".join(first.split()), first


def rehearsal(kind: str, why: str) -> RehearsalResult:
    """Return a rehearsal that ended as it is to."""
    return {
        "kind": kind,
        "says": "",
        "outcome": "rolled-back",
        "exit_code": 4,
        "reason": "ImagePull",
        "why": why,
        "decided_at_seconds": 30.0,
        "duration_seconds": 40.0,
        "returned_to": "revision 1",
        "as_expected": True,
        "mend": "",
    }


@pytest.mark.contract("B2016")
@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_rehearsal_that_does_not_fit_has_two_lines(width: int) -> None:
    """The cause has one of its own; in a log, where it can be looked up nowhere else, all of it."""
    rows = [rehearsal("good", "Complete"), rehearsal("image-denied", WHY)]
    found = rehearsals.document(rows, (), 600.0)
    lines = rehearsals_text(found, Style(width=width)).splitlines()
    assert all(columns(line) <= width for line in lines)
    assert len(lines) == (8 if width == 80 else 7)
    assert "ImagePull: registry.ex" in lines[3 if width == 80 else 2]
    assert lines[1].endswith("Complete")
    assert lines[-1].startswith("the longest possible run: 10m (for your CI timeout), after any -")
    assert rehearsals_text(found, Style(), whole=True).splitlines()[2].endswith(WHY)


def judgement(verdict: str, reason: str, decided_at: float, why: str = "") -> Judgement:
    """Return what one policy says."""
    return {"verdict": verdict, "reason": reason, "message": why, "decided_at": decided_at}


COMPLETE = judgement("complete", "Complete", 95.02, "4 of 4 new pods available")
FAILED = judgement("failed", "CheckFailed", 40.1, "errors: 0.2 is not <= 0.1 " + "and so on " * 9)
DOUBT = judgement("inconclusive", "CheckInconclusive", 95.0, "the recording has no measurements")


def row(file: str, now: Judgement) -> Backtested:
    """Return the line of a recording that was complete."""
    return {"file": file, "then": COMPLETE, "now": now, "turned": now is not COMPLETE}


def test_turned_verdicts_are_counted_by_where_they_turned() -> None:
    """The most frequent turn first; on a terminal lines of its width, elsewhere whole."""
    rows = [row("a", FAILED), row("b", COMPLETE), row("c", DOUBT), row("d", DOUBT)]
    found = backtest.document(rows, [])
    lines = backtest_text(found, Style()).splitlines()
    assert lines[1].startswith("turned  a ")
    assert "complete  1m35s  failed CheckFailed" in lines[1]
    assert lines[2].startswith("        b ")
    last = "3 of 4 verdicts changed: 2 from complete to inconclusive, 1 from complete to failed"
    assert lines[-1] == last
    found = backtest.document([row("recordings/2026-11-21.jsonl", FAILED)], [])
    assert all(columns(line) <= 80 for line in backtest_text(found, Style(width=80)).splitlines())
    assert FAILED["message"].strip() in backtest_text(found, Style(width=80), whole=True)


def test_nothing_that_could_be_judged_is_no_table() -> None:
    """Only what is wrong with each file."""
    problem: Unreadable = {"file": "a", "problem": "a:1: not a line of a recording: \x1b[31mred"}
    text = backtest_text(backtest.document([], [problem]), Style())
    assert text.startswith("0 of 0 verdicts changed\nnot judged: a:1: not a line of a recording: ")
    assert "\x1b" not in text
