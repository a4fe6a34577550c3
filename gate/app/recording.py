"""Recordings: what `replay` judges, and what `--record` writes of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gate.app.replay import Recording
from gate.clock import Clock
from gate.core.events import LiveObject
from gate.core.fact import Absent, Fact, Known
from gate.wire import trace
from gate.wire.recorder import Recorder

_KINDS = ("deployments", "replicasets", "pods", "events")
FLUSH_SECONDS = 5.0


def load(file: str) -> Recording:
    """Read a recording; UsageError with file and line where it is none."""
    found = trace.read(Path(file))
    applied = found.applied[0]
    return Recording(found.before, _before(found, applied), applied, found.events())


def _before(found: trace.Recording, applied: LiveObject) -> Fact[LiveObject]:
    """Return the recorded Deployment of before the apply, as far as the recording tells."""
    for live in found.before_live:
        if live.ref == applied.ref:
            return Known(live)
    return Absent()


class Tape:
    """Taps a run's connection for a recorder: lists, watch lines, the answer to the apply.

    Called from the threads that heard; the lists of before the apply become the header.
    """

    def __init__(self, recorder: Recorder, clock: Clock, deployments: int) -> None:
        """Expect the answers to the applies of so many Deployments."""
        self._recorder = recorder
        self._clock = clock
        self._expected = deployments
        self._before: list[bytes] = []
        self._applied: list[bytes] = []

    def heard(self, method: str, path: str, query: Sequence[tuple[str, str]], body: bytes) -> None:
        """Take an answer of the server."""
        kind, _, name = path.partition("/namespaces/")[2].partition("/")[2].partition("/")
        if kind not in _KINDS:
            return
        if method == "GET" and not name:
            self._listed(path, body)
        elif method == "PATCH" and kind == "deployments" and ("dryRun", "All") not in query:
            self._applied_one(body)

    def line(self, line: bytes) -> None:
        """Take a line of a watch."""
        self._recorder.line(self._clock.now(), line)

    def _listed(self, path: str, body: bytes) -> None:
        if self._complete():
            namespace = path.partition("/namespaces/")[2].partition("/")[0]
            self._recorder.listed(self._clock.now(), namespace, body)
        else:
            self._before.append(body)

    def _applied_one(self, body: bytes) -> None:
        if self._complete():
            return
        self._applied.append(body)
        if self._complete():
            self._recorder.header(self._clock.now(), self._applied, before=self._before)

    def _complete(self) -> bool:
        return len(self._applied) >= self._expected


@contextmanager
def taped(
    path: str | None, clock: Clock, deployments: int, warn: Callable[[str], None]
) -> Iterator[Tape | None]:
    """Record to `path` while the block runs; None where nothing is to be recorded."""
    if path is None:
        yield None
        return
    recorder = Recorder.create(Path(path), warn)
    writer = threading.Thread(target=recorder.run, name="recorder", daemon=True)
    writer.start()
    try:
        yield Tape(recorder, clock, deployments)
    finally:
        recorder.finish()
        writer.join(FLUSH_SECONDS)
