"""Smoke tests by command: an argument vector, run without a shell, judged by its exit code.

It runs in a process group of its own, which is ended with it, and inherits no credentials: from
the gate's environment it gets only what `INHERITED` and `passed` name; the question adds its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO, Final, cast

from gate.clock import Clock
from gate.core.checks.questions import Answered, CommandQuestion, Errored, Exit, Trouble
from gate.core.model.objects import CleanText
from gate.process_group import await_exit, signal_group
from gate.wire.untrusted import clean

INHERITED: Final = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "TZ",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""The variables of the gate's environment that every command gets."""

OUTPUT_BYTES: Final = 1 << 16
"""How much of the output's end is kept as evidence: the end says what went wrong."""
_SHOWN_CHARACTERS: Final = 4096
_GRACE_SECONDS: Final = 2.0
_REAPING_SECONDS: Final = 1.0


class Command:
    """Runs programs on the gate's machine; answers `CommandQuestion`."""

    def __init__(
        self,
        environ: Mapping[str, str],
        clock: Clock,
        *,
        passed: tuple[str, ...] = (),
        grace_seconds: float = _GRACE_SECONDS,
        mask: Callable[[str], str] = str,
    ) -> None:
        """Take the gate's environment, and the names of further variables that commands get.

        `mask` removes secrets from what a command prints, before that is truncated.
        """
        names = (*INHERITED, *passed)
        self._environment = {name: environ[name] for name in names if name in environ}
        self._clock = clock
        self._grace_seconds = grace_seconds
        self._mask = mask
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._stopping = threading.Event()

    def ask(self, question: CommandQuestion) -> Answered | Errored:
        """Run a command until it exits or its timeout ends."""
        if self._stopping.is_set():
            return _make_cancelled()
        try:
            process = self._start_process(question)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "bad arguments"
            text = clean(f"{question.arguments[0]} cannot be run: {why}", 200)
            return Errored(text, Trouble.COMMAND)
        return self._await_end(process, question.timeout_seconds)

    def cancel(self) -> None:
        """Kill what runs, and run nothing more."""
        self._stopping.set()
        for process in list(self._running.values()):
            signal_group(process, signal.SIGKILL)

    def _start_process(self, question: CommandQuestion) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            question.arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**self._environment, **dict(question.environment)},
            start_new_session=True,
        )
        self._running[process.pid] = process
        if self._stopping.is_set():
            signal_group(process, signal.SIGKILL)
        return process

    def _await_end(self, process: subprocess.Popen[bytes], seconds: float) -> Answered | Errored:
        """Wait for the exit; whatever the command left in its process group is killed too."""
        output = bytearray()
        stdout = cast("IO[bytes]", process.stdout)
        drained = self._clock.start(partial(_drain, stdout, output), "command-output")
        exited = self._clock.start(partial(await_exit, process), "command")
        in_time = self._clock.wait(seconds, exited)
        if not in_time:
            signal_group(process, signal.SIGTERM)
            self._clock.wait(self._grace_seconds, exited)
        # The pid names the group until the leader is reaped; afterwards it may be somebody else's.
        signal_group(process, signal.SIGKILL)
        self._clock.wait(_REAPING_SECONDS, exited)
        del self._running[process.pid]
        code = process.poll()
        # A process that left the group may hold the pipe open for ever.
        self._clock.wait(_REAPING_SECONDS, drained)
        if self._stopping.is_set():
            return _make_cancelled()
        return Answered(Exit(code if in_time else None, self._clean_output(bytes(output))))

    def _clean_output(self, output: bytes) -> CleanText:
        """Return the end of the output, masked and cleaned."""
        text = self._mask(output.decode("utf-8", "replace")).strip()
        return clean(text[-_SHOWN_CHARACTERS:])


def _drain(stream: IO[bytes], kept: bytearray) -> None:
    """Read to the end so that the writer never blocks; keep the last `OUTPUT_BYTES`."""
    with stream, contextlib.suppress(OSError, ValueError):  # closed meanwhile: all has been read
        while some := os.read(stream.fileno(), OUTPUT_BYTES):
            kept += some
            del kept[:-OUTPUT_BYTES]


def _make_cancelled() -> Errored:
    return Errored(CleanText("the run is ending"), Trouble.CANCELLED)
