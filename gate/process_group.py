"""The process group of a program that the gate has started: its end, and how it is ended.

The program was started in a session of its own, so that its pid names its group.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess


def await_exit(process: subprocess.Popen[bytes]) -> None:
    """Return once the program has ended; it is not reaped, so that its pid still names its group.

    Waits without a limit: who has one waits for this in a thread of a `Clock`.
    """
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to the whole group, which the pid names until the program is reaped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or another user's
        os.killpg(process.pid, number)
