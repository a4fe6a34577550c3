"""Recordings on their way in: what `replay` judges."""

from __future__ import annotations

from pathlib import Path

from gate.app.replay import Recording
from gate.core.fact import Absent, Fact, Known
from gate.core.events import LiveObject
from gate.wire import trace


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
