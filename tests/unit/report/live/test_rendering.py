"""The live tree as lines of a terminal: within its room, and text as text."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from gate.report.live.attempts import attempt_view
from gate.report.live.rendering import Look, frame
from gate.report.live.view import CheckView, ClockView, Mark, View, WorkloadView
from tests.unit.report.live.screens import plain
from tests.unit.report.live.test_attempts import STARTED_AT, half_way
from tests.unit.report.live.test_outline import CHECKS, CLOCKS, DEPLOYMENTS, deployment, pods
from tests.unit.report.results import HOSTILE

WIDE = (
    "容器崩溃循环" * 20,
    "💥" * 40,
    "👩‍👩‍👧‍👦 family",
    "e\u0301" * 60,
    "⚠️ warning",
    "\u200b" * 9,
)


def lines(view: View, look: Look) -> list[str]:
    """Return the lines without their colours."""
    return [plain(line.text) for line in frame(view, look)]


@pytest.mark.contract("B630")
def test_a_rollout_as_a_terminal_shows_it() -> None:
    """Heading, Deployment, cause, both versions with their pods, both clocks."""
    attempt = half_way().attempt
    view = attempt_view(attempt, attempt.now + 20.0, STARTED_AT)
    assert lines(view, Look(79, 18)) == [
        "── rolling out ───────────────────────────────────────────────────────── 24s ──",
        "• deployment/web in shop: 1 of 4 new pods available, 3 old pods remain",
        "├─ ! CrashLoop: web: Error, exit code 1, 3 restarts: panic: DATABASE_URL is no…",
        "├─ new web-2: 1 of 2 ready, shop/web:v2",
        "│  ├─ ✗ web-2-p1: CrashLoopBackOff; 3 restarts; last: Error, exit code 1 at 20…",
        "│  └─ ✓ web-2-p0: ready",
        "└─ ✓ old web-1: 3 of 3 ready, shop/web:v1",
        "no progress  ━━────────────────────────────────────────────────────  20s of 10m",
        "in all       ━━━━──────────────────────────────────────────────────   22s of 5m",
    ]


@pytest.mark.contract("B631")
@given(
    st.lists(DEPLOYMENTS, max_size=4),
    CHECKS,
    st.builds(Look, st.integers(1, 120), st.integers(0, 40), st.sampled_from(["utf-8", "ascii"])),
)
@example([], [], Look(2, 2, "ascii"))
def test_it_keeps_within_its_room(
    deployments: list[WorkloadView], checks: list[CheckView], look: Look
) -> None:
    """Never a line too many, never a column too many; in ASCII where that is all there is."""
    view = View("rolling out", Mark.MOVING, 1.0, deployments, checks, CLOCKS)
    shown = frame(view, look)
    assert len(shown) <= look.lines
    for line in shown:
        assert line.columns == cell_len(plain(line.text)) <= look.columns
        assert plain(line.text).encode(look.encoding)


@pytest.mark.contract("B638")
@pytest.mark.parametrize("words", [*HOSTILE, *WIDE, "[red]fire[/red] [link=x]y[/link] [/]", "[@"])
def test_text_is_text(words: str) -> None:
    """No markup, no control sequence, no line or column more than there is room for."""
    named = WorkloadView("deployment/web", "shop", Mark.BAD, words, words)
    check = CheckView(words, Mark.BAD, words, words, words)
    view = View(words, Mark.BAD, 1.0, [named, deployment(pods(1, words))], [check], CLOCKS)
    shown = frame(view, Look(79, 30))
    assert len(shown) <= 30
    for line in shown:
        assert plain(line.text).isprintable()
        assert cell_len(plain(line.text)) <= 79
    if words.startswith("[red]"):
        assert any(words in plain(line.text) for line in shown)


def test_a_clock_that_runs_out_alarms() -> None:
    """And the end of a bake window does not."""
    colors = {}
    for share in (0.1, 0.6, 0.9):
        for welcome in (False, True):
            clock = ClockView("in all", share * 100, 100.0, welcome)
            (_, line) = frame(View("x", Mark.GOOD, 0.0, clocks=[clock]), Look(79, 5))
            colors[share, welcome] = line.text.split("━")[0][-5:]
    assert len({colors[share, False] for share in (0.1, 0.6, 0.9)}) == 3
    assert len({colors[share, True] for share in (0.1, 0.6, 0.9)}) == 1


def test_names_are_short_where_there_is_little_room() -> None:
    """What the lines above say already is left out: the Deployment's name, the ReplicaSet's."""
    view = View("rolling out", Mark.MOVING, 1.0, [deployment(pods(1))], clocks=CLOCKS)
    assert lines(view, Look(39, 18))[1:4] == [
        "• deployment/web: 0 of 4",
        "├─ new 2: 0 of 4 ready, shop/web:2",
        "│  └─ ✗ Cr0: CrashLoopBackOff; 0 resta…",
    ]


@pytest.mark.long
@pytest.mark.contract("B634")
def test_rich_is_loaded_where_a_tree_is_shown_alone() -> None:
    """Everything that a command needs comes without it."""
    program = "import gate.app.commands.apply, gate.app.commands.inspection; "
    program += "import gate.app.execution.run, sys; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
