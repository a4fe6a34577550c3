"""Virtual time: threads that take turns, and a clock that moves only when all of them wait.

One thread runs at a time, until it waits for something; then the next that has what it waited
for goes on. Where none has, time jumps to what is due first. So nothing sleeps, and the same
run takes the same turns again.
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
    """Something else that happens in this time: a cluster that is played."""

    def due_at(self) -> float:
        """Return when it wants to be called next; infinity where never."""

    def run_due(self, now: float) -> None:
        """Let happen what is due until `now`."""


class Abandoned(BaseException):
    """Raised where a thread waits, when its group is ended: nobody will ever wake it."""


class Turn:
    """One thread while it waits: for `ready`, at most until `due_at`."""

    __slots__ = ("due_at", "go", "owner", "ready")

    def __init__(self, owner: int, ready: Callable[[], bool], due_at: float) -> None:
        self.owner = owner
        self.ready = ready
        self.due_at = due_at
        self.go = threading.Semaphore(0)


class Turns:
    """What all who share one time have in common: what time it is, and whose turn."""

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
        """Let others take their turns until `ready`; False at `due_at`, Abandoned once `ended`."""
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
        """Move forward to `now`; going back is a mistake of the caller."""
        if now < self.now:
            raise ValueError(f"time does not go back: {now} < {self.now}")
        self.now = now
        if self.schedule is not None:
            self.schedule.run_due(now)

    def leave(self) -> None:
        """Let the next thread run, when one has come to its end."""
        if self.waiting:
            self._following().go.release()

    def _call(self, owner: int) -> None:
        """Call what a thread was interrupted for, each once; signals add more at any moment."""
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
        """Return whose turn it is, moving time where nobody can go on now."""
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
        """Return the turn of the thread that made the clock: it is told what broke the time.

        Raised where time happened to be moved, it would end that thread, and nobody else.
        """
        for turn in self.waiting:
            if turn.owner == self._maker:
                self.waiting.remove(turn)
                self._broken = error
                return turn
        raise error


class Group:
    """A clock for threads that end together; others of the same time go on."""

    def __init__(self, turns: Turns, within: Group | None = None) -> None:
        """Share the time of `turns`; where `within` ends, this ends too."""
        self._turns = turns
        self._within = within
        self._ended = False
        self._suspended_until = -math.inf
        self._threads: list[tuple[threading.Thread, threading.Event]] = []
        self._groups: list[Group] = []

    @property
    def ended(self) -> bool:
        """Whether its threads have no more time."""
        return self._ended or (self._within is not None and self._within.ended)

    def group(self) -> Group:
        """Return a clock of the same time whose threads can be ended alone, as a process can."""
        return Group(self._turns, self)

    def now(self) -> float:
        """Return the seconds that have passed."""
        return self._turns.now

    def wall(self) -> datetime:
        """Return the date and time that it is now."""
        return self._turns.epoch + timedelta(seconds=self._turns.now)

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

        Raises what `interrupt` called for in this thread, and `Abandoned` after `end`. The thread
        that made the clock gets what the schedule raised, and RuntimeError where all wait without
        end for what nobody can bring about.
        """
        due_at = self._turns.now + max(0.0, seconds)
        is_ready = self._turns.wait_until(ready, due_at, lambda: self.ended)
        while self._turns.now < self._suspended_until:
            self._turns.wait_until(_never, self._suspended_until, lambda: self.ended)
        return is_ready

    def suspend(self, seconds: float) -> None:
        """Let none of its threads go on for so long, as SIGSTOP does to a process."""
        self._suspended_until = self._turns.now + seconds

    # -- threads -------------------------------------------------------------------------------

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Begin a daemon thread, which has its first turn once the caller waits."""
        ended = threading.Event()
        first = Turn(0, _always, math.inf)

        def run() -> None:
            first.go.acquire()
            try:
                if not self.ended:
                    work()
            except Abandoned:
                pass  # the world has ended: nobody waits for this thread any more
            except Exception as error:  # noqa: BLE001 - told before the next has its turn
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
        """Have `call` called in a thread that waits, as a signal's handler is; it may raise.

        A signal's handler of the process may ask for it, too, whatever its thread is at.
        """
        self._turns.calls.append((thread, call))

    def hold(self, group: Group) -> None:
        """Know a group within that has threads, and forget those whose threads have ended."""
        others = (each for each in self._groups if each is not group and each.is_alive())
        self._groups = [*others, group]
        if self._within is not None:
            self._within.hold(self)

    def threads(self) -> Iterator[tuple[threading.Thread, threading.Event]]:
        """Yield each thread that may not have ended, groups within included, with its event."""
        yield from self._threads
        for group in self._groups:
            yield from group.threads()

    def is_alive(self) -> bool:
        """Return whether one of its threads has not ended."""
        return any(not ended.is_set() for _, ended in self.threads())

    def end(self) -> None:
        """End each thread, and each group within, by `Abandoned` where it waits, as a kill does.

        Called by one of these threads, it raises Abandoned there; else it returns when all have
        ended. No time passes.
        """
        self._ended = True
        me = threading.current_thread()
        if any(thread is me for thread, _ in self.threads()):
            raise Abandoned
        self._turns.wait_until(lambda: not self.is_alive(), math.inf, _never)
        for thread, _ in self.threads():
            thread.join()  # from its last turn to its end it takes a moment


class VirtualClock(Group):
    """Time for threads that it started, and for the one that made it; others are not waited for."""

    def __init__(
        self, now: float = 0.0, schedule: Schedule | None = None, started: datetime | None = None
    ) -> None:
        """Begin at `now` seconds, which is `started` on the wall; `schedule` shares the time."""
        super().__init__(Turns(now, schedule, started or datetime.now(UTC)))

    def advance_to(self, now: float) -> None:
        """Move forward to `now`; going back is a mistake of the caller."""
        self._turns.advance_to(now)


def _tell(error: Exception) -> None:
    """Hand what ended a thread to the hook, as the interpreter does."""
    about = (type(error), error, error.__traceback__, threading.current_thread())
    threading.excepthook(threading.ExceptHookArgs(about))


def _never() -> bool:
    return False


def _always() -> bool:
    return True
