"""The gate as a program of the sandbox: the whole of it, in threads of virtual time."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from gate.app.rehearsal.virtual_world import Played, Running, User
from gate.app.runtime.world import World
from gate.cli.main import run
from tests.cluster.command import END_SECONDS, LINE_SECONDS, Result, Starting
from tests.played.commands import played_sources


class PlayedGate(Starting):
    """The gate's command line; relative paths are under the process's own folder."""

    def __init__(self, played: Played, cwd: Path, user: User) -> None:
        """Run it as a user of the sandbox."""
        self._played = played
        self._user = user
        self.cwd = cwd

    def start(
        self, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> PlayedRun:
        """Have a command begin with the next wait."""
        words = tuple(map(str, arguments))
        environ = {"HOME": str(self.cwd), "LANG": "C.UTF-8", **(env or {})}

        def command(world: World) -> int:
            return run(words, replace(world, environ=environ, sources=played_sources), environ)

        running = self._played.start(command, stdin.encode(), user=self._user)
        return PlayedRun(running, self._played, words)


class PlayedRun:
    """A command that runs; leaving the `with` block kills it if it still does."""

    def __init__(self, running: Running, played: Played, arguments: tuple[str, ...]) -> None:
        self._running = running
        self._clock = played.clock
        self._arguments = arguments
        self._started_at = played.clock.now()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the command unless it has ended."""
        self.kill()

    def wait_for_line(self, pattern: str, timeout_seconds: float = LINE_SECONDS) -> re.Match[str]:
        """Return the first match of `pattern` in a line of either output, as soon as it is said.

        Raises `TimeoutError` when the time is up, `EOFError` when the command ended without it.
        """

        def said() -> re.Match[str] | None:
            streams = (self._running.stdout, self._running.stderr)
            lines = (line for each in streams for line in each.getvalue().splitlines())
            return next(filter(None, (re.search(pattern, line) for line in lines)), None)

        self._clock.wait_until(lambda: bool(said() or self._running.ended), timeout_seconds)
        match = said()
        if match is None:
            problem = EOFError if self._running.ended else TimeoutError
            raise problem(f"it does not say {pattern!r}:\n{self._result()}")
        return match

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command."""
        self._running.send(number)

    def suspend(self, seconds: float) -> None:
        """Stop the command for so long, as SIGSTOP does."""
        self._running.signals.group.suspend(seconds)

    def kill(self) -> None:
        """End the command as a vanished machine would; the cluster lives on."""
        self._running.kill()

    def wait(self, timeout_seconds: float = END_SECONDS) -> Result:
        """Return the result when the command ends; kills it and raises where it does not."""
        self._running.wait(timeout_seconds)
        if not self._running.ended:
            self.kill()
            raise TimeoutError(f"it did not end in time:\n{self._result()}")
        return self._result()

    def _result(self) -> Result:
        code = self._running.exit_code
        return Result(
            arguments=("rollout-gate", *self._arguments),
            exit_code=-1 if code is None else code,
            stdout=self._running.stdout.getvalue(),
            stderr=self._running.stderr.getvalue(),
            duration_seconds=self._clock.now() - self._started_at,
        )
