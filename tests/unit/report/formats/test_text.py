"""The verdict block: golden texts of the main endings, and what holds for any document."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.report.document.document import minimal
from gate.report.formats.text import MOST_LINES, verdict_text
from gate.report.schema.result import Result
from gate.report.style.style import Style, columns
from gate.report.words.advice import next_steps
from gate.report.words.headline import headline
from tests.table import each
from tests.unit.report.endings import ENDINGS
from tests.unit.report.results import (
    RUN,
    deployment_result,
    log_result,
    object_result,
    result_of,
    spoilt,
    told,
)
from tests.unit.report.rewrite import GOLDEN, rendered

HOSTILE = "\x1b[31mred\x1b[0m \u202eevil\u202c \r\n::error::owned \x07\x9b2J 火火火 \ud800"


@pytest.mark.contract("B172")
@pytest.mark.parametrize("name", ENDINGS)
def test_the_block_is_the_golden_one(name: str) -> None:
    """After a change on purpose: `python -m tests.unit.report.rewrite`, and read the difference."""
    assert rendered(name) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_a_cause_is_told_once_with_the_pods_that_have_it_in_the_end() -> None:
    """Two pods doomed the version, four suffer when it is over: one line, with the four."""
    result = told("kept")
    (only,) = result["deployments"]
    result["message"] = "web: Error, exit code 1 (2 of 4 created pods)"
    cause = {
        "reason": "CrashLoop",
        "message": "web: Error, exit code 1 (4 of 4 created pods)",
        "pods": 4,
    }
    only["causes"] = [cause]  # type: ignore[list-item]
    text = verdict_text(result, Style(width=200))
    assert "CrashLoop: web: Error, exit code 1 (4 of 4 created pods)" in text
    assert text.count("exit code 1 (") == 1


@pytest.mark.parametrize("width", [80, 100, 120])
@each("name", ENDINGS)
def test_it_fits_a_screen(name: str, width: int) -> None:
    """At most 40 lines, none wider than the stream, but for commands, which are never cut."""
    lines = verdict_text(told(name), Style(width=width)).splitlines()
    assert len(lines) <= MOST_LINES
    assert all(columns(line) <= width for line in lines if "rollout-gate" not in line)


@pytest.mark.contract("B847", "B877")
@pytest.mark.parametrize("width", [80, 100])
def test_a_step_with_many_names_is_whole_and_says_where_all_stand(width: int) -> None:
    """The flag at its end is what is to be typed."""
    result = told("kept")
    result["deployments"][0]["undo_lacks"] = [f"secret/orders-{n}-secret" for n in range(12)]
    shown = " ".join(" ".join(verdict_text(result, Style(width=width)).split()).split())
    steps = next_steps(result)
    assert all(step.text in shown for step in steps)
    assert "and 7 more (all of them: undo_lacks in --output json);" in shown
    assert "bodies of Secrets are kept with --keep-verified-secrets" in shown


@pytest.mark.contract("B877")
def test_warnings_that_are_left_out_are_somewhere() -> None:
    """Three stand on the screen; where the others do, its last row says."""
    result = told("kept")
    result["warnings"] = [f"warning number {n}" for n in range(5)]
    shown = verdict_text(result, Style(width=100))
    assert "and 2 more: the result document has them all (--output json)" in shown


@pytest.mark.contract("B848")
@each("name", ENDINGS)
def test_times_have_one_form(name: str) -> None:
    """RFC 3339, in UTC, to the second; of a log nothing is changed."""
    shown = verdict_text(told(name), Style(width=400))
    own = [line for line in shown.splitlines() if "│" not in line]
    for time in re.findall(r"\d\d:\d\d:\d\d\S*", "\n".join(own)):
        assert re.fullmatch(r"\d\d:\d\d:\d\dZ[,:]?", time), time


@each("name", ENDINGS)
def test_it_degrades_to_ascii(name: str) -> None:
    """A stream that has no box drawing gets plain signs, and every line of it."""
    style = Style(encoding="ascii")
    text = verdict_text(told(name), style)
    assert text.isascii()
    assert len(text.splitlines()) == len(verdict_text(told(name), Style()).splitlines())


def test_colour_comes_only_when_asked_for() -> None:
    """No escape is written by itself; with colour the text stays the same."""
    plain = verdict_text(told("rolled-back"), Style())
    coloured = verdict_text(told("rolled-back"), Style(color=True))
    assert "\x1b" not in plain
    assert "\x1b[1;31m" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


def hostile(count: int) -> Result:
    """Return a document of `count` Deployments whose every text is an attack, and too long."""
    many = [deployment_result(Outcome.FAILED, Reason.CRASH_LOOP, "mixed")] * count
    result: Any = spoilt(result_of(*many), HOSTILE * 20)
    piece = log_result(HOSTILE * 40, pod=HOSTILE, container=HOSTILE, at=HOSTILE, previous=True)
    for index, one in enumerate(result["deployments"]):
        one |= {"name": f"web-{index}", "causes": one["causes"] * 5, "evidence": [piece] * 10}
    kept = object_result(kind=HOSTILE, namespace="", name=HOSTILE, action="kept", file=HOSTILE)
    result |= {"objects": [kept] * 50, "warnings": [HOSTILE * 9] * 20}
    found: Result = result | {"context": HOSTILE, "server": HOSTILE, "run_url": HOSTILE}
    return found


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "no such codec"])
@pytest.mark.parametrize("count", [1, 2, 30])
def test_hostile_text_stays_text(encoding: str, count: int) -> None:
    """No escape, no line of its own, no bidi, no overlong line, no crash of the stream."""
    text = verdict_text(hostile(count), Style(encoding=encoding, width=80))
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES
    assert all(line.isprintable() for line in lines)
    assert not any(line.lstrip().startswith("::") for line in lines)
    assert all(columns(line) <= 80 for line in lines)


def test_a_crowd_of_deployments_is_one_line_each_and_a_rest() -> None:
    """The bad ones come first; what does not fit is counted."""
    text = verdict_text(hostile(30), Style())
    assert sum("failed  deployment/web-" in line for line in text.splitlines()) == 8
    assert "and 22 more" in text


def test_a_usage_error_says_that_nothing_was_written() -> None:
    """A run without an attempt has a block too."""
    result = minimal(Outcome.USAGE, 2, Reason.USAGE, "deploy.yaml:3: not YAML", RUN)
    assert verdict_text(result, Style()) == (
        "✗ USAGE (exit 2): nothing was written\n"
        "  run       took 12s, attempt id\n"
        "  why       Usage: deploy.yaml:3: not YAML\n"
        "  next      correct the command, the configuration or the manifest\n"
    )


def test_a_deployment_that_is_written_and_not_followed_is_told_as_such() -> None:
    """A pause writes a Deployment and judges nothing: the first line does not deny it."""
    written = object_result(kind="Deployment", name="web")
    result = minimal(Outcome.APPLIED, 0, Reason.COMPLETE, "deployment/web is paused", RUN)
    first = headline({**result, "objects": [written]}, Style(encoding="utf-8"))
    assert first == ["✓ APPLIED (exit 0): deployment/web is paused"]


@pytest.mark.contract("B172")
@pytest.mark.parametrize("name", ["rolled-back", "first-failed"])
def test_a_narrow_terminal_cuts_no_sentence(name: str) -> None:
    """At 40 columns the first line, the cause and the advice have more lines instead."""
    told_wide = " ".join(verdict_text(told(name), Style()).split())
    narrow = " ".join(verdict_text(told(name), Style(width=40)).split())
    first, _, _ = told_wide.partition(" where ")
    assert first in narrow
    why = told_wide.partition(" why ")[2].partition(" runs ")[0]
    assert why in narrow
