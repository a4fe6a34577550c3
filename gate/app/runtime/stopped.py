"""The end of a command by a signal, wherever that reached it: also as it was still loading."""

from __future__ import annotations

from gate import signals
from gate.config.takers import CLUSTER_CHANGING
from gate.core.model.outcome import Outcome, Reason
from gate.errors import GateError


class Stopped(GateError):
    """A signal ended `command` before anything was written. Exit 128 plus its number."""

    outcome = Outcome.INTERRUPTED

    def __init__(self, signalled: signals.Signalled, command: str) -> None:
        what = "anything of its own" if signalled.after_recovery else "anything"
        # Nobody expects a read-only command to write.
        when = f" before {what} was written" if command in CLUSTER_CHANGING else ""
        super().__init__(f"{signalled} ended it{when}", reason=Reason.INTERRUPTED)
        self.number = signalled.number

    @property
    def exit_code(self) -> int:
        """The code that a shell reports for a process ended by the signal."""
        return signals.SIGNAL_BASE + self.number
