"""Signals as events: the handler only puts one into the inbox; a second one ends the process.

Handlers are set explicitly: Jenkins starts its steps with SIGINT and SIGHUP ignored on entry, and
a process that is pid 1 has no default action for SIGTERM.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

ENDING_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
SIGNAL_BASE = 128


@contextlib.contextmanager
def delivered_to(put: Callable[[int], None]) -> Iterator[None]:
    """Hand the first signal's number to `put`, end the process at the second.

    `put` runs inside the handler and must be re-entrant, as `queue.SimpleQueue.put` is.
    """
    seen: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        if seen:
            os._exit(SIGNAL_BASE + number)
        seen.append(number)
        put(number)

    before = {number: signal.signal(number, handle) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
