"""The verdict block: what holds for any document; the words stand in the golden screens."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.manifests.kinds.rules import LintCode
from gate.report.advice.next_steps import next_steps
from gate.report.document.document import minimal
from gate.report.formats.evidence_lines import evidence_lines
from gate.report.formats.text import MOST_LINES, verdict_text
from gate.report.schema.result import CrashResult, Result
from gate.report.style.style import Style, columns
from gate.report.words.headline import headline
from tests.table import each
from tests.unit.report.endings import ENDINGS
from tests.unit.report.results import (
    COMPARED,
    RUN,
    cause_of,
    example,
    log_result,
    object_result,
    result_of,
    spoilt,
    workload_result,
)

HOSTILE = "\x1b[31mred\x1b[0m \u202eevil\u202c \r\n::error::owned \x07\x9b2J 火火火 \ud800"


@pytest.mark.contract("B172", "B848")
@each("name", ENDINGS)
def test_it_fits_its_stream(name: str) -> None:
    """40 lines, none wider than the stream but for commands; plain signs; colour when asked for.

    What it says itself of a time is in UTC, to the second.
    """
    plain = verdict_text(example(name), Style())
    own = "\n".join(line for line in plain.splitlines() if "│" not in line)
    for time in re.findall(r"\d\d:\d\d:\d\d\S*", own):
        assert re.fullmatch(r"\d\d:\d\d:\d\dZ[,:]?", time), time
    for width in (80, 100, 120):
        lines = verdict_text(example(name), Style(width=width)).splitlines()
        assert len(lines) <= MOST_LINES
        assert all(columns(line) <= width for line in lines if "rollout-gate" not in line)
    narrow = " ".join(verdict_text(example(name), Style(width=40)).split())
    assert " ".join(plain.split()).partition(" where ")[0] in narrow, "no sentence is cut"
    simple = verdict_text(example(name), Style(encoding="ascii"))
    assert simple.isascii()
    assert len(simple.splitlines()) == len(plain.splitlines())
    coloured = verdict_text(example(name), Style(color=True))
    assert ("\x1b" in plain, "\x1b[" in coloured) == (False, True)
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


@pytest.mark.contract("B1383")
def test_nothing_is_cut_where_nobody_counts_lines() -> None:
    """In the log of a CI job; on a terminal a row of the table of workloads is wrapped."""
    result = example("two-deployments")
    long = " ".join(f"word{number}" for number in range(150))
    result["checks"] = [{**COMPARED, "verdict": "inconclusive", "message": long}]
    result["warnings"] = [long]
    for workload in result["workloads"]:
        workload["message"] = long
        for version in filter(None, (workload["new"], workload["baseline"])):
            version["images"] = ["shop/web:" + "1" * 50]
        for piece in workload["evidence"]:
            piece["text"] = f"{piece['text']}\n{long}"
    whole = verdict_text(result, Style(width=80), is_whole=True)
    assert "…" not in whole
    assert " ".join(whole.split()).count(long) >= 3
    narrow = verdict_text(result, Style(width=80)).partition("  about")[0]
    assert "…" not in narrow
    assert narrow.count("1" * 50) == len(result["workloads"])


def test_a_cause_is_told_once_with_the_pods_that_have_it_in_the_end() -> None:
    """Two pods doomed the version, four suffer when it is over: one line, with the four."""
    result = example("kept")
    (only,) = result["workloads"]
    result["message"] = "web: Error, exit code 1 (2 of 4 created pods)"
    only["causes"] = [cause_of("CrashLoop", "web: Error, exit code 1 (4 of 4 created pods)", 4)]
    text = verdict_text(result, Style(width=200))
    assert "CrashLoop: web: Error, exit code 1 (4 of 4 created pods)" in text
    assert text.count("exit code 1 (") == 1


def test_of_the_most_telling_log_more_is_quoted_than_of_the_others() -> None:
    """Its last ten lines, and three of each other one."""
    result = example("kept")
    text = "\n".join(f"line {n}" for n in range(20))
    result["workloads"][0]["evidence"] = [log_result(text), log_result(text, pod="web-p1")]
    shown = [
        line.split("│")[1] for line in verdict_text(result, Style()).splitlines() if "│" in line
    ]
    assert shown == [f" line {n}" for n in (*range(10, 20), *range(17, 20))]


@pytest.mark.contract("B847", "B877")
@pytest.mark.parametrize("width", [80, 100])
def test_what_is_too_much_says_where_all_of_it_stands(width: int) -> None:
    """A step is whole, for its end is what is to be typed; three warnings stand on the screen."""
    result = example("kept")
    result["workloads"][0]["undo_lacks"] = [f"secret/orders-{n}-secret" for n in range(12)]
    result["warnings"] = [f"warning number {n}" for n in range(5)]
    shown = " ".join(verdict_text(result, Style(width=width)).split())
    assert all(step.text in shown for step in next_steps(result))
    assert "and 7 more (all of them: undo_lacks in --output json);" in shown
    assert "bodies of Secrets are kept with --keep-verified-secrets" in shown
    assert "and 2 more: the result document has them all (--output json)" in shown


LINT = "web.yaml:1: deployment/web: what is so in the manifest, at some length [{}]"


def crowded(count: int, *warnings: str) -> Result:
    """Return what a crash of the first of `count` Deployments led to, with its log."""
    bad, *others = (
        workload_result(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED, "baseline", f"web-{number}")
        for number in range(count)
    )
    crash: CrashResult = {"container": "web", "init": False, "has_last_words": False}
    bad |= {
        "reason": Reason.CRASH_LOOP,
        "evidence": [log_result("up\n" * 9 + "the schema is missing")],
    }
    bad |= {"causes": [cause_of("CrashLoop", "said", 1, crash=crash)]}
    bad |= {"message": "exit code 1 of the web container, and so on " * 5}
    result = result_of(bad, *others)
    names = [one["name"] for one in result["workloads"]]
    written = [object_result(kind="Deployment", name=one, action="restored") for one in names]
    return {**result, "objects": written, "warnings": list(warnings)}


@pytest.mark.contract("B1880")
@pytest.mark.parametrize("code", LintCode)
def test_evidence_comes_before_the_lint(code: LintCode) -> None:
    """What happened is told, and how many are left out; where there is room, nothing is."""
    lint = [f"{LINT.format(code)}".replace("some", "some " * 20 + str(n)) for n in range(3)]
    happened = "configmap/settings could not be restored: no"
    for number, shown in ((1, 2), (8, 0)):
        lines = verdict_text(crowded(number, happened, *lint), Style(width=80)).splitlines()
        text = " ".join(" ".join(lines).split())
        assert len(lines) <= MOST_LINES
        assert "│ the schema is missing" in text
        assert happened in text
        assert text.count(f"[{code}]") == shown
        left = "it" if shown == 2 else "them all"
        assert f"and {3 - shown} more about the manifest: the result document has {left}" in text
    whole = verdict_text(crowded(8, happened, *lint), Style(width=80), is_whole=True)
    assert whole.count(f"[{code}]") == 2, "as many as ever"


@pytest.mark.contract("B1959")
@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize(
    ("failed", "left"), [(2, ""), (3, "web-2"), (7, "web-2, deployment/web-3, deployment/web-4")]
)
def test_what_is_not_described_beside_others_is_named(
    failed: int, left: str, *, is_whole: bool
) -> None:
    """Two of those that failed are; nobody takes them for all there are."""
    result = crowded(7)
    for one in result["workloads"][1:failed]:
        one["causes"], one["reason"] = [cause_of("CrashLoop", "said", 1)], Reason.CRASH_LOOP
        one["evidence"] = [log_result()]
    text = " ".join(verdict_text(result, Style(), is_whole=is_whole).split())
    more = " and 2 more" if failed == 7 else ""
    said = f"deployment/{left}{more}, too: the result document has why (--output json)"
    assert (said in text, "has why" in text) == (bool(left), bool(left)), text


@pytest.mark.contract("B1880")
def test_warnings_of_what_happened_are_not_the_lints() -> None:
    """They are shown whole where they fit, whatever brackets are in them."""
    said = [
        f"configmap/c{n} could not be restored: quota [1] of [team-a] is used up" for n in (1, 2)
    ]
    text = verdict_text(crowded(8, *said), Style(width=80))
    assert "│ the schema is missing" in text
    assert text.count("is used up") == 2


@pytest.mark.contract("B1880")
def test_of_a_log_the_last_lines_have_the_room() -> None:
    """They tell most."""
    text = verdict_text(crowded(8, LINT.format(LintCode.ONE_REPLICA)), Style(width=40))
    assert "│ the schema is missing" in text
    assert text.count("│ up") < 9


@pytest.mark.contract("B1881", "B1991")
@pytest.mark.parametrize("width", [40, 50, 80])
def test_evidence_has_room_whatever_else_there_is(width: int) -> None:
    """A narrow screen: the worst workloads are listed, the reason stands, and no lint."""
    lint = [LINT.format(code) for code in LintCode]
    happened = [f"configmap/c{n} could not be restored: {'it is refused ' * 9}" for n in (1, 2)]
    lines = verdict_text(crowded(8, *happened, *lint), Style(width=width)).splitlines()
    text = " ".join(" ".join(lines).split())
    assert len(lines) <= MOST_LINES
    assert "why CrashLoop: exit code 1 of the web" in text
    assert "│ the schema is missing" in text
    assert "read the log of container web in the evidence" in text
    assert f"and {len(lint)} more about the manifest: the result document has" in text
    assert ("and 6 more: the result document has them all" in text) == (width < 80)
    assert text.count("could not be restored") == len(happened)


@pytest.mark.contract("B1991")
def test_a_long_heading_leaves_room_for_what_is_below_it() -> None:
    """It is cut, of the first piece alone: of another one all is left out."""
    result = crowded(1)
    event = log_result("Unhealthy: " + "not ready " * 60 + "\nas was said")
    event |= {"kind": "event", "at": "2026-01-01T00:00:00Z"}
    first, other = (
        evidence_lines((), [{**result["workloads"][0], "evidence": pieces}], Style(width=40), 5)
        for pieces in ([event], [log_result("up"), event])
    )
    assert (len(first), first[-1].split()) == (5, ["│", "as", "was", "said"])
    assert first[-2].endswith("…")
    assert other[-1].split() == ["│", "up"]


@pytest.mark.contract("B1250")
def test_a_long_first_line_is_whole_where_nobody_counts_lines() -> None:
    """Two lines have to do on a terminal; what a log or a file keeps has its end."""
    many = [workload_result(Outcome.FAILED, Reason.CRASH_LOOP, "new")] * 3
    result = result_of(*many)
    for index, one in enumerate(result["workloads"]):
        one["name"] = f"{'a-long-name-' * 8}{index}"
    end = f"{result['workloads'][-1]['name']} failed and were not taken back"
    on_terminal, whole = (
        "".join(line.strip() for line in headline(result, Style(width=100), is_whole=is_whole))
        for is_whole in (False, True)
    )
    assert end.replace(" ", "") not in on_terminal.replace(" ", "")
    assert end.replace(" ", "") in whole.replace(" ", "")


def hostile(count: int) -> Result:
    """Return a document of `count` Deployments whose every text is an attack, and too long."""
    many = [workload_result(Outcome.FAILED, Reason.CRASH_LOOP, "mixed")] * count
    result: Any = spoilt(result_of(*many), HOSTILE * 20)
    piece = log_result(HOSTILE * 40, pod=HOSTILE, container=HOSTILE, at=HOSTILE, previous=True)
    for index, one in enumerate(result["workloads"]):
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
    listed = sum("failed  deployment/web-" in line for line in lines)
    assert count < 30 or (listed == 2 and "and 28 more" in text), "the worst ones, and a rest"


def test_a_usage_error_says_that_nothing_was_written() -> None:
    """A run without an attempt has a block too."""
    result = minimal(Outcome.USAGE, 2, Reason.USAGE, "deploy.yaml:3: not YAML", RUN)
    assert verdict_text(result, Style()) == (
        "✗ USAGE (exit 2): nothing was written\n"
        "  run       took 12s, attempt id\n"
        "  why       Usage: deploy.yaml:3: not YAML\n"
        "  next      correct the command, the configuration or the manifest\n"
    )
