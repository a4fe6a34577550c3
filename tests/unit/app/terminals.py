"""A pseudo-terminal with the program in it, read as a terminal reads it: by pyte."""

from __future__ import annotations

import codecs
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.unit.report.live.screens import Screen

ROOT = Path(__file__).parents[3]
LONGEST_SECONDS = 60
USUAL = {"TERM": "linux", "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
"""A terminal that cuts lines when it gets narrower, as pyte does."""


class Pty:
    """A terminal of 80 columns and 24 rows, unless told, that a process writes to."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.screen = Screen(columns, rows)
        self.sent = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.ours, self.theirs = os.openpty()
        self._size(columns, rows)

    def start(
        self, *arguments: str, folder: Path, environ: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start the program with this terminal as its own, its input closed."""
        inherited = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [sys.executable, "-m", "gate", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self.theirs,
            stderr=self.theirs,
            env={**inherited, **USUAL, **environ},
            cwd=folder,
            start_new_session=True,
        )

    def read_until(self, shown: Callable[[list[str]], bool]) -> None:
        """Read until the screen shows it."""
        ends_at = time.monotonic() + LONGEST_SECONDS
        while not shown(self.screen.lines):
            left = max(0.0, ends_at - time.monotonic())
            ready, _, _ = select.select([self.ours], [], [], left)
            assert ready, "\n".join(self.screen.lines)
            self._read()

    def read_to_the_end(self, process: subprocess.Popen[bytes]) -> int:
        """Read until the process has ended; return its exit code."""
        ends_at = time.monotonic() + LONGEST_SECONDS
        while process.poll() is None:
            assert time.monotonic() < ends_at, "\n".join(self.screen.lines)
            if select.select([self.ours], [], [], 0.05)[0]:
                self._read()
        while select.select([self.ours], [], [], 0)[0]:
            self._read()
        return process.returncode

    def _read(self) -> None:
        text = self._decoder.decode(os.read(self.ours, 65536))
        self.sent += text
        self.screen.feed(text)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self.screen.resize(columns, rows)
        self._size(columns, rows)

    def _size(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, size)

    def stop(self) -> None:
        """Take nothing from now on, as after Ctrl-S."""
        termios.tcflow(self.theirs, termios.TCOOFF)

    def fill(self) -> None:
        """Have no room left, as a window that nobody reads."""
        os.set_blocking(self.theirs, False)
        try:
            while True:
                os.write(self.theirs, b"x" * 256)
        except BlockingIOError:
            os.set_blocking(self.theirs, True)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.ours)
        os.close(self.theirs)


def ended(process: subprocess.Popen[bytes]) -> None:
    """End a process that is left over."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait(LONGEST_SECONDS)
