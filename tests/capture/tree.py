"""The live tree of the demo on a screen of 80 columns, and its place in README.md."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from unittest.mock import patch

from rich.text import Text

from gate.app.rehearsal.demo import demo
from gate.app.runtime.console import Console
from gate.app.runtime.world import Streams, outside
from gate.config import load
from gate.core.attempt.state import Attempt
from gate.report.live.attempts import attempt_view
from gate.report.live.rendering import Look, frame
from gate.virtual_time import VirtualClock

README: Final = Path(__file__).parents[2] / "README.md"
LOOK: Final = Look(columns=79, lines=18)
"""What a terminal of 80 columns and 24 rows has room for."""
MOMENT: Final = "CrashLoopBackOff; 2 restarts"
"""The tree that is taken is the first one that says so of both pods."""

_PLACE: Final = re.compile(r"(?<=<!-- make capture -->\n```\n)(.*?)(?=\n```\n)", re.DOTALL)


def taken() -> list[str]:
    """Play the demo in virtual time; return the tree's lines at the moment."""
    trees: list[list[str]] = []

    def on_step(console: Console, attempt: Attempt) -> None:
        view = attempt_view(attempt, attempt.now, console.run().times.clock_start)
        trees.append([Text.from_ansi(line.text).plain.rstrip() for line in frame(view, LOOK)])

    streams = Streams(io.BytesIO(), io.StringIO(), io.StringIO())
    world = replace(outside(), clock=VirtualClock(), streams=streams, environ={})
    with patch.object(Console, "on_step", on_step):
        demo(world, load("demo", {}, environ={}), "crash")
    return next(tree for tree in trees if "\n".join(tree).count(MOMENT) == 2)


def captured() -> list[str]:
    """Return the tree that README.md shows."""
    found = _PLACE.search(README.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("README.md has no place for a tree")
    return found.group().splitlines()


def put(tree: Sequence[str]) -> None:
    """Have README.md show a tree."""
    text = README.read_text(encoding="utf-8")
    README.write_text(_PLACE.sub(lambda _: "\n".join(tree), text), encoding="utf-8")
