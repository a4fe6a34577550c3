"""Virtual time: threads that take turns, and a clock that moves only when all of them wait.

One thread runs at a time, until it waits for something; then the next that has what it waited
for goes on. Where none has, time jumps to what is due first. So nothing sleeps, and the same
run takes the same turns again.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from gate.clock import Message


class Schedule(Protocol):
    """Something else that happens in this time: a cluster that is played."""

    def due_at(self) -> float:
        """Return when it wants to be called next; infinity where never."""

    def run_due(self, now: float) -> None:
        """Let happen what is due until `now`."""


class Abandoned(BaseException):
    """Raised where a thread waits, when its time ends: nobody will ever wake it."""


class Turn:
    """One thread while it waits: for `ready`, at most until `due_at`."""

    __slots__ = ("due_at", "go", "owner", "ready")

    def __init__(self, owner: int, ready: Callable[[], bool], due_at: float) -> None:
        self.owner = owner
        self.ready = ready
        self.due_at = due_at
        self.go = threading.Semaphore(0)


class VirtualClock:
    """Time for threads that it started, and for the one that made it; others are not waited for."""

    def __init__(
        self, now: float = 0.0, schedule: Schedule | None = None, started: datetime | None = None
    ) -> None:
        """Begin at `now` seconds, which is `started` on the wall; `schedule` shares the time."""
        self._now = now
        self._schedule = schedule
        self._epoch = (started or datetime.now(UTC)) - timedelta(seconds=now)
        self._waiting: list[Turn] = []
        self._calls: dict[int, list[Callable[[], None]]] = {}
        self._ended = False

    def now(self) -> float:
        """Return the seconds that have passed."""
        return self._now

    def wall(self) -> datetime:
        """Return the date and time that it is now."""
        return self._epoch + timedelta(seconds=self._now)

    def advance_to(self, now: float) -> None:
        """Move forward to `now`; going back is a mistake of the caller."""
        if now < self._now:
            raise ValueError(f"time does not go back: {now} < {self._now}")
        self._now = now
        if self._schedule is not None:
            self._schedule.run_due(now)

    # -- waiting -------------------------------------------------------------------------------

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Let others take their turns, until the event is set or the time has passed."""
        return self.wait_until(until.is_set if until is not None else _never, seconds)

    def receive(
        self, inbox: queue.SimpleQueue[Message], seconds: float = math.inf
    ) -> Message | None:
        """Take the next message, letting others take their turns until there is one."""
        if not self.wait_until(lambda: not inbox.empty(), seconds):
            return None
        return inbox.get_nowait()

    def wait_until(self, ready: Callable[[], bool], seconds: float = math.inf) -> bool:
        """Wait for a condition that another turn brings about; return whether it came in time.

        Raises what `interrupt` called for in this thread, and `Abandoned` after `end`. A wait
        without end for what nobody can bring about raises RuntimeError.
        """
        due_at = self._now + max(0.0, seconds)
        owner = threading.get_ident()
        while True:
            for call in self._calls.pop(owner, ()):
                call()
            if self._ended:
                raise Abandoned
            if ready():
                return True
            if self._now >= due_at:
                return False
            self._pass_on(Turn(owner, ready, due_at))

    def _pass_on(self, mine: Turn) -> None:
        """Let another thread run until it is this one's turn again."""
        self._waiting.append(mine)
        following = self._following()
        if following is not mine:
            following.go.release()
            mine.go.acquire()

    def _following(self) -> Turn:
        """Return whose turn it is, moving time where nobody can go on now."""
        while True:
            for turn in self._waiting:
                if turn.owner in self._calls or turn.due_at <= self._now or turn.ready():
                    self._waiting.remove(turn)
                    return turn
            self._move()

    def _move(self) -> None:
        at = min(turn.due_at for turn in self._waiting)
        if self._schedule is not None:
            at = min(at, self._schedule.due_at())
        if math.isinf(at):
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            waiting = ", ".join(str(names.get(turn.owner)) for turn in self._waiting)
            raise RuntimeError(f"nothing will ever happen: {waiting} wait for each other")
        self.advance_to(max(at, self._now))

    # -- threads -------------------------------------------------------------------------------

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Begin a daemon thread, which has its first turn once the caller waits."""
        ended = threading.Event()
        first = Turn(0, _always, math.inf)

        def run() -> None:
            first.go.acquire()
            try:
                if not self._ended:
                    work()
            except Abandoned:
                pass
            finally:
                ended.set()
                if not self._ended and self._waiting:
                    self._following().go.release()

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        self._waiting.append(first)
        return ended

    def interrupt(self, thread: int, call: Callable[[], None]) -> None:
        """Have `call` called in a thread that waits, as a signal's handler is; it may raise."""
        self._calls.setdefault(thread, []).append(call)

    def end(self) -> None:
        """End the time: each thread that waits ends by `Abandoned`, as after a kill."""
        self._ended = True
        for turn in self._waiting:
            turn.go.release()
        self._waiting.clear()


def _never() -> bool:
    return False


def _always() -> bool:
    return True
