"""What a process says when a second signal ends it: one line on stderr that nothing waits for."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Final

Word = Callable[[int], str]
"""Says in one line what the run leaves, "" for nothing, given the signal's number. It is called
between any two instructions of the main thread, or in another thread. It takes no lock."""

_STDERR: Final = 2
_TURN_SECONDS: Final = 0.1
_turn = threading.Lock()
_words: list[Word] = []


@contextlib.contextmanager
def last_word(word: Word) -> Iterator[None]:
    """Have `word` say what the run leaves if a signal ends the process within the block."""
    _words.append(word)
    try:
        yield
    finally:
        _words.remove(word)


def say_last(number: int) -> None:
    """Write the last word, as far as stderr takes it at this moment; raises nothing.

    For callers that end the process right after. If two threads do, only the first one writes.
    """
    if not _turn.acquire(timeout=_TURN_SECONDS):
        return
    with contextlib.suppress(Exception):
        if _words and (text := _words[-1](number)):
            as_line = getattr(sys.stderr, "as_line", "{}\n".format)
            _write_at_once(as_line(text).encode("utf-8", "replace"))


def _write_at_once(data: bytes) -> None:
    """Write to stderr, or drop what it does not take now.

    A pipe or a terminal may fill between a `select` and the write, and it must stay blocking for
    others who share it: it is opened again, non-blocking. What cannot be opened again, such as a
    socket, is only checked with `select`.
    """
    mode = os.fstat(_STDERR).st_mode
    data = data[: select.PIPE_BUF]
    if stat.S_ISREG(mode):
        os.write(_STDERR, data)
        return
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
        with contextlib.suppress(OSError):
            again = os.open(f"/dev/fd/{_STDERR}", flags)
            os.write(again, data)
            return
    if select.select([], [_STDERR], [], 0)[1]:
        os.write(_STDERR, data)
