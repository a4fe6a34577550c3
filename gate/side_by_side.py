"""Several questions under way at once: a manifest can hold hundreds of objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from gate.clock import Clock

MOST_AT_ONCE = 8

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def each(clock: Clock, ask: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
    """Return the answer for each item, in their order; `ask` is called from several threads.

    The caller's thread is one of them. After an exception nothing more is begun, and of those that
    came the one of the first item is raised. The other threads are daemons: a signal waits for none
    of them.
    """
    if len(items) <= 1:
        return [ask(item) for item in items]
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(items)):
        waiting.put(number)
    answers: dict[int, Answer] = {}
    errors: dict[int, Exception] = {}

    def work() -> None:
        try:
            while not errors:
                number = waiting.get_nowait()
                try:
                    answers[number] = ask(items[number])
                except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
                    errors[number] = error
        except Empty:
            return

    others = min(MOST_AT_ONCE, len(items)) - 1
    ends = [clock.start(work, "question") for _ in range(others)]
    work()
    for ended in ends:
        clock.wait(math.inf, ended)
    if errors:
        raise errors[min(errors)]
    return [answers[number] for number in range(len(items))]
