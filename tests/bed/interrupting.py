"""Signals to a run of the gate, and the end that has to come of them in time."""

from __future__ import annotations

import signal

from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_ended
from tests.cluster.command import Result

END_SECONDS = 5.0
ENDING = [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
UNDER_WAY = "applied +deployment/web changed"
CRASHED = "pod/.*CrashLoop"


def interrupted(
    running: CheckedRun, line: str, number: signal.Signals = signal.SIGTERM, code: int = 143
) -> Result:
    """Send a signal to a run once it says `line`; return its result, which comes in time."""
    running.wait_for_line(line)
    running.send(number)
    result = running.wait(END_SECONDS)
    assert_ended(result, code, "interrupted", "Interrupted")
    return result
