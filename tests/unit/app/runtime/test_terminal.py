"""A terminal in virtual time: when it is written to, and what becomes of it where it fails."""

from __future__ import annotations

import io
import os
import select
import signal
import threading
from collections.abc import Iterator

import pytest

from gate.app.runtime import terminal
from gate.app.runtime.live_tree import LiveTree, live_tree, reflows, shows
from gate.app.runtime.terminal import Terminal, TerminalStream, height_for, tell_when_continued
from gate.config import Settings
from gate.report.live.canvas import Painted
from gate.report.live.view import Mark, View
from gate.virtual_time import VirtualClock
from tests.unit.app.terminals import Pty

TREE = (Painted("tree", 4),)


class Played:
    """A terminal whose time is a test's, and what it was sent."""

    def __init__(self, clock: VirtualClock | None = None) -> None:
        self.pty = Pty()
        self.clock = clock or VirtualClock()
        self.terminal = Terminal(self.pty.theirs, "utf-8", self.clock, reflows=True, shows=True)

    def sent(self) -> str:
        """Return what has come since the last time."""
        found = b""
        while select.select([self.pty.ours], [], [], 0)[0]:
            found += os.read(self.pty.ours, 65536)
        return found.decode()


@pytest.fixture
def played() -> Iterator[Played]:
    """Return a terminal of 80 columns and 24 rows."""
    played = Played()
    yield played
    played.clock.end()
    played.pty.close()


@pytest.mark.contract("B632")
def test_the_screen_changes_ten_times_a_second_at_most(played: Played) -> None:
    """What comes in between is shown together, and nothing is sent where nothing differs."""
    played.terminal.show(lambda *_: TREE)
    played.terminal.write("one\n")
    played.terminal.write("two\n")
    played.clock.wait(0.05)
    assert played.sent() == ""
    played.clock.wait(0.06)
    assert played.sent().count("\x1b[?2026h") == 1
    played.clock.wait(5.0)
    assert played.sent() == ""


@pytest.mark.contract("B637")
def test_who_writes_never_waits(played: Played) -> None:
    """Nor does who shows something; at the end all of it is there, a begun line too."""
    played.terminal.show(lambda *_: TREE)
    for number in range(1000):
        played.terminal.write(f"line {number}\n")
    played.terminal.write("begun")
    assert played.sent() == ""
    played.terminal.close()
    assert played.terminal.closed
    assert played.sent().replace("\r", "").endswith("line 998\nline 999\nbegun")


def test_a_line_that_is_begun_waits_for_its_end(played: Played) -> None:
    """The tree stands below whole lines."""
    played.terminal.write("one\ntw")
    played.clock.wait(0.2)
    assert played.sent() == "one\r\n"
    played.terminal.write("o\n")
    played.clock.wait(0.2)
    assert played.sent() == "two\r\n"


def test_a_picture_that_breaks_is_told_and_not_shown_again(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines go on."""
    errors: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)

    def broken(*_: int) -> tuple[Painted, ...]:
        raise KeyError("sesame")

    played.terminal.show(broken)
    played.clock.wait(0.5)
    played.terminal.write("line\n")
    played.clock.wait(0.5)
    assert [args.exc_type for args in errors] == [KeyError]
    assert played.sent() == "line\r\n"


def test_a_terminal_that_is_gone_fails_nobody(played: Played) -> None:
    """Its text goes nowhere."""
    os.close(played.pty.ours)
    played.pty.ours = os.dup(played.pty.theirs)
    played.terminal.write("line\n")
    played.clock.wait(0.5)
    played.terminal.close()
    assert played.terminal.closed


@pytest.mark.contract("B637")
def test_a_terminal_that_somebody_made_non_blocking_gets_everything(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is full for a moment, and not gone."""
    write, full = os.write, [True]

    def full_once(descriptor: int, data: bytes) -> int:
        if full and full.pop():
            raise BlockingIOError
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full_once)
    played.terminal.write("line\n")
    played.clock.wait(0.2)
    assert (full, played.sent()) == ([], "line\r\n")


def test_text_after_the_end_goes_straight_to_the_stream(played: Played) -> None:
    """As the complaint of a command that ended without a verdict."""
    stream = io.StringIO()
    through = TerminalStream(played.terminal, stream)
    through.write("first\n")
    assert (stream.getvalue(), through.isatty(), through.encoding) == ("", True, "utf-8")
    played.terminal.close()
    through.write("last\n")
    assert stream.getvalue() == "last\n"


@pytest.mark.contract("B636")
def test_after_a_stop_the_tree_begins_below(played: Played) -> None:
    """Ctrl-Z and `fg`: what the shell wrote meanwhile is left alone."""
    pictures = iter([TREE, (Painted("tree 2", 6),)])
    latest = [next(pictures)]
    played.terminal.show(lambda *_: latest[0])
    played.clock.wait(0.2)
    played.sent()
    before = signal.getsignal(signal.SIGCONT)
    with tell_when_continued([played.terminal]):
        signal.raise_signal(signal.SIGCONT)
    assert signal.getsignal(signal.SIGCONT) is before
    latest[0] = next(pictures)
    played.clock.wait(0.2)
    assert "A" not in played.sent(), "nothing goes up"


@pytest.mark.contract("B631")
def test_some_of_what_was_said_stays_in_sight() -> None:
    """A quarter of the screen, and always the row of the cursor."""
    assert [height_for(rows) for rows in (1, 2, 5, 8, 24, 50)] == [0, 1, 4, 6, 18, 37]


class StoppedClock(VirtualClock):
    """The clock of a process that is stopped for five seconds in a rest of its terminal."""

    stops = False

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Wait, for longer where the process is stopped."""
        if until is None or not self.stops:
            return super().wait(seconds, until)
        self.stops = False
        super().wait(5.0)
        return super().wait(0.0, until)


@pytest.mark.contract("B636")
def test_who_was_stopped_hears_of_it_before_painting() -> None:
    """All threads go on at once, and the handler that tells of it is another one's."""
    clock = StoppedClock()
    played = Played(clock)
    latest = TREE
    played.terminal.show(lambda *_: latest)
    clock.wait(0.15)
    assert "tree" in played.sent()
    clock.stops = True
    clock.wait(1.0)
    latest = (Painted("tree 2", 6),)
    clock.wait(4.1)
    assert played.sent() == "", "it goes on at 5.2 s"
    played.terminal.on_continue()
    clock.wait(0.2)
    sent = played.sent()
    assert "tree 2" in sent
    assert "A" not in sent, "nothing goes up"
    clock.end()
    played.pty.close()


# -- the tree on it --------------------------------------------------------------------------------


@pytest.mark.contract("B632")
def test_a_picture_is_made_again_where_something_changed(played: Played) -> None:
    """A state, a second of the run's clock, the window; never twice for the same."""
    made: list[float] = []
    run = VirtualClock(10.0)

    def seen(now: float) -> View:
        made.append(now)
        return View("rolling out", Mark.MOVING, now)

    tree = LiveTree(played.terminal, run)
    assert not tree.shown
    tree.see(seen)
    played.clock.wait(3.0)
    assert (made, tree.shown) == ([10.0], True)
    run.advance_to(11.5)
    played.clock.wait(3.0)
    played.pty.resize(60, 24)
    played.clock.wait(3.0)
    assert made == [10.0, 11.5, 11.5]
    tree.see(lambda now: seen(now + 100.0))
    played.clock.wait(3.0)
    assert made[3:] == [111.5]
    tree.end()
    played.sent()
    played.clock.wait(0.2)
    assert not tree.shown


@pytest.mark.contract("B634")
@pytest.mark.parametrize(
    ("environ", "shown"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "linux", "CI": ""}, True),
        ({"TERM": "linux", "CI": "false"}, True),
        ({"TERM": "linux", "CI": "true"}, False),
        ({"TERM": "linux", "CI": "1"}, False),
        ({"TERM": "linux", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": ""}, False),
        ({}, False),
    ],
)
def test_where_a_tree_is_shown(environ: dict[str, str], shown: bool) -> None:
    """Where the terminal can, and people look at it."""
    assert shows(environ) is shown


@pytest.mark.contract("B634")
@pytest.mark.parametrize(
    "options", [{"plain": True}, {"quiet": True}, {"log_format": "json"}, {"log_level": "error"}]
)
def test_who_wants_no_tree_gets_none(played: Played, options: dict[str, object]) -> None:
    """Nor does anybody off a terminal."""
    stream = TerminalStream(played.terminal, io.StringIO())
    assert live_tree(stream, Settings(), played.clock) is not None  # type: ignore[arg-type]
    settings = Settings.of(options)
    assert live_tree(stream, settings, played.clock) is None  # type: ignore[arg-type]
    assert live_tree(io.StringIO(), Settings(), played.clock) is None


@pytest.mark.contract("B635")
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "screen"}, False),
        ({"TERM": "screen", "TMUX": "/run/tmux"}, True),
        ({"TERM": "alacritty"}, True),
    ],
)
def test_which_terminals_break_lines_again(environ: dict[str, str], expected: bool) -> None:
    """LockFacts by what they say of themselves."""
    assert reflows(environ) is expected


@pytest.mark.contract("B637")
def test_a_terminal_that_takes_nothing_costs_no_memory_without_end(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest lines are dropped, and their number stands in their place."""
    monkeypatch.setattr(terminal, "MOST_TEXTS", 10)
    held = Terminal(played.pty.theirs, "utf-8", played.clock, reflows=True, shows=True)
    for number in range(100):
        held.write(f"line {number}\n")
    played.clock.wait(0.2)
    sent = played.sent().replace("\r", "")
    assert sent.startswith("warning: 90 lines were dropped here: nobody read\nline 90\n")
    assert sent.endswith("line 99\n")
