"""Processes of this machine: which one this is, and whether another has ended.

Sources: proc(5) (`/proc/PID/stat`, `/proc/self/ns`, `/proc/sys/kernel/random/boot_id`), kill(2).
Without /proc, as on macOS, `this` is None, and nothing is known of other processes.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from gate.core.model.lock_holder import Process

_PROC: Final = Path("/proc")
_BOOT_ID: Final = Path("sys/kernel/random/boot_id")
_NAMESPACES: Final = ("pid", "time")
_STATE, _THREADS, _START = 0, 17, 19
"""Places in /proc/PID/stat after the command's closing parenthesis: fields 3, 20 and 22."""
_ZOMBIE: Final = "Z"
_GREATEST_PID: Final = 1 << 22


class Processes(Protocol):
    """What the system says about processes."""

    def this(self) -> Process | None:
        """Return the process of this gate, None if the system does not say."""

    def has_ended(self, process: Process) -> bool:
        """Tell whether a process of this machine and PID namespace is proven to have ended."""


class _Stat(NamedTuple):
    state: str
    threads: int
    start_ticks: int


class SystemProcesses:
    """The processes of this machine, as far as /proc shows them."""

    def __init__(self, proc: Path = _PROC) -> None:
        """Take where /proc is mounted."""
        self._proc = proc

    def this(self) -> Process | None:
        """Return this process, None if /proc is missing or belongs to another PID namespace."""
        try:
            boot_id = (self._proc / _BOOT_ID).read_text().strip()
            own = self._proc / "self"
            if not boot_id or own.readlink() != Path(str(os.getpid())):
                return None
            namespaces = " ".join(str((own / "ns" / name).readlink()) for name in _NAMESPACES)
            start_ticks = self._stat(os.getpid()).start_ticks
        except (OSError, ValueError, IndexError):
            return None
        return Process(socket.gethostname(), boot_id, namespaces, os.getpid(), start_ticks)

    def has_ended(self, process: Process) -> bool:
        """Tell whether it is gone: the pid is free, reused by a later process, or a zombie.

        Only kill(2) proves that there is no such pid: /proc may hide processes (`hidepid`).
        """
        if not 0 < process.pid <= _GREATEST_PID:
            return False
        try:
            os.kill(process.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass  # it exists, but is another user's
        try:
            stat = self._stat(process.pid)
        except (OSError, ValueError, IndexError):
            return False
        # A thread-group leader that has exited is also a zombie while its other threads run.
        is_zombie = stat.state == _ZOMBIE and stat.threads <= 1
        return is_zombie or stat.start_ticks != process.start_ticks

    def _stat(self, pid: int) -> _Stat:
        text = (self._proc / str(pid) / "stat").read_text(errors="replace")
        fields = text.rpartition(")")[2].split()
        return _Stat(fields[_STATE], int(fields[_THREADS]), int(fields[_START]))
