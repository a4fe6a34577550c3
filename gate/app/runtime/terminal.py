"""A terminal that nobody waits for: a thread of its own sends text and pictures to it.

A terminal may take nothing at all: when stopped by Ctrl-S, or behind a window that nobody reads.
What is written here is queued in memory; at the end the process waits for it only as long as the
terminal still takes something.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TextIO

from gate import signals
from gate.clock import Clock
from gate.output import as_warning, describe_dropped_lines
from gate.report.live.canvas import Canvas, Painted

LEAST_SECONDS: Final = 0.1
"""Least time between two changes of the screen."""
MOST_SECONDS: Final = 1.0
"""Upper limit of that time if a picture, such as of a thousand pods, takes long to paint."""
PATIENCE_SECONDS: Final = 1.0
"""How long a terminal may take nothing at the end before we give up on it."""
MOST_TEXTS: Final = 20_000
"""How many texts are queued for a terminal that takes nothing; then the oldest are dropped."""
USUAL_SIZE: Final = (80, 24)
_DUTY: Final = 10.0
"""Pause, in multiples of the painting time: about a tenth of the time goes into painting."""
_CHUNK_BYTES: Final = 1024

Picture = Callable[[int, int], Sequence[Painted]]
"""Returns the lines for the bottom of a terminal, given the most columns and lines."""


class Terminal:
    """One terminal, from its first line to its last; `close` it at the end."""

    def __init__(
        self, descriptor: int, encoding: str, clock: Clock, *, reflows: bool, shows: bool
    ) -> None:
        """Start its thread, on `clock`: a terminal lives in the machine's time.

        `shows` says whether it can show pictures; `Canvas` explains `reflows`. `mask` removes from
        every text what must not be shown.
        """
        self.descriptor = descriptor
        self.encoding = encoding
        self.shows = shows
        self._clock = clock
        self.mask: Callable[[str], str] = str
        self._canvas = Canvas(reflows=reflows)
        self._lock = threading.RLock()
        self._texts: deque[str] = deque(maxlen=MOST_TEXTS)
        self._dropped_texts = 0
        self._begun_line = ""
        self._picture: Picture | None = None
        self._sent_bytes = 0
        self._broken = False
        self._closing = threading.Event()
        self._ended = clock.start(self._work, "terminal")

    @property
    def closed(self) -> bool:
        """Whether everything was sent, and its thread has ended."""
        return self._ended.is_set()

    def write(self, text: str) -> None:
        """Write text above the picture, permanently; any thread may, and none waits."""
        with self._lock:
            self._dropped_texts += len(self._texts) == MOST_TEXTS
            self._texts.append(self.mask(text))

    def show(self, picture: Picture | None) -> None:
        """Show a picture at the bottom from now on, None for none."""
        self._picture = picture

    def on_continue(self) -> None:
        """Note that the process was stopped (Ctrl-Z) and resumed: others wrote meanwhile.

        Any thread may call this.
        """
        self._canvas.forget()

    def close(self) -> None:
        """Remove the picture and send what is left, for as long as the terminal takes it."""
        self._picture = None
        self._closing.set()
        sent = -1
        while not self._ended.is_set() and sent != self._sent_bytes:
            sent = self._sent_bytes
            self._clock.wait(PATIENCE_SECONDS, self._ended)

    # -- its thread ----------------------------------------------------------------------------

    def _work(self) -> None:
        pause = LEAST_SECONDS
        while not self._wait_for_closing(pause):
            began = self._clock.now()
            text = self._next(last=False)
            pause = _DUTY * (self._clock.now() - began)
            pause = min(MOST_SECONDS, max(LEAST_SECONDS, pause))
            self._send(text)
        self._send(self._next(last=True))

    def _wait_for_closing(self, seconds: float) -> bool:
        """Wait that long; return whether the terminal is being closed.

        If it wakes far too late, the process may have been stopped: `on_continue`, which is called
        at the same moment in another thread, has to come before anything is painted.
        """
        late_at = self._clock.now() + seconds + LEAST_SECONDS
        closing = self._clock.wait(seconds, self._closing)
        if closing or self._clock.now() < late_at:
            return closing
        return self._clock.wait(LEAST_SECONDS, self._closing)

    def _next(self, *, last: bool) -> str:
        columns, rows = size_of(self.descriptor)
        picture = self._paint_picture(columns, rows)
        return self._canvas.paint_picture(self._lines(last=last), picture, columns, rows)

    def _paint_picture(self, columns: int, rows: int) -> Sequence[Painted]:
        """Return the picture; one that raises is not shown again, and nothing else changes."""
        picture = self._picture
        if picture is None:
            return ()
        try:
            painted = picture(columns - 1, height_for(rows))
            return [replace(line, text=self.mask(line.text)) for line in painted]
        except Exception as error:  # noqa: BLE001 - reported like any thread's, and the run goes on
            self._picture = None
            details = (type(error), error, error.__traceback__, threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(details))
            return ()

    def _lines(self, *, last: bool) -> str:
        """Return the complete lines so far; an incomplete one waits for its rest, unless `last`."""
        texts = [self._begun_line]
        with self._lock:
            if self._dropped_texts:
                texts.append(as_warning(describe_dropped_lines(self._dropped_texts)))
            texts += self._texts
            self._dropped_texts = 0
            self._texts.clear()
        whole, end, begun = "".join(texts).rpartition("\n")
        self._begun_line = "" if last else begun
        return whole + end + (begun if last else "")

    def _send(self, text: str) -> None:
        """Send text in pieces; nothing more once the terminal is gone."""
        data = text.encode(self.encoding, "backslashreplace")
        while data and not self._broken:
            try:
                sent = os.write(self.descriptor, data[:_CHUNK_BYTES])
            except BlockingIOError:
                # Another process that shares the terminal has made it non-blocking.
                select.select([], [self.descriptor], [], LEAST_SECONDS)
            except OSError:
                self._broken = True
            else:
                data = data[sent:]
                self._sent_bytes += sent


def size_of(descriptor: int) -> tuple[int, int]:
    """Return a terminal's columns and rows; 80 and 24 if it does not say."""
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:
        return USUAL_SIZE
    return size.columns or USUAL_SIZE[0], size.lines or USUAL_SIZE[1]


def height_for(rows: int) -> int:
    """Return how many lines a picture may have: some earlier output stays visible."""
    return max(0, min(rows - 1, max(4, rows * 3 // 4)))


class TerminalStream(io.TextIOBase):
    """A text stream into a terminal; while it is open, writing never blocks or raises I/O errors.

    Once it is closed, text goes straight to `stream`, but not if we gave up on the terminal.
    """

    def __init__(self, terminal: Terminal, stream: TextIO) -> None:
        self.terminal = terminal
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the terminal."""
        return self.terminal.encoding

    def isatty(self) -> bool:
        """Return True: it is a terminal."""
        return True

    def writable(self) -> bool:
        """Return True: it can be written to."""
        return True

    def fileno(self) -> int:
        """Return the descriptor, whose terminal can be asked for its size."""
        return self.terminal.descriptor

    def write(self, text: str, /) -> int:
        """Queue text; once the terminal is closed, write it to the stream."""
        if self.terminal.closed:
            self._stream.write(text)
            self._stream.flush()
        else:
            self.terminal.write(text)
        return len(text)


@contextlib.contextmanager
def tell_when_continued(terminals: Sequence[Terminal]) -> Iterator[None]:
    """For the block, notify terminals when the process resumes after a stop; main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def tell() -> None:
        for terminal in terminals:
            terminal.on_continue()

    if terminals or signals.is_installed():
        with signals.watch_signals(tell):
            yield
    else:
        yield
