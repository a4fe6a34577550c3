"""What is said on the way: in which form, from which level on, and on streams that fail."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from unittest.mock import create_autospec

import pytest

from gate import log
from gate.app.runtime.console import Console, lines_on, write_safely
from gate.app.runtime.live_tree import LiveTree
from gate.config import Settings
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce
from gate.core.rollout.policy import Policy
from gate.core.steps.step import begin
from gate.virtual_time import VirtualClock


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """Leave the log as a fresh process has it."""
    yield
    log.configure("console", "info")


def said(**options: object) -> str:
    """Return what a run shows that says, waits and warns."""
    stream, clock = io.StringIO(), VirtualClock(100.0)
    settings = Settings.model_validate(options)
    log.configure(settings.log_format, settings.log_level, quiet=settings.quiet, stream=stream)
    console = Console(clock, lines_on(stream, settings), "apply")
    console.note("cluster", "https://10.0.0.1")
    clock.advance_to(131.5)
    attempt, _ = begin(Plan("apply", (), (), (), Policy()), 131.5)
    console.beat(attempt)
    console.warn("mind the gap")
    console.warn("mind the gap")
    return stream.getvalue()


@pytest.mark.contract("B170")
def test_one_line_a_change() -> None:
    """With the seconds since the start; a warning is said once."""
    lines = said().splitlines()
    assert lines[0] == "   0.0s  cluster     https://10.0.0.1"
    assert lines[1].startswith("  31.5s  waiting     ")
    assert lines[2:] == ["  31.5s  warning     mind the gap"]


@pytest.mark.parametrize(("shown", "lines"), [(False, 1), (True, 0)])
def test_a_tree_that_moves_needs_no_sign_of_life(shown: bool, lines: int) -> None:
    """Else a line says what is waited for."""
    stream, clock = io.StringIO(), VirtualClock(100.0)
    console = Console(clock, lines_on(stream, Settings()), "apply")
    console.tree = create_autospec(LiveTree, shown=shown)
    console.beat(begin(Plan("apply", (), (), (), Policy()), 100.0)[0])
    assert len(stream.getvalue().splitlines()) == lines


@pytest.mark.parametrize(
    ("options", "events"),
    [
        ({"log_level": "debug"}, ["cluster", "waiting", "warning"]),
        ({"log_level": "warning"}, ["warning"]),
        ({"log_level": "error"}, []),
        ({"quiet": True}, []),
    ],
)
@pytest.mark.parametrize("log_format", ["console", "json"])
def test_levels_leave_lines_out(
    options: dict[str, object], events: list[str], log_format: str
) -> None:
    """In both forms alike."""
    lines = said(**options, log_format=log_format).splitlines()
    if log_format == "json":
        assert [json.loads(line)["event"] for line in lines] == events
    else:
        assert [line.split()[1] for line in lines] == events


@pytest.mark.contract("B174")
def test_json_lines_carry_the_same() -> None:
    """The level, the seconds since the start, the text."""
    first, _, last = [json.loads(line) for line in said(log_format="json").splitlines()]
    assert (first["level"], first["at_seconds"]) == ("info", 0.0)
    assert first["text"] == "https://10.0.0.1"
    assert (last["level"], last["at_seconds"], last["text"]) == ("warning", 31.5, "mind the gap")


def test_what_is_not_shown_is_in_the_document() -> None:
    """Timeline and warnings are kept, signs of life are not."""
    clock = VirtualClock(5.0)
    console = Console(clock, lambda _announce, _at: None, "verify")
    console.on_announce(Announce(5.0, "applied", "deployment/web changed"))
    console.warn("odd")
    console.about({"server": "https://10.0.0.1", "context": "prod"})
    clock.advance_to(9.0)
    run = console.run()
    assert [line.event for line in run.lines.timeline] == ["applied"]
    assert run.lines.warnings == ("odd",)
    assert (run.identity.command, run.cluster.server, run.cluster.context) == (
        "verify",
        "https://10.0.0.1",
        "prod",
    )
    assert (run.times.clock_start, run.times.clock_end) == (5.0, 9.0)
    assert len(run.identity.attempt_id) == 12


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, _: str) -> int:
        """Fail as the system would."""
        raise OSError(28, "No space left on device")


@pytest.mark.contract("B177")
def test_a_stream_that_is_closed_or_full_is_written_to_in_vain() -> None:
    """Nothing is raised."""
    closed = io.StringIO()
    closed.close()
    for stream in (closed, Full()):
        write_safely(stream, "text")
        lines_on(stream, Settings())(Announce(0.0, "applied", "x"), 0.0)
