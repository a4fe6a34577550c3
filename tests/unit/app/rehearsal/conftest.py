"""A world outside whose time costs nothing either, and a manifest."""

from __future__ import annotations

import io
import json
import signal
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gate.app.rehearsal.rehearse import rehearse
from gate.app.runtime.world import Streams, World, outside
from gate.config import load
from gate.report.views.rehearsals import RehearsalResult
from gate.virtual_time import VirtualClock

Write = Callable[..., str]
ENDS = {
    "good": (0, "verified", ""),
    "slow-start": (0, "verified", ""),
    "restart-once": (0, "verified", ""),
    "crash": (4, "rolled-back", "CrashLoop"),
    "oom": (4, "rolled-back", "OutOfMemory"),
    "image-pull": (4, "rolled-back", "ImagePull"),
    "image-denied": (4, "rolled-back", "ImagePull"),
    "config-error": (4, "rolled-back", "ContainerConfig"),
    "never-ready": (4, "rolled-back", "NotReady"),
    "flapping": (4, "rolled-back", "ReadinessLost"),
    "unschedulable": (4, "rolled-back", "Unschedulable"),
    "superseded": (8, "superseded", ""),
    "paused": (6, "failed", ""),
    "deleted": (8, "superseded", ""),
    "stale-deadline": (0, "verified", ""),
    "first-deployment": (6, "failed", "CrashLoop"),
}
"""How each trouble of a healthy manifest ends: exit code, outcome, and why."""


@dataclass
class Played:
    """A command's surroundings, and what it said to them."""

    world: World
    out: io.StringIO
    err: io.StringIO

    def rehearse(self, file: str, **options: Any) -> int:
        """Rehearse a manifest, with the streams empty before; return the exit code."""
        for stream in (self.out, self.err):
            stream.truncate(0)
            stream.seek(0)
        return rehearse(self.world, load("rehearse", {"file": [file], **options}, environ={}))

    def judge(self, file: str, **options: Any) -> tuple[int, list[RehearsalResult], list[str]]:
        """Rehearse a manifest; return the exit code, the rows and the warnings."""
        code = self.rehearse(file, **{"output": "json", "silence": ["all"], **options})
        document = json.loads(self.out.getvalue())
        return code, document["rehearsals"], document["warnings"]

    def refuse(self, file: str, **options: Any) -> str:
        """Rehearse what cannot be: exit code 2, no table; return what is said of it."""
        assert self.rehearse(file, **options) == 2
        assert not self.out.getvalue()
        return self.err.getvalue()


class Signals:
    """Signals as `World.delivered` takes them: whoever listens last gets them."""

    def __init__(self, at_block: int = 0) -> None:
        """Send SIGINT as soon as so many have begun to listen."""
        self._at_block = at_block
        self._blocks = 0
        self._listening: list[Callable[[int], None]] = []

    @contextmanager
    def delivered(self, put: Callable[[int], None]) -> Iterator[None]:
        """Listen for the block."""
        self._listening.append(put)
        self._blocks += 1
        if self._blocks == self._at_block:
            self.send(signal.SIGINT)
        try:
            yield
        finally:
            self._listening.pop()

    def send(self, number: int) -> None:
        """Let one arrive."""
        self._listening[-1](number)


@pytest.fixture
def played() -> Played:
    """Return surroundings without a cluster, whose clock never sleeps."""
    out, err = io.StringIO(), io.StringIO()
    streams = Streams(io.BytesIO(), out, err)
    return Played(replace(outside(), clock=VirtualClock(), streams=streams), out, err)


@pytest.fixture
def manifest(tmp_path: Path) -> Write:
    """Return a writer of manifests: a Deployment with some of its text changed, and more."""

    def write(more: str = "", changes: Mapping[str, str] | None = None) -> str:
        text = textwrap.dedent(DEPLOYMENT)
        for before, after in (changes or {}).items():
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / "deploy.yaml"
        path.write_text(text + textwrap.dedent(more))
        return str(path)

    return write


DEPLOYMENT = """\
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      minReadySeconds: 5
      progressDeadlineSeconds: 120
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: "localhost:5000/shop/web:2"}]
    """
