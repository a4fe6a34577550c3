"""Output that nobody waits for: on real pipes, with the time of the end in the test's hands."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from gate import output
from gate.clock import SystemClock
from gate.output import PATIENCE_SECONDS, Outlet, Output

GLANCE_SECONDS = 0.002
"""Of the machine's time, in which a thread can send a page; no test depends on it."""


class Hands(SystemClock):
    """A clock whose waits are counted, not waited; `meanwhile` happens in each."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.meanwhile: Callable[[], object] = lambda: None

    def now(self) -> float:
        """Return what was waited so far."""
        return self.seconds

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Let the other threads run for a moment, and count it as the whole wait."""
        self.meanwhile()
        self.seconds += seconds
        return (until or threading.Event()).wait(GLANCE_SECONDS)


class Pipe:
    """A pipe, full from the beginning unless told, whose reader is the test."""

    def __init__(self, *, full: bool = True) -> None:
        self.ours, self.theirs = os.pipe()
        self.fill_bytes = 0
        while full:
            os.set_blocking(self.theirs, False)
            try:
                self.fill_bytes += os.write(self.theirs, b"x" * 4096)
            except BlockingIOError:
                break
        os.set_blocking(self.theirs, True)
        self.read = b""

    def take(self, most_bytes: int = 65536) -> bytes:
        """Read what is there, at least one byte."""
        data = os.read(self.ours, most_bytes)
        self.read += data
        return data

    @property
    def text(self) -> str:
        """What was read behind what filled it."""
        return self.read[self.fill_bytes :].decode()

    def read_until(self, ending: str) -> str:
        """Read until the text ends like that."""
        while not self.text.endswith(ending):
            self.take()
        return self.text

    def rest(self) -> str:
        """Read to the end, once nobody else writes; return all the text."""
        self.end()
        while self.take():
            continue
        return self.text

    def end(self) -> None:
        """Let go of the end that is written to."""
        if self.theirs >= 0:
            os.close(self.theirs)
        self.theirs = -1

    def close(self) -> None:
        """Let go of the reader's end: who still writes is told."""
        os.close(self.ours)


@pytest.fixture
def clock() -> Hands:
    """Return a clock at zero."""
    return Hands()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Return a full pipe."""
    pipe = Pipe()
    yield pipe
    pipe.close()


def never() -> float:
    """Bound no wait."""
    return float("inf")


@pytest.mark.contract("B152")
def test_who_writes_never_waits_and_order_is_kept(clock: Hands, pipe: Pipe) -> None:
    """Lines of two streams into one full pipe come in the order of their writing."""
    outlet = Outlet(clock)
    first, second = Output(pipe.theirs, outlet), Output(pipe.theirs, outlet)
    for number in range(500):
        (first, second)[number % 2].write(f"line {number}\n")
    assert not outlet.idle
    said = pipe.read_until("line 499\n")
    assert said == "".join(f"line {number}\n" for number in range(500))


@pytest.mark.contract("B152")
def test_the_oldest_lines_are_dropped_and_counted_in_their_place(
    clock: Hands, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said last is the verdict: it stays."""
    monkeypatch.setattr(output, "MOST_BYTES", 1000)
    stream = Output(pipe.theirs, Outlet(clock))
    for number in range(1000):
        stream.write(f"line {number:4}\n")
    at = dropped = 0
    for line in pipe.read_until("line  999\n").splitlines():
        if line.startswith("warning: "):
            assert line.endswith(" dropped here: nobody read")
            dropped += int(line.split()[1])
            at += int(line.split()[1])
        else:
            assert line == f"line {at:4}"
            at += 1
    assert (at, stream.queued_bytes) == (1000, 0)
    assert dropped >= 850


@pytest.mark.contract("B152")
def test_a_document_is_never_dropped_for_its_size(
    clock: Hands, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stdout lacks is said on stderr: a document stands alone."""
    monkeypatch.setattr(output, "MOST_BYTES", 1000)
    errors = Pipe(full=False)
    stdout, stderr = Output(pipe.theirs, Outlet(clock)), Output(errors.theirs, Outlet(clock))
    stdout.tell_gaps = stderr
    stdout.write("begun\n")
    while stdout.queued_bytes:
        time.sleep(GLANCE_SECONDS)  # until it stands at the full pipe
    stdout.write("older\n" * 200)
    stdout.write("x" * 5000 + "\n")
    said = pipe.read_until("x\n")
    dropped = errors.read_until("nobody read\n").split()
    assert "warning" not in said
    assert dropped[:2] == ["warning:", "stdout:"]
    assert int(dropped[2]) == 200
    errors.close()


@pytest.mark.contract("B179")
def test_the_end_waits_two_seconds_for_a_reader_that_takes_nothing(
    clock: Hands, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They count from when the command came to its end."""
    monkeypatch.setattr(output, "_MOST_PIPE_BYTES", 0)
    stream = Output(pipe.theirs, Outlet(clock))
    clock.seconds = 10.0
    stream.write("last\n")
    stream.outlet.drain(9.5, never)
    assert 9.5 + PATIENCE_SECONDS <= clock.seconds < 9.5 + PATIENCE_SECONDS + 0.2
    assert stream.outlet.unsent(stream) == b"last\n"


@pytest.mark.contract("B179")
@pytest.mark.parametrize("most_bytes", [1000, 65536])
def test_a_slow_reader_gets_everything(
    clock: Hands, pipe: Pipe, monkeypatch: pytest.MonkeyPatch, most_bytes: int
) -> None:
    """It takes a little each second, for far longer than 2 s; a page is not what counts."""
    monkeypatch.setattr(output, "_MOST_PIPE_BYTES", 0)
    stream = Output(pipe.theirs, Outlet(clock))
    text = "0123456789" * 2_000 + "\n"

    def read() -> None:
        if clock.seconds % 1.0 < 0.06:
            pipe.take(most_bytes)

    clock.meanwhile = read
    stream.write(text)
    stream.outlet.drain(0.0, never)
    assert stream.outlet.idle
    assert pipe.read_until("\n") == text
    if most_bytes == 1000:
        assert clock.seconds > 5 * PATIENCE_SECONDS


@pytest.mark.contract("B179")
def test_after_a_signal_two_seconds_are_all(
    clock: Hands, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much the reader takes."""
    monkeypatch.setattr(output, "_MOST_PIPE_BYTES", 0)
    stream = Output(pipe.theirs, Outlet(clock))
    clock.meanwhile = lambda: pipe.take(50)
    stream.write("0123456789" * 20_000)
    stream.outlet.drain(0.0, lambda: 2.0)
    assert 2.0 <= clock.seconds < 2.2


@pytest.mark.contract("B179")
def test_a_pipe_is_widened_for_a_reader_that_comes_later(clock: Hands, pipe: Pipe) -> None:
    """A pager with a person before it has all of it, although the process is gone."""
    stream = Output(pipe.theirs, Outlet(clock))
    text = "0123456789" * 30_000 + "\n"
    stream.write(text)
    stream.outlet.drain(0.0, never)
    assert stream.outlet.idle
    assert pipe.rest() == text


@pytest.mark.contract("B152")
def test_without_threads_what_is_ready_is_written(
    clock: Hands, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does it wait then."""

    def refuse(_work: Callable[[], None], _name: str) -> threading.Event:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(clock, "start", refuse)
    stream = Output(pipe.theirs, Outlet(clock))
    stream.write("first\n")
    assert stream.outlet.unsent(stream) == b"first\n"
    while len(pipe.read) < pipe.fill_bytes:
        pipe.take()
    stream.write("second\n")
    assert stream.outlet.idle
    assert pipe.read_until("second\n") == "first\nsecond\n"


@pytest.mark.contract("B177")
def test_a_pipe_that_somebody_made_non_blocking_gets_everything(clock: Hands, pipe: Pipe) -> None:
    """It is full for a while, and not gone."""
    os.set_blocking(pipe.theirs, False)
    stream = Output(pipe.theirs, Outlet(clock))
    stream.write("0123456789" * 20_000 + "\n")
    assert len(pipe.read_until("\n")) == 200_001


@pytest.mark.contract("B177")
def test_a_reader_that_went_away_is_nobodys_concern(clock: Hands) -> None:
    """Nothing of it is kept."""
    pipe = Pipe()
    stream = Output(pipe.theirs, Outlet(clock))
    stream.write("line\n")
    pipe.close()
    stream.outlet.drain(0.0, never)
    stream.write("line\n")
    assert (stream.broken, stream.outlet.idle, stream.isatty()) == (True, True, False)
