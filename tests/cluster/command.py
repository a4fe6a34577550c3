"""Programs as a user runs them: a command line, its end, and what it says on the way there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, Self

from tests.cluster.lateness import be_late

END_SECONDS = 120.0
LINE_SECONDS = 30.0
OUTPUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended and what it said; `exit_code` is negative where a signal ended it."""

    arguments: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    duration_seconds: float

    @property
    def document(self) -> Any:
        """What stdout says, read as JSON; raises `ValueError` with both outputs where it is not."""
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise ValueError(f"stdout is no JSON document: {error}\n{self}") from error

    def __str__(self) -> str:
        """Return everything that helps to understand a failed test."""
        command = " ".join(self.arguments)
        ended = f"{command}\nended with {self.exit_code} after {self.duration_seconds:.1f} s"
        return f"{ended}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


class Running:
    """A command that runs; leaving the `with` block kills it if it still does."""

    def __init__(
        self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: str
    ) -> None:
        self._arguments = tuple(arguments)
        self._started_at = time.monotonic()
        self._process = subprocess.Popen(
            self._arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._said = threading.Condition()
        self._lines: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._open_streams = 2
        self._readers = [
            self._reader("stdout", self._process.stdout),
            self._reader("stderr", self._process.stderr),
        ]
        self._feed(stdin)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the command unless it has ended."""
        self.kill()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_for_line(self, pattern: str, timeout_seconds: float = LINE_SECONDS) -> re.Match[str]:
        """Return the first match of `pattern` in a line of either output, as soon as it is said.

        Raises `TimeoutError` when the time is up, `EOFError` when the command ended without it.
        """
        match = self._find_line(pattern, timeout_seconds)
        be_late()
        return match

    def _find_line(self, pattern: str, timeout_seconds: float) -> re.Match[str]:
        deadline = time.monotonic() + timeout_seconds
        seen = {"stdout": 0, "stderr": 0}
        with self._said:
            while True:
                for stream, lines in self._lines.items():
                    for line in lines[seen[stream] :]:
                        if match := re.search(pattern, line):
                            return match
                    seen[stream] = len(lines)
                if not self._open_streams:
                    raise EOFError(f"it ended without saying {pattern!r}:\n{self._output()}")
                if not self._said.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"it does not say {pattern!r}:\n{self._output()}")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command alone."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End the command, and what it started, as a vanished machine would (SIGKILL)."""
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._close()

    def wait(self, timeout_seconds: float = END_SECONDS) -> Result:
        """Return the result when the command ends; kills it and raises where it does not."""
        try:
            exit_code = self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimeoutError(f"it did not end in time:\n{self._output()}") from None
        duration_seconds = time.monotonic() - self._started_at
        self._close()
        said = {stream: "".join(lines) for stream, lines in self._lines.items()}
        return Result(self._arguments, exit_code, **said, duration_seconds=duration_seconds)

    def _reader(self, stream: str, source: IO[str] | None) -> threading.Thread:
        thread = threading.Thread(target=self._read, args=(stream, source), daemon=True)
        thread.start()
        return thread

    def _read(self, stream: str, source: IO[str]) -> None:
        for line in source:
            with self._said:
                self._lines[stream].append(line)
                self._said.notify_all()
        source.close()
        with self._said:
            self._open_streams -= 1
            self._said.notify_all()

    def _feed(self, stdin: str) -> None:
        assert self._process.stdin is not None
        try:
            with self._process.stdin as pipe:
                pipe.write(stdin)
        except BrokenPipeError:
            pass  # It ended, or does not read: what it says of that is what the test looks at.

    def _close(self) -> None:
        for reader in self._readers:
            reader.join(OUTPUT_SECONDS)
            if reader.is_alive():
                raise TimeoutError(f"what it started keeps its output open:\n{self._output()}")

    def _output(self) -> str:
        return "".join(f"{name}: {line}" for name, lines in self._lines.items() for line in lines)


class RunningProgram(Protocol):
    """A command that runs; leaving the `with` block kills it if it still does."""

    def __enter__(self) -> Self:
        """Return itself."""

    def __exit__(self, *_: object) -> None:
        """Kill it unless it has ended."""

    def wait_for_line(self, pattern: str, timeout_seconds: float = LINE_SECONDS) -> object:
        """Return as soon as a line of its output matches; TimeoutError, EOFError."""

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""

    def kill(self) -> None:
        """End it as a vanished machine would."""

    def wait(self, timeout_seconds: float = END_SECONDS) -> Result:
        """Return the result when it ends; TimeoutError."""


class Starting(ABC):
    """What starts commands can run them to their end, too."""

    __slots__ = ()

    @abstractmethod
    def start(
        self, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> RunningProgram:
        """Start a command and return at once."""

    def __call__(
        self,
        *arguments: str | Path,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        check: bool = False,
        timeout_seconds: float = END_SECONDS,
    ) -> Result:
        """Run to the end; with `check`, an exit code other than 0 raises `AssertionError`."""
        with self.start(*arguments, stdin=stdin, env=env) as running:
            result = running.wait(timeout_seconds)
        assert not check or result.exit_code == 0, str(result)
        return result


@dataclass(frozen=True, slots=True)
class Program(Starting):
    """A program with its environment; calling it runs one command line to its end."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path

    def start(
        self, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> Running:
        """Start a command and return at once; `env` adds to the program's own environment."""
        words = [*self.words, *(str(argument) for argument in arguments)]
        return Running(words, {**self.env, **(env or {})}, self.cwd, stdin)
