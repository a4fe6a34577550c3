"""The end of the standard streams: what is said of what nobody read."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from gate import output, signals
from gate.cli import streams
from gate.output import PATIENCE_SECONDS, Outlet, Output, as_warning
from tests.unit.test_output import Hands, Pipe


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Hands:
    """Return a clock at zero; no pipe is widened."""
    monkeypatch.setattr(output, "_MOST_PIPE_BYTES", 0)
    return Hands()


class Standard:
    """Two streams into full pipes, by their names."""

    def __init__(self, clock: Hands) -> None:
        self.pipes = {"stdout": Pipe(), "stderr": Pipe()}
        self.streams = {
            name: Output(pipe.theirs, Outlet(clock)) for name, pipe in self.pipes.items()
        }
        self._clock = clock

    def finish(self, *, has_document: bool = False) -> None:
        """End them; the command ended at 0."""
        stdout, stderr = self.streams.values()
        streams.finish(stdout, stderr, self._clock, 0.0, has_document=has_document)


@pytest.fixture
def standard(clock: Hands) -> Iterator[Standard]:
    """Return the streams of a process, both full."""
    standard = Standard(clock)
    yield standard
    for pipe in standard.pipes.values():
        pipe.close()


def emptied(pipe: Pipe) -> None:
    """Make room in a pipe."""
    while len(pipe.read) < pipe.fill_bytes:
        pipe.take()


@pytest.mark.contract("B179")
@pytest.mark.parametrize(("lost", "other"), [("stdout", "stderr"), ("stderr", "stdout")])
def test_what_one_stream_lacks_is_said_on_the_other(
    clock: Hands, standard: Standard, lost: str, other: str
) -> None:
    """How many lines, once the 2 s are over."""
    emptied(standard.pipes[other])
    standard.streams[lost].write("one\ntwo\n")
    standard.finish()
    said = standard.pipes[other].read_until("\n")
    assert said == as_warning(f"{lost} ends before its last 2 lines: the reader closed the pipe")
    assert clock.seconds < PATIENCE_SECONDS + 0.3


@pytest.mark.contract("B173", "B179")
def test_nothing_is_said_beside_a_document(clock: Hands, standard: Standard) -> None:
    """Who parses stdout gets the document and nothing else."""
    emptied(standard.pipes["stdout"])
    standard.streams["stdout"].write("{}\n")
    standard.streams["stderr"].write("one\n")
    standard.finish(has_document=True)
    assert standard.pipes["stdout"].rest() == "{}\n"


@pytest.mark.contract("B179")
def test_two_that_nobody_reads_cost_as_much_as_one(clock: Hands, standard: Standard) -> None:
    """They are waited for together, and what is said of them waits a moment more."""
    for stream in standard.streams.values():
        stream.write("line\n")
    standard.finish()
    assert PATIENCE_SECONDS <= clock.seconds < PATIENCE_SECONDS + 0.7


@pytest.mark.contract("B153", "B179")
def test_after_a_signal_a_slow_reader_has_two_seconds(clock: Hands, standard: Standard) -> None:
    """One that comes while the end is waited for counts from there."""
    emptied(standard.pipes["stderr"])

    def read() -> None:
        if clock.seconds > 5.0 and not signals.read_first_signal():
            os.kill(os.getpid(), signals.ENDING_SIGNALS[0])
        standard.pipes["stdout"].take(20)

    clock.meanwhile = read
    standard.streams["stdout"].write("0123456789" * 20_000)
    with signals.delivered_to(signals.ignore_signal):
        standard.finish()
    assert 5.0 + PATIENCE_SECONDS <= clock.seconds < 5.0 + PATIENCE_SECONDS + 0.5
