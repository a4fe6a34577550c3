"""The gate as a user runs it, every run held against the invariants when it has ended."""

from __future__ import annotations

import itertools
import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import yaml

from tests.bed.bed import Bed, Startable
from tests.bed.history import History
from tests.bed.invariants import Run, hold
from tests.cluster.audit import Log, Trail
from tests.cluster.command import END_SECONDS, LINE_SECONDS, Result, RunningProgram, Starting
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects

_READABLE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run takes place: its namespace's objects, what is known of them, earlier runs."""

    objects: Objects
    history: History
    audit: Log | None
    runs: list[Run]

    @classmethod
    def of(cls, bed: Bed) -> Place:
        """Return the place of a test's runs."""
        return cls(bed.objects, bed.history, bed.audit, bed.runs)


class CheckedGate(Starting):
    """The gate's program with the same calls; runs of one test do not overlap."""

    def __init__(self, program: Startable, place: Place, secrets: tuple[str, ...] = ()) -> None:
        """Take what is run, where, and what it must not say."""
        self._program = program
        self._place = place
        self._secrets = secrets

    @property
    def secrets(self) -> tuple[str, ...]:
        """What it must not say: the tokens that it is given."""
        return self._secrets

    @property
    def cwd(self) -> Path:
        """The folder that it runs in."""
        return self._program.cwd

    def start(
        self, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> CheckedRun:
        """Start a command and return at once."""
        words = tuple(map(str, arguments))
        manifest = tuple(self._manifest(words, stdin))
        audit = self._place.audit
        trail = Trail(audit, audit.mark()) if audit else None

        def check(result: Result) -> None:
            run = Run(
                arguments=words,
                manifest=manifest,
                namespace=self._place.objects.namespace,
                result=result,
                document=_document(result),
                requests=trail.requests() if trail else None,
                written=tuple(self._written(words)),
                secrets=self._secrets,
            )
            hold(run, self._place.objects, self._place.history)
            self._place.runs.append(run)

        return CheckedRun(self._program.start(*arguments, stdin=stdin, env=env), check)

    def _manifest(self, words: tuple[str, ...], stdin: str) -> list[JSON]:
        """Return the objects of the `-f` arguments, none of what cannot be read."""
        texts: list[str] = []
        for option, value in itertools.pairwise(words):
            if option == "-f" and value == "-":
                texts.append(stdin)
            elif option == "-f":
                texts += [path.read_text() for path in _files(self.cwd / value)]
        return [item for text in texts for item in _objects(text)]

    def _written(self, words: tuple[str, ...]) -> list[Path]:
        """Return the files that the arguments ask the gate to write."""
        paths = []
        for option, value in itertools.pairwise(words):
            if option in ("--record", "--report", "--metrics-textfile"):
                paths.append(self.cwd / value.rpartition("=")[2])
        return [path for path in paths if path.is_file()]


class CheckedRun:
    """A run that goes on; `wait` returns only what has kept the invariants."""

    def __init__(self, running: RunningProgram, check: Callable[[Result], None]) -> None:
        self._running = running
        self._check = check

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the gate unless it has ended."""
        self._running.kill()

    def wait_for_line(self, pattern: str, timeout_seconds: float = LINE_SECONDS) -> None:
        """Return as soon as it says a line that `pattern` matches."""
        self._running.wait_for_line(pattern, timeout_seconds)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._running.send(number)

    def kill(self) -> None:
        """End it as a vanished machine would."""
        self._running.kill()

    def wait_for_end(self, timeout_seconds: float) -> int:
        """Return its exit code when it ends, before anything is checked.

        For a test that holds the API server, which the checks ask. Raises `TimeoutError`.
        """
        return self._running.wait(timeout_seconds).exit_code

    def wait(self, timeout_seconds: float = END_SECONDS) -> Result:
        """Return the result when it ends."""
        result = self._running.wait(timeout_seconds)
        self._check(result)
        return result


def _document(result: Result) -> JSON | None:
    try:
        document = json.loads(result.stdout)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = [each for each in path.iterdir() if each.suffix in (".yaml", ".yml", ".json")]
        return [file for each in sorted(found) for file in _files(each) if each.is_file()]
    is_readable = path.is_file() and path.stat().st_size < _READABLE_BYTES
    return [path] if is_readable else []


def _objects(text: str) -> list[JSON]:
    try:
        documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError:
        return []
    whole = [each for each in documents if isinstance(each, dict) and "kind" in each]
    items = [item for each in whole for item in each.get("items", [each])]
    return [item for item in items if {"name", "generateName"} & item.get("metadata", {}).keys()]
