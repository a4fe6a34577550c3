"""One search as a task: what another process is told, what it does, and what it tells."""

from __future__ import annotations

import resource
import time
from typing import NamedTuple

from tests.model.scenes import scene
from tests.model.search import Bounds, Visited, search


class Task(NamedTuple):
    """One search of one scene."""

    scene: str
    bounds: Bounds


class Done(NamedTuple):
    """What a search found, how long it took, and the most memory that its process has had."""

    task: Task
    visited: Visited
    seconds: float
    peak_kib: int


def work(task: Task) -> Done:
    """Search; the memory is that of the process, so that a fresh one tells most."""
    began_at = time.monotonic()
    visited = search(scene(task.scene), task.bounds)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Done(task, visited, time.monotonic() - began_at, peak_kib)
