"""Virtual time: threads that take turns, and a clock that moves only when all of them wait.

One thread runs at a time, until it waits for something; then the next one whose condition holds
continues. If there is none, time jumps to what is due first. So nothing sleeps, and the same run
always takes the same turns.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Protocol

from gate.clock import Message


class Schedule(Protocol):
    """Something else that happens in this time: a simulated cluster."""

    def due_at(self) -> float:
        """Return when it wants to be called next; infinity for never."""

    def run_due(self, now: float) -> None:
        """Run everything that is due until `now`."""


class Abandoned(BaseException):
    """Raised in a waiting thread when its group is ended: nobody will ever wake it."""


class Turn:
    """One waiting thread: it waits for `ready`, at most until `due_at`."""

    __slots__ = ("due_at", "go", "owner", "ready")

    def __init__(self, owner: int, ready: Callable[[], bool], due_at: float) -> None:
        self.owner = owner
        self.ready = ready
        self.due_at = due_at
        self.go = threading.Semaphore(0)


class Turns:
    """The state shared by all threads of one time: the current time, and whose turn it is."""

    def __init__(self, now: float, schedule: Schedule | None, started: datetime) -> None:
        self.now = now
        self.schedule = schedule
        self.epoch = started - timedelta(seconds=now)
        self.waiting: list[Turn] = []
        self.calls: list[tuple[int, Callable[[], None]]] = []
        self._maker = threading.get_ident()
        self._broken: Exception | None = None

    def wait_until(
        self, ready: Callable[[], bool], due_at: float, ended: Callable[[], bool]
    ) -> bool:
        """Let others take turns until `ready`: True; False at `due_at`; Abandoned once `ended`."""
        owner = threading.get_ident()
        while True:
            self._call(owner)
            if ended():
                raise Abandoned
            if ready():
                return True
            if self.now >= due_at:
                return False
            self._pass_on(Turn(owner, lambda: ended() or ready(), due_at))

    def advance_to(self, now: float) -> None:
        """Move time forward to `now` and run what is due; ValueError if `now` is in the past."""
        if now < self.now:
            raise ValueError(f"time does not go back: {now} < {self.now}")
        self.now = now
        if self.schedule is not None:
            self.schedule.run_due(now)

    def leave(self) -> None:
        """Let the next thread run, after one has ended."""
        if self.waiting:
            self._following().go.release()

    def _call(self, owner: int) -> None:
        """Run the calls that a thread was interrupted for; signals may add more at any moment."""
        for entry in [each for each in self.calls if each[0] == owner]:
            self.calls.remove(entry)
            entry[1]()

    def _is_called(self, owner: int) -> bool:
        return bool(self.calls) and any(thread == owner for thread, _ in self.calls)

    def _pass_on(self, mine: Turn) -> None:
        """Let another thread run until it is this one's turn again."""
        self.waiting.append(mine)
        try:
            following = self._following()
            if following is not mine:
                following.go.release()
                mine.go.acquire()
        finally:
            if mine in self.waiting:  # Ctrl-C, of the machine
                self.waiting.remove(mine)
        if self._broken is not None and mine.owner == self._maker:
            broken, self._broken = self._broken, None
            raise broken

    def _following(self) -> Turn:
        """Return whose turn it is; moves time if nobody can continue now."""
        while True:
            for turn in self.waiting:
                if self._is_called(turn.owner) or turn.due_at <= self.now or turn.ready():
                    self.waiting.remove(turn)
                    return turn
            try:
                self._move()
            except Exception as error:  # noqa: BLE001 - raised again in the maker's thread
                return self._hand_error_to_maker(error)

    def _move(self) -> None:
        at = min(turn.due_at for turn in self.waiting)
        if self.schedule is not None:
            at = min(at, self.schedule.due_at())
        if math.isinf(at):
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            waiting = ", ".join(str(names.get(turn.owner)) for turn in self.waiting)
            raise RuntimeError(f"nothing will ever happen: {waiting} wait for each other")
        self.advance_to(max(at, self.now))

    def _hand_error_to_maker(self, error: Exception) -> Turn:
        """Return the turn of the thread that made the clock, where the error will be raised.

        Raised in whichever thread happened to move time, it would end only that one.
        """
        for turn in self.waiting:
            if turn.owner == self._maker:
                self.waiting.remove(turn)
                self._broken = error
                return turn
        raise error


class Group:
    """A clock for threads that end together; other threads of the same time continue."""

    def __init__(self, turns: Turns, within: Group | None = None) -> None:
        """Share the time of `turns`; when `within` ends, this ends too."""
        self._turns = turns
        self._within = within
        self._ended = False
        self._suspended_until = -math.inf
        self._threads: list[tuple[threading.Thread, threading.Event]] = []
        self._groups: list[Group] = []

    @property
    def ended(self) -> bool:
        """Whether its threads are to end."""
        return self._ended or (self._within is not None and self._within.ended)

    def group(self) -> Group:
        """Return a clock of the same time whose threads can be ended separately, like a process."""
        return Group(self._turns, self)

    def now(self) -> float:
        """Return the virtual time, in seconds."""
        return self._turns.now

    def wall(self) -> datetime:
        """Return the current virtual date and time."""
        return self._turns.epoch + timedelta(seconds=self._turns.now)

    # -- waiting -------------------------------------------------------------------------------

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Let others take turns until the event is set or the time has passed."""
        return self.wait_until(until.is_set if until is not None else _never, seconds)

    def receive(
        self, inbox: queue.SimpleQueue[Message], seconds: float = math.inf
    ) -> Message | None:
        """Return the next message, letting others take turns until there is one; None if late."""
        if not self.wait_until(lambda: not inbox.empty(), seconds):
            return None
        return inbox.get_nowait()

    def wait_until(self, ready: Callable[[], bool], seconds: float = math.inf) -> bool:
        """Wait for a condition that another thread brings about; return whether it came in time.

        Raises what a call of `interrupt` raises in this thread, and `Abandoned` after `end`. The
        thread that made the clock gets what the schedule raised, and RuntimeError if all threads
        wait forever for each other.
        """
        due_at = self._turns.now + max(0.0, seconds)
        is_ready = self._turns.wait_until(ready, due_at, lambda: self.ended)
        while self._turns.now < self._suspended_until:
            self._turns.wait_until(_never, self._suspended_until, lambda: self.ended)
        return is_ready

    def suspend(self, seconds: float) -> None:
        """Stop all its threads for so long, as SIGSTOP does to a process."""
        self._suspended_until = self._turns.now + seconds

    # -- threads -------------------------------------------------------------------------------

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Start a daemon thread, which gets its first turn once the caller waits."""
        ended = threading.Event()
        first = Turn(0, _always, math.inf)

        def run() -> None:
            first.go.acquire()
            try:
                if not self.ended:
                    work()
            except Abandoned:
                pass  # the world has ended: nobody waits for this thread any more
            except Exception as error:  # noqa: BLE001 - reported before the next thread runs
                _tell(error)
            finally:
                ended.set()
                self._turns.leave()

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads = [*(each for each in self._threads if each[0].is_alive()), (thread, ended)]
        if self._within is not None:
            self._within.hold(self)
        thread.start()
        self._turns.waiting.append(first)
        return ended

    def interrupt(self, thread: int, call: Callable[[], None]) -> None:
        """Run `call` in a waiting thread, as a signal handler would; it may raise.

        A real signal handler of the process may call this too, whatever its thread is doing.
        """
        self._turns.calls.append((thread, call))

    def hold(self, group: Group) -> None:
        """Register an inner group that has threads, and forget those whose threads have ended."""
        others = (each for each in self._groups if each is not group and each.is_alive())
        self._groups = [*others, group]
        if self._within is not None:
            self._within.hold(self)

    def threads(self) -> Iterator[tuple[threading.Thread, threading.Event]]:
        """Yield each thread that may not have ended, with its event; includes inner groups."""
        yield from self._threads
        for group in self._groups:
            yield from group.threads()

    def is_alive(self) -> bool:
        """Return whether one of its threads has not ended."""
        return any(not ended.is_set() for _, ended in self.threads())

    def end(self) -> None:
        """End each thread and each inner group, as a kill does: by `Abandoned` where it waits.

        Called by one of these threads, it raises `Abandoned` there; else it returns when all have
        ended. No time passes.
        """
        self._ended = True
        me = threading.current_thread()
        if any(thread is me for thread, _ in self.threads()):
            raise Abandoned
        self._turns.wait_until(lambda: not self.is_alive(), math.inf, _never)
        for thread, _ in self.threads():
            thread.join()  # it ends a moment after its last turn


class VirtualClock(Group):
    """Time for the threads that it starts, and for the one that made it; others are ignored."""

    def __init__(
        self, now: float = 0.0, schedule: Schedule | None = None, started: datetime | None = None
    ) -> None:
        """Start at `now` seconds, at wall time `started`; `schedule` shares the time."""
        super().__init__(Turns(now, schedule, started or datetime.now(UTC)))

    def advance_to(self, now: float) -> None:
        """Move time forward to `now`; ValueError if that is in the past."""
        self._turns.advance_to(now)


def _tell(error: Exception) -> None:
    """Pass what ended a thread to `threading.excepthook`, as the interpreter does."""
    about = (type(error), error, error.__traceback__, threading.current_thread())
    threading.excepthook(threading.ExceptHookArgs(about))


def _never() -> bool:
    return False


def _always() -> bool:
    return True
