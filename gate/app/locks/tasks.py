"""What the lane of the locks is asked for, in order, with one place to put a task back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from gate.app.locks.held_locks import LookAtLocks
from gate.clock import Clock
from gate.core.model.lock import Lock
from gate.core.protocol.effects import Release, SaveRecord
from gate.engine import Inbox

LockLane = Callable[[SaveRecord | Release | LookAtLocks], None]
"""Takes what is asked of the locks; the answer comes through the inbox."""

Effect = SaveRecord | Release


@dataclass(frozen=True, slots=True)
class Task:
    """An effect, whom to answer, and where its record stands; `stays` keeps the locks."""

    effect: Effect
    inbox: Inbox
    record_in: Lock
    stays: bool


@dataclass(frozen=True, slots=True)
class Leave:
    """Give the locks back, where no attempt has asked for that; then set `done`."""

    done: threading.Event


Asked = Task | LookAtLocks | Leave


@dataclass(slots=True)
class TaskQueue:
    """Many threads put, one takes."""

    _queue: SimpleQueue[Asked] = field(default_factory=SimpleQueue)
    _first: Asked | None = None

    def put(self, task: Asked) -> None:
        """Ask for something."""
        self._queue.put(task)

    def put_back(self, task: Asked) -> None:
        """Let a task that was taken be the next one."""
        self._first = task

    def is_empty(self) -> bool:
        """Tell whether nothing is asked for."""
        return self._first is None and self._queue.empty()

    def take(self) -> Asked | None:
        """Return what is next, None where nothing is asked for by now."""
        if self._first is not None:
            task, self._first = self._first, None
            return task
        try:
            return self._queue.get_nowait()
        except Empty:
            return None

    def receive(self, clock: Clock, seconds: float) -> Asked | None:
        """Return what is next, None where nothing was asked for in so many seconds."""
        return self.take() or clock.receive(self._queue, seconds)
