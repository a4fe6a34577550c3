"""Signals as messages: the first is handed over, the second ends the process at once.

Handlers are set explicitly: Jenkins starts its steps with SIGINT and SIGHUP ignored on entry, and
a process that is pid 1 has no default action for SIGTERM.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final

from gate.clock import SystemClock
from gate.last_word import say_last

ENDING_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
SIGNAL_BASE = 128
"""A shell reports a process that a signal ended as this plus the signal's number."""
UNHEARD_SECONDS: Final = 3.0
"""How long the main thread may stay in a call that no signal ends, as a name's resolution."""
_MOST_NUMBERS: Final = 1024

Put = Callable[[int], None]
Delivery = Callable[[Put], AbstractContextManager[None]]
"""Hands the number of the first signal to a function for a block, as `delivered_to` does."""


class Signalled(BaseException):
    """A signal, where there is nothing to be ended in order; as KeyboardInterrupt, no Exception.

    `after_recovery` as in `GateError`.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.after_recovery = False


class Receivers:
    """Who receives the first signal of a process; the second one ends it, whoever receives.

    The innermost one gets it, and each that comes later at its beginning: what is begun after a
    signal hears of it at once.
    """

    def __init__(self, end: Put, *puts: Put) -> None:
        """Begin with these receivers; `end` ends the process, and does not return."""
        self.first = 0
        self._end = end
        self._puts = [*puts]

    @property
    def present(self) -> bool:
        """Whether anybody receives now."""
        return bool(self._puts)

    @property
    def raises(self) -> bool:
        """Whether a signal ends what is under way at once, by `Signalled`."""
        return bool(self._puts) and self._puts[-1] is _raise

    def hand(self, number: int) -> None:
        """Hand a signal over."""
        if self.first:
            self._end(number)
        self.first = number
        if self._puts:
            self._puts[-1](number)

    @contextlib.contextmanager
    def add_receiver(self, put: Put) -> Iterator[None]:
        """Have `put` receive for the block."""
        self._puts.append(put)
        try:
            if self.first:
                put(self.first)
            yield
        finally:
            self._puts.pop()

    def settle(self) -> None:
        """Let a first signal change nothing from now on: a command has come to its end."""
        self._puts = [ignore_signal for _ in self._puts]


def ignore_signal(number: int) -> None:
    """Receive a first signal where what is under way takes moments and is to be finished."""


def _raise(number: int) -> None:
    raise Signalled(number)


def _exit(number: int) -> None:
    say_last(number)
    os._exit(SIGNAL_BASE + number)


_receivers: Receivers | None = None


def install() -> None:
    """Receive signals from now on, for the main thread; until `settle` one raises `Signalled`."""
    _handled_by(Receivers(_exit, _raise))


def is_installed() -> bool:
    """Return whether signals are received."""
    return _receivers is not None


def read_first_signal() -> int:
    """Return the number of the first signal, 0 as long as none came."""
    return _receivers.first if _receivers is not None else 0


def settle() -> None:
    """Let a first signal change nothing more: the exit code stands."""
    if _receivers is not None:
        _receivers.settle()


def _handled_by(receivers: Receivers | None) -> dict[signal.Signals, Any]:
    """Have the receivers told of the ending signals; return the handlers of before."""
    global _receivers  # noqa: PLW0603 - signals are the process's
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    _receivers = receivers
    if receivers is not None:
        for number in ENDING_SIGNALS:
            signal.signal(number, lambda came, _frame: receivers.hand(came))
    return before


@contextlib.contextmanager
def delivered_to(put: Put) -> Iterator[None]:
    """Hand the first signal's number to `put`, end the process at the second.

    For the main thread. `put` runs inside the handler, between any two instructions of that
    thread: it must be re-entrant, as `queue.SimpleQueue.put` is. It may raise. A signal counts
    for the process: in a block within a block, and after it, the next one is the second.
    """
    if _receivers is not None:
        with _receivers.add_receiver(put):
            yield
        return
    receivers = Receivers(_exit)
    before = _handled_by(receivers)
    try:
        with receivers.add_receiver(put):
            yield
    finally:
        _handled_by(None)
        for number, handler in before.items():
            # None: a handler that was not set from Python, and cannot be set again.
            if handler is not None:
                signal.signal(number, handler)


@contextlib.contextmanager
def raise_at_signal(delivered: Delivery = delivered_to) -> Iterator[None]:
    """Raise `Signalled` in the block at the first signal, end the process at the second."""
    with delivered(_raise):
        yield


@contextlib.contextmanager
def watch_signals(continued: Callable[[], None]) -> Iterator[None]:
    """Hear of signals in a thread, for the block; for the main thread.

    A handler in Python runs once the main thread does something again, but the interpreter leaves
    the signal's number in a pipe the very moment it comes. So a second signal ends the process
    whatever the main thread is at, and `continued` is called, in that thread, when the process was
    stopped (Ctrl-Z) and goes on.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: None)
    woken = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    clock = SystemClock()
    ended = clock.start(lambda: _watch(told, continued), "signals")
    try:
        yield
    finally:
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCONT, before if before is not None else signal.SIG_DFL)
        os.close(tell)
        clock.wait(math.inf, ended)


def _watch(told: int, continued: Callable[[], None]) -> None:
    """Read the numbers of signals until nobody is left who could write one."""
    with os.fdopen(told, "rb", buffering=0) as numbers:
        ending: list[int] = []
        while came := numbers.read(_MOST_NUMBERS):
            if signal.SIGCONT in came:
                continued()
            ending += [number for number in came if number in ENDING_SIGNALS]
            if len(ending) > 1:
                _exit(ending[1])
            if ending and not select.select([told], [], [], UNHEARD_SECONDS)[0]:
                _end_unheard(ending[0])


def _end_unheard(number: int) -> None:
    """End a process whose main thread does not come to a first signal, and has nothing to lose."""
    if _receivers is not None and not _receivers.first and _receivers.raises:
        _exit(number)
