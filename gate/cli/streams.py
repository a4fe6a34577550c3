"""Standard streams that cannot fail: a closed pipe or a full disk never changes an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from typing import Any, Final, TextIO

_NAMES: Final = ("stdin", "stdout", "stderr")


class TolerantFile(io.RawIOBase):
    """Writes to a file descriptor for as long as that works, and to nothing from then on."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._broken = False

    def writable(self) -> bool:
        """Return that it can be written to, whatever becomes of the text."""
        return True

    def fileno(self) -> int:
        """Return the descriptor, whose terminal can be asked for its size."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether people look at it."""
        return not self._broken and os.isatty(self._descriptor)

    def write(self, data: Any, /) -> int:
        """Write, or pretend to."""
        while not self._broken:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:
                # The parent made the pipe non-blocking; a reader that is slow loses nothing.
                select.select([], [self._descriptor], [])
            except OSError:
                self._broken = True
        return len(data)


def harden() -> None:
    """Make stdout and stderr tolerant, and open those of the three streams that are closed.

    A closed one would give its number to the next file or socket, which then got our output.
    """
    for descriptor in range(len(_NAMES)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
    sys.stdout = _tolerant(1, sys.stdout)
    sys.stderr = _tolerant(2, sys.stderr)


def _tolerant(descriptor: int, stream: TextIO | None) -> io.TextIOWrapper:
    """Return a stream like `stream`, which replaces what its encoding does not have."""
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.flush()
    raw = TolerantFile(descriptor)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding if stream is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
