"""Signals as messages: the first is passed on, the second ends the process at once.

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
"""A shell reports a process ended by a signal as this plus the signal's number."""
UNHEARD_SECONDS: Final = 3.0
"""How long the main thread may stay in a call that no signal ends, such as a DNS lookup."""
ECHO_SECONDS: Final = 0.1
"""Shorter than anybody takes to press Ctrl-C again."""
_MOST_NUMBERS: Final = 1024

Put = Callable[[int], None]
Delivery = Callable[[Put], AbstractContextManager[None]]
"""For a block, passes the number of the first signal to a function, as `delivered_to` does."""


class Signalled(BaseException):
    """A signal when nothing needs an orderly end; like KeyboardInterrupt, it is no `Exception`.

    `after_recovery` as in `GateError`.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.after_recovery = False


class Arrivals:
    """The first signal of a process, 0 before it came, and what is no second one.

    GNU `timeout` sends its signal to a process and then to its whole group, which it is one of.
    """

    def __init__(self, echo_seconds: float, now: Callable[[], float]) -> None:
        """Take for how long the same signal is an echo of the first, 0.0 for never."""
        self.first = 0
        self._first_at = -math.inf
        self._echo_seconds = echo_seconds
        self._now = now

    def is_echo(self, number: int) -> bool:
        """Take a signal; tell whether it is the first one once more."""
        if not self.first:
            self.first, self._first_at = number, self._now()
            return False
        return number == self.first and self._now() - self._first_at < self._echo_seconds


class Receivers:
    """Receivers of the first signal of a process; the second one ends it, whoever receives.

    The innermost receiver gets the signal. One that is added after the signal gets it at once.
    """

    def __init__(self, end: Put, *puts: Put, arrivals: Arrivals | None = None) -> None:
        """Start with these receivers; `end` ends the process and does not return.

        Without `arrivals` no signal is an echo.
        """
        self._arrivals = arrivals or Arrivals(0.0, SystemClock().now)
        self._end = end
        self._puts = [*puts]

    @property
    def first(self) -> int:
        """The number of the first signal, 0 if none came yet."""
        return self._arrivals.first

    @property
    def present(self) -> bool:
        """Whether there is a receiver now."""
        return bool(self._puts)

    @property
    def raises(self) -> bool:
        """Whether a signal would end the current work at once, by `Signalled`."""
        return bool(self._puts) and self._puts[-1] is _raise

    def hand(self, number: int) -> None:
        """Pass the first signal to the innermost receiver; end the process at the second."""
        is_second = bool(self.first)
        if self._arrivals.is_echo(number):
            return
        if is_second:
            self._end(number)
        if self._puts:
            self._puts[-1](number)

    @contextlib.contextmanager
    def add_receiver(self, put: Put) -> Iterator[None]:
        """Make `put` the innermost receiver for the block."""
        self._puts.append(put)
        try:
            if self.first:
                put(self.first)
            yield
        finally:
            self._puts.pop()

    def settle(self) -> None:
        """Ignore a first signal from now on: the command is over."""
        self._puts = [ignore_signal for _ in self._puts]


def ignore_signal(number: int) -> None:
    """Ignore a first signal: the current work takes only moments and should be finished."""


def _raise(number: int) -> None:
    raise Signalled(number)


def _exit(number: int) -> None:
    say_last(number)
    os._exit(SIGNAL_BASE + number)


def _count_arrivals() -> Arrivals:
    return Arrivals(ECHO_SECONDS, SystemClock().now)


_receivers: Receivers | None = None


def install() -> None:
    """Receive signals from now on, in the main thread; until `settle` one raises `Signalled`."""
    _handled_by(Receivers(_exit, _raise, arrivals=_count_arrivals()))


def is_installed() -> bool:
    """Return whether signals are received."""
    return _receivers is not None


def read_first_signal() -> int:
    """Return the number of the first signal, 0 if none came yet."""
    return _receivers.first if _receivers is not None else 0


def settle() -> None:
    """Ignore a first signal from now on: the exit code is final."""
    if _receivers is not None:
        _receivers.settle()


def _handled_by(receivers: Receivers | None) -> dict[signal.Signals, Any]:
    """Route the ending signals to the receivers; return the previous handlers."""
    global _receivers  # noqa: PLW0603 - signals are the process's
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    _receivers = receivers
    if receivers is not None:
        for number in ENDING_SIGNALS:
            signal.signal(number, lambda came, _frame: receivers.hand(came))
    return before


@contextlib.contextmanager
def delivered_to(put: Put) -> Iterator[None]:
    """Pass the first signal's number to `put`, end the process at the second.

    For the main thread. `put` runs inside the handler, between any two instructions of that
    thread: it must be re-entrant, as `queue.SimpleQueue.put` is. It may raise. Signals count per
    process: once one came, the next is the second, also in a nested block or after the block.
    """
    if _receivers is not None:
        with _receivers.add_receiver(put):
            yield
        return
    receivers = Receivers(_exit, arrivals=_count_arrivals())
    before = _handled_by(receivers)
    try:
        with receivers.add_receiver(put):
            yield
    finally:
        _handled_by(None)
        for number, handler in before.items():
            # None: the handler was not set from Python and cannot be restored.
            if handler is not None:
                signal.signal(number, handler)


@contextlib.contextmanager
def raise_at_signal(delivered: Delivery = delivered_to) -> Iterator[None]:
    """Raise `Signalled` in the block at the first signal, end the process at the second."""
    with delivered(_raise):
        yield


@contextlib.contextmanager
def watch_signals(continued: Callable[[], None]) -> Iterator[None]:
    """Watch for signals in a thread of its own, for the block; call it in the main thread.

    A Python handler runs only when the main thread executes bytecode again, but the interpreter
    writes the signal's number to a pipe at once. So a second signal ends the process whatever the
    main thread is doing, and `continued` is called, in the watching thread, when the process
    resumes after a stop (Ctrl-Z).
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: None)
    woken = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    clock = SystemClock()
    ended = clock.start(lambda: _watch(read_end, continued), "signals")
    try:
        yield
    finally:
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCONT, before if before is not None else signal.SIG_DFL)
        os.close(write_end)
        clock.wait(math.inf, ended)


def _watch(read_end: int, continued: Callable[[], None]) -> None:
    """Read signal numbers until the writing end of the pipe is closed."""
    with os.fdopen(read_end, "rb", buffering=0) as numbers:
        ending: list[int] = []
        arrivals = _count_arrivals()
        while came := numbers.read(_MOST_NUMBERS):
            if signal.SIGCONT in came:
                continued()
            arrived = (number for number in came if number in ENDING_SIGNALS)
            ending += [number for number in arrived if not arrivals.is_echo(number)]
            if len(ending) > 1:
                _exit(ending[1])
            if ending and not select.select([read_end], [], [], UNHEARD_SECONDS)[0]:
                _end_unheard(ending[0])


def _end_unheard(number: int) -> None:
    """End the process if its main thread cannot handle a first signal and has nothing to lose."""
    if _receivers is not None and not _receivers.first and _receivers.raises:
        _exit(number)
