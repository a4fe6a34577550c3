"""The tree that README.md shows is one that the demo comes to, word for word."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gate.app.rehearsal.demo import demo
from gate.app.runtime.console import Console
from gate.app.runtime.world import Streams, outside
from gate.config import load
from gate.core.attempt.state import Attempt
from gate.report.live.attempts import attempt_view
from gate.report.live.rendering import Look, frame
from gate.virtual_time import VirtualClock
from tests.capture.tree import COLUMNS, MOMENT, ROWS, captured
from tests.unit.report.live.screens import plain


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Attempt, float]]:
    """Return the states that the demo of a crash goes through, with the start of each run."""
    found: list[tuple[Attempt, float]] = []

    def on_step(console: Console, attempt: Attempt) -> None:
        found.append((attempt, console.run().times.clock_start))

    monkeypatch.setattr(Console, "on_step", on_step)
    streams = Streams(io.BytesIO(), io.StringIO(), io.StringIO())
    world = replace(outside(), clock=VirtualClock(), streams=streams, environ={})
    assert demo(world, load("demo", {}, environ={}), "crash") == 0
    return found


def tree(attempt: Attempt, now: float, started_at: float) -> list[str]:
    """Return what a terminal shows of a state."""
    view = attempt_view(attempt, now, started_at)
    return [plain(line.text).rstrip() for line in frame(view, Look(COLUMNS - 1, ROWS * 3 // 4))]


def trees(moments: list[tuple[Attempt, float]], parts: list[str]) -> Iterator[list[str]]:
    """Yield all trees with these parts, as their clocks move until the next state."""
    for (attempt, started_at), (following, _) in itertools.pairwise(moments):
        if tree(attempt, attempt.now, started_at)[1:-2] == parts:
            for moment in range(max(1, math.ceil((following.now - attempt.now) * 32))):
                yield tree(attempt, attempt.now + moment / 32, started_at)


@pytest.mark.long
def test_readme_shows_a_tree_that_there_is(moments: list[tuple[Attempt, float]]) -> None:
    """All of it: heading, Deployment, cause, pods, clocks; `make capture` takes it again."""
    shown = captured()
    assert any(MOMENT in line for line in shown)
    assert shown in trees(moments, shown[1:-2])
