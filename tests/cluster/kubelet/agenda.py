"""The clock of one thread: messages as they come, timers when they are due."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from sandbox.times import Timers

T = TypeVar("T")
ANSWER_SECONDS = 5.0
IDLE_SECONDS = 60.0
"""A queue cannot wait for ever with a figure."""


class Agenda:
    """`put`, `ask` and `stop` are for any thread; all else happens in the one that calls `run`."""

    def __init__(self) -> None:
        self.timers = Timers()
        self._began_at = time.monotonic()
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def put(self, do: Callable[[], None]) -> None:
        """Have `do` called."""
        self._inbox.put(do)

    def ask(self, question: Callable[[], T]) -> T:
        """Return what `question` returns there, or raise what it raises."""
        answer: Future[T] = Future()

        def reply() -> None:
            try:
                answer.set_result(question())
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked
                answer.set_exception(error)

        self.put(reply)
        return answer.result(ANSWER_SECONDS)

    def stop(self) -> None:
        """Let `run` return when it has done what was put before."""
        self._inbox.put(None)

    def run(self) -> None:
        """Do what is put and every timer at its time, until `stop`."""
        while True:
            self.timers.run_due(self._elapsed())
            try:
                do = self._inbox.get(timeout=self._idle_seconds())
            except queue.Empty:
                continue
            if do is None:
                return
            self.timers.run_due(self._elapsed())
            do()

    def _elapsed(self) -> float:
        return time.monotonic() - self._began_at

    def _idle_seconds(self) -> float:
        return min(max(0.0, self.timers.due_at() - self._elapsed()), IDLE_SECONDS)
