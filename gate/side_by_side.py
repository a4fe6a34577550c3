"""Asks several questions concurrently: a manifest can hold hundreds of objects."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from gate.clock import Clock

MOST_AT_ONCE = 8

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def each(clock: Clock, ask: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
    """Return the answer for each item, in their order; `ask` is called from several threads.

    After an exception no further question is started; of several exceptions, the one of the
    earliest item is raised. The threads are daemons. The main thread only waits for them: a signal
    ends that wait without waiting for any question. Any other calling thread works along with them.
    """
    if len(items) <= 1:
        return [ask(item) for item in items]
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(items)):
        waiting.put(number)
    answers: dict[int, Answer] = {}
    errors: dict[int, BaseException] = {}
    left = threading.Event()

    def work() -> None:
        while not errors and not left.is_set():
            try:
                number = waiting.get_nowait()
            except Empty:
                return
            try:
                answers[number] = ask(items[number])
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                errors[number] = error

    helps = threading.current_thread() is not threading.main_thread()
    workers = min(MOST_AT_ONCE, len(items))
    others = workers - 1 if helps else workers
    try:
        ends = [clock.start(work, "question") for _ in range(others)]
        if helps:
            work()
        for ended in ends:
            clock.wait(math.inf, ended)
    finally:
        left.set()
    if errors:
        raise errors[min(errors)]
    return [answers[number] for number in range(len(items))]
