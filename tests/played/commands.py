"""Checks by command in the sandbox: short programs, which take no virtual time."""

from __future__ import annotations

import subprocess

from gate.clock import Clock
from gate.config import Settings
from gate.core.checks.questions import Answered, CommandQuestion, Exit
from gate.sources.source import Sources
from gate.wire.secret_values import SecretValues
from gate.wire.untrusted import clean


class PlayedCommands:
    """Runs programs of this machine to their end; answers `CommandQuestion`."""

    def ask(self, question: CommandQuestion) -> Answered:
        """Return how a program ended."""
        done = subprocess.run(question.arguments, capture_output=True, check=False, text=True)
        return Answered(Exit(done.returncode, clean((done.stdout + done.stderr).strip())))

    def cancel(self) -> None:
        """Do nothing: a program has ended before anybody can ask."""


def played_sources(_: Settings, __: Clock, ___: SecretValues) -> Sources:
    """Return sources that answer commands, and nothing else."""
    return Sources({CommandQuestion: PlayedCommands()})
