"""One server as a child process that never outlives its parent.

Three nets, one below the other: `stop` by pid, the caller's `with` block or `atexit`, and where
the parent is killed outright, the kernel (Linux's parent-death signal).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

STOP_SECONDS = 5.0
LOG_TAIL_BYTES = 4_000

# Set between fork and exec of the server by an interpreter of its own: `preexec_fn` may deadlock
# in a parent with threads. The signal stays set over exec; a parent that died before it was set
# shows as another parent's pid.
_TIED_TO_PARENT = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        sys.exit("the parent is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""


class ServerError(Exception):
    """A server did not start, or ended by itself; the message carries the end of its log."""


class ServerProcess:
    """A server's command, its log file, and the process while it runs.

    Start it from a thread that lives as long as the server is meant to: Linux takes the end of
    that thread for the parent's death.
    """

    def __init__(
        self, name: str, command: Sequence[str], folder: Path, cwd: Path | None = None
    ) -> None:
        self.name = name
        self.log_path = folder / f"{name}.log"
        self._command = list(command)
        self._cwd = cwd
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs, else None."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Start the server, in a session of its own so that the terminal's Ctrl-C passes it by."""
        if self.pid is not None:
            raise ServerError(f"{self.name} runs already")
        tie = [sys.executable, "-I", "-S", "-c", _TIED_TO_PARENT, str(os.getpid())]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                tie + self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=self._cwd,
            )

    def stop(self) -> None:
        """End the server: asked first, killed after `STOP_SECONDS`. Stopping twice is fine."""
        if self._process is None:
            return
        if self._process.poll() is None:
            # A suspended process would never see the request to end.
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        """End the server at once, as a crash of its machine would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Hold the server still: its sockets stay open, and nothing answers."""
        process = self._running()
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def check(self) -> None:
        """Raise `ServerError` with the end of the log unless the server runs."""
        self._running()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ServerError(f"{self.name} is not running")
        if (code := self._process.poll()) is not None:
            raise ServerError(f"{self.name} ended with {code}; its log ends:\n{self.log_tail()}")
        return self._process

    def log_tail(self) -> str:
        """Return the last lines of the log, for people."""
        text = self.log_path.read_bytes()[-LOG_TAIL_BYTES:]
        return text.decode(errors="replace")
