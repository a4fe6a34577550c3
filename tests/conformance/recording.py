"""Recordings of scenarios: in memory as they were heard, in files as the gate writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.clock import SystemClock
from gate.wire.recorder import Recorder
from tests.cluster.kubelet.api import JSON
from tests.conformance.watched import Line


@dataclass(frozen=True, slots=True)
class Recording:
    """What stood before, what the apply returned, what a watcher of the namespace saw then."""

    before: Sequence[JSON]
    applied: JSON
    lines: Sequence[Line]

    def of_kind(self, kind: str) -> Iterator[Line]:
        """Yield the lines of one kind."""
        return (line for line in self.lines if line.object["kind"] == kind)

    def at_end(self) -> list[JSON]:
        """Return the objects that stand at its end."""
        standing = {body["metadata"]["uid"]: body for body in self.before}
        for line in self.lines:
            uid = line.object["metadata"]["uid"]
            if line.type == "DELETED":
                standing.pop(uid, None)
            else:
                standing[uid] = line.object
        return [*standing.values()]


def read(path: Path) -> Recording:
    """Read the file of a recording."""
    with path.open("rb") as file:
        header = json.loads(next(file))
        lines = [_line(raw) for raw in file]
    return Recording(header["before"], header["applied"], lines)


def _line(raw: bytes) -> Line:
    found = json.loads(raw)
    return Line(found["t"], found["type"], found["object"], raw)


@dataclass(frozen=True, slots=True)
class Played:
    """One scenario that was played; `lists` are the answers that it began with."""

    kubernetes: str
    lists: Sequence[JSON]
    applied_at: float
    recording: Recording

    def write(self, path: Path) -> None:
        """Write the recording with the recorder of `apply --record`."""
        recorder = Recorder.create(path, _refuse)
        before = [json.dumps(each).encode() for each in self.lists]
        applied = [json.dumps(self.recording.applied).encode()]
        recorder.header(self.applied_at, applied, before=before, kubernetes=self.kubernetes)
        for line in self.recording.lines:
            recorder.line(line.at, line.raw)
        recorder.finish()
        recorder.run(SystemClock())


def _refuse(message: str) -> None:
    raise AssertionError(message)
