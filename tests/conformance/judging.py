"""What the gate says of a recording: the command `rollout-gate replay`, in this process."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gate.app.runtime.world import Streams, outside
from gate.cli.main import run
from tests.conformance.recording import Played


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with its reason, and the first cause where there is one."""

    verdict: str
    reason: str
    cause: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What was judged, and how many seconds after the apply; None while undecided."""

    judged: Judged
    at: float | None


def judged(played: Played, flags: Sequence[str]) -> Decision:
    """Judge what was played."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.jsonl"
        played.write(path)
        return judged_file(path, flags)


def judged_file(path: Path, flags: Sequence[str]) -> Decision:
    """Judge the file of a recording."""
    stdout, stderr = io.StringIO(), io.StringIO()
    world = replace(outside(), streams=Streams(io.BytesIO(), stdout, stderr))
    exit_code = run(["replay", str(path), "--output", "json", *flags], world)
    assert exit_code == 0, stderr.getvalue()
    document: dict[str, Any] = json.loads(stdout.getvalue())
    causes = [each["reason"] for each in document["causes"]]
    found = Judged(document["verdict"], document["reason"], causes[0] if causes else None)
    return Decision(found, document["decided_at"])
