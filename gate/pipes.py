"""Named pipes and devices: written to as they are, and never waited for without end.

Opening a pipe waits for its reader, and writing to one waits until it reads. Neither may happen.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from gate.clock import Clock, SystemClock
from gate.output import PATIENCE_SECONDS

_PAUSE_SECONDS: Final = 0.02
_MODE: Final = 0o666


def append(path: Path, data: bytes, clock: Clock | None = None) -> None:
    """Append to a file; raises OSError, for a pipe also when it takes nothing for 2 s."""
    clock = clock or SystemClock()
    descriptor = open_nonblocking(path, os.O_APPEND, clock)
    try:
        _send(descriptor, data, clock)
    finally:
        os.close(descriptor)


def open_nonblocking(path: Path, flags: int, clock: Clock | None = None) -> int:
    """Return a non-blocking descriptor to write to; raises OSError.

    A pipe's reader has 2 s to come.
    """
    clock = clock or SystemClock()
    ends_at = clock.now() + PATIENCE_SECONDS
    flags |= os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    while True:
        try:
            return os.open(path, flags, _MODE)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(path.stat().st_mode):
                raise
            if clock.now() >= ends_at:
                raise OSError(errno.ENXIO, "nobody reads this pipe") from error
        clock.wait(_PAUSE_SECONDS)


def _send(descriptor: int, data: bytes, clock: Clock) -> None:
    rest, moved_at = memoryview(data), clock.now()
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
            moved_at = clock.now()
        except BlockingIOError as error:
            if clock.now() >= moved_at + PATIENCE_SECONDS:
                left = f"its reader takes nothing, {len(rest)} of {len(data)} bytes are missing"
                raise TimeoutError(errno.ETIMEDOUT, left) from error
            clock.wait(_PAUSE_SECONDS)
