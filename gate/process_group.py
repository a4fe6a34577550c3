"""The process group of a program that the gate has started: waiting for it and signalling it.

The program was started in a session of its own, so that its pid is also its group's id.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess


def await_exit(process: subprocess.Popen[bytes]) -> None:
    """Return once the program has ended; it is not reaped, so that its pid still names its group.

    Waits without a limit: a caller that has one runs this in a thread of a `Clock`.
    """
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to the whole group, which the pid names until the program is reaped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or another user's
        os.killpg(process.pid, number)
