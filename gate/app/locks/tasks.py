"""The tasks of the lock lane, in order; one task can be put back to the front."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import field
from queue import Empty, SimpleQueue

from gate.app.locks.held_locks import LookAtLocks
from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.core.model.lock import Lock
from gate.core.protocol.effects import Release, SaveRecord
from gate.engine import Inbox

LockLane = Callable[[SaveRecord | Release | LookAtLocks], None]
"""Takes requests about the locks; the answers come through the inbox."""

Effect = SaveRecord | Release


@dataclass(frozen=True, slots=True)
class Task:
    """An effect, the inbox for its answer, the lock for its record; `stays` keeps the locks."""

    effect: Effect
    inbox: Inbox
    record_in: Lock
    stays: bool


@dataclass(frozen=True, slots=True)
class Leave:
    """Release the locks when no attempt has requested that; then set `done`."""

    done: threading.Event


Asked = Task | LookAtLocks | Leave


@dataclass(slots=True)
class TaskQueue:
    """A queue that many threads put into and one takes from."""

    _queue: SimpleQueue[Asked] = field(default_factory=SimpleQueue)
    _first: Asked | None = None

    def put(self, task: Asked) -> None:
        """Add a task."""
        self._queue.put(task)

    def put_back(self, task: Asked) -> None:
        """Put a task that was taken back to the front."""
        self._first = task

    def is_empty(self) -> bool:
        """Tell whether there is no task."""
        return self._first is None and self._queue.empty()

    def take(self) -> Asked | None:
        """Return the next task, None if there is none now."""
        if self._first is not None:
            task, self._first = self._first, None
            return task
        try:
            return self._queue.get_nowait()
        except Empty:
            return None

    def receive(self, clock: Clock, seconds: float) -> Asked | None:
        """Return the next task, None if none comes within `seconds`."""
        return self.take() or clock.receive(self._queue, seconds)
