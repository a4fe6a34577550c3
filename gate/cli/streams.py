"""The standard streams of the process, which nobody waits for and which cannot fail."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable
from typing import Final, TextIO

from gate import signals
from gate.clock import Clock, SystemClock
from gate.output import PATIENCE_SECONDS, Outlet, Output, as_warning

_NAMES: Final = ("stdin", "stdout", "stderr")
_LAST_WORD_SECONDS: Final = 0.2
"""How long the end waits for a reader of what it says about the other stream."""


def harden() -> tuple[Output, Output]:
    """Make stdout and stderr outputs, open those of the three streams that are closed.

    A closed one would give its number to the next file or socket, which then got our output. It is
    opened for reading, so that writing to it still fails. Two that go to the same file share an
    outlet, which keeps their order. Return these two.
    """
    for descriptor in range(len(_NAMES)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
    clock = SystemClock()
    outlet = Outlet(clock)
    stdout = _output(1, sys.stdout, outlet)
    is_same = os.path.sameopenfile(1, 2)
    stderr = _output(2, sys.stderr, outlet if is_same else Outlet(clock))
    stdout.tell_gaps = stderr
    sys.stdout, sys.stderr = stdout, stderr
    return stdout, stderr


def finish(
    stdout: Output, stderr: Output, clock: Clock, since: float, *, has_document: bool = False
) -> None:
    """Wait until stdout and stderr are read, or nobody has read them for 2 s; say what is missing.

    These count from `since`, when the command came to its end; after a signal they are all that is
    waited. What stdout could not be given stands on stderr then. What stderr lacks is said on
    stdout, unless it `has_document`.
    """
    ends_at = _end_after_signal(since, clock)
    for stream in (stdout, stderr):
        stream.outlet.drain(since, ends_at)
    if stdout.outlet is stderr.outlet:
        return
    if stdout.failure:
        _say_instead(stderr, stdout)
        stderr.outlet.drain(clock.now(), ends_at)
    if rest := stdout.outlet.unsent(stdout):
        _say_last(
            stderr,
            f"stdout ends before its last {_amount(rest)}: the reader closed the pipe",
            clock,
        )
    if not has_document and (rest := stderr.outlet.unsent(stderr)):
        _say_last(
            stdout,
            f"stderr ends before its last {_amount(rest)}: the reader closed the pipe",
            clock,
        )


def _say_instead(stderr: Output, stdout: Output) -> None:
    """Say on stderr what stdout did not take: a verdict must stand somewhere."""
    lost = stdout.lost.decode(stdout.encoding, "replace")
    why = f"stdout: {stdout.failure}; it was to hold"
    if stderr.as_line is as_warning:
        stderr.write(f"{as_warning(f'{why}:')}{lost}")
    else:
        stderr.write(stderr.as_line(f"{why}: {lost}"))


def _end_after_signal(since: float, clock: Clock) -> Callable[[], float]:
    """Return what tells when waiting ends in any case."""
    ends: list[float] = []

    def ends_at() -> float:
        if not ends and signals.read_first_signal():
            ends.append(max(since, clock.now()) + PATIENCE_SECONDS)
        return ends[0] if ends else math.inf

    ends_at()
    return ends_at


def _say_last(stream: Output, text: str, clock: Clock) -> None:
    stream.write(stream.as_line(text))
    ends_at = clock.now() + _LAST_WORD_SECONDS
    stream.outlet.drain(clock.now(), lambda: ends_at)


def _amount(rest: bytes) -> str:
    lines = rest.count(b"\n")
    return f"{lines} lines" if lines > 1 else f"{len(rest)} bytes"


def _output(descriptor: int, stream: TextIO | None, outlet: Outlet) -> Output:
    """Return a stream like `stream`, which replaces what its encoding does not have."""
    if stream is not None:
        with contextlib.suppress(OSError):  # a closed stream: the new one says so when written to
            stream.flush()
    return Output(descriptor, outlet, stream.encoding if stream is not None else "utf-8")
