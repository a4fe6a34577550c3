"""Signals as messages: the first is handed over, the second ends the process at once.

Handlers are set explicitly: Jenkins starts its steps with SIGINT and SIGHUP ignored on entry, and
a process that is pid 1 has no default action for SIGTERM.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType

ENDING_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
SIGNAL_BASE = 128
"""A shell reports a process that a signal ended as this plus the signal's number."""


Delivery = Callable[[Callable[[int], None]], AbstractContextManager[None]]
"""Hands the number of the first signal in a block to a function, as `delivered_to` does."""


class Signalled(BaseException):
    """A signal, where there is nothing to be ended in order; as KeyboardInterrupt, no Exception.

    `after_recovery` as in `GateError`.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.after_recovery = False


@contextlib.contextmanager
def delivered_to(put: Callable[[int], None]) -> Iterator[None]:
    """Hand the first signal's number to `put`, end the process at the second.

    For the main thread. `put` runs inside the handler, between any two instructions of that
    thread: it must be re-entrant, as `queue.SimpleQueue.put` is. It may raise.
    """
    seen: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        if seen:
            os._exit(SIGNAL_BASE + number)
        seen.append(number)
        put(number)

    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    try:
        for number in ENDING_SIGNALS:
            signal.signal(number, handle)
        yield
    finally:
        for number, handler in before.items():
            # None: a handler that was not set from Python, and cannot be set again.
            if handler is not None:
                signal.signal(number, handler)


@contextlib.contextmanager
def raised(delivered: Delivery = delivered_to) -> Iterator[None]:
    """Raise `Signalled` in the block at the first signal, end the process at the second."""

    def stop(number: int) -> None:
        raise Signalled(number)

    with delivered(stop):
        yield
