"""A terminal that nobody waits for: text and pictures are sent to it by a thread of its own.

A terminal takes what it likes, when it likes: stopped by Ctrl-S, or with a window that nobody
reads, it takes nothing at all. What is written here waits in memory; at the end it is waited for
only as long as the terminal still takes something.
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
"""Between two changes of the screen."""
MOST_SECONDS: Final = 1.0
"""The same, where a picture of a thousand pods takes long to paint."""
PATIENCE_SECONDS: Final = 1.0
"""How long a terminal may take nothing at the end until it is given up."""
MOST_TEXTS: Final = 20_000
"""How many texts wait for a terminal that takes nothing; beyond it the oldest are dropped."""
USUAL_SIZE: Final = (80, 24)
_DUTY: Final = 10.0
"""At most a tenth of the time goes into painting."""
_CHUNK_BYTES: Final = 1024

Picture = Callable[[int, int], Sequence[Painted]]
"""Returns what stands at a terminal's end, of less than so many columns and lines."""


class Terminal:
    """One terminal, from its first line to its last; `close` it in the end."""

    def __init__(
        self, descriptor: int, encoding: str, clock: Clock, *, reflows: bool, shows: bool
    ) -> None:
        """Begin its thread, on `clock`: a terminal lives in the machine's time.

        `shows` is whether it can have pictures, `reflows` is told by `Canvas`. `mask` takes out of
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
        """Have text stand above the picture, for good; any thread may, and none waits."""
        with self._lock:
            self._dropped_texts += len(self._texts) == MOST_TEXTS
            self._texts.append(self.mask(text))

    def show(self, picture: Picture | None) -> None:
        """Keep a picture at the end from now on, None for none."""
        self._picture = picture

    def on_continue(self) -> None:
        """Take note that the process was stopped (Ctrl-Z) and goes on: others wrote meanwhile.

        Any thread may.
        """
        self._canvas.forget()

    def close(self) -> None:
        """Take the picture away and send what is left, for as long as the terminal takes it."""
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

        Who wakes far too late may have been stopped with the process: `on_continue`, which goes on
        at the same moment, has to be told so before anything is painted.
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
        """Return the picture; one that breaks is not shown again, and changes nothing else."""
        picture = self._picture
        if picture is None:
            return ()
        try:
            painted = picture(columns - 1, height_for(rows))
            return [replace(line, text=self.mask(line.text)) for line in painted]
        except Exception as error:  # noqa: BLE001 - told as of any thread, and gone on without it
            self._picture = None
            told = (type(error), error, error.__traceback__, threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(told))
            return ()

    def _lines(self, *, last: bool) -> str:
        """Return the whole lines that have come; of one that is begun, the rest will come."""
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
        """Send text in pieces; to a terminal that is gone, nothing from then on."""
        data = text.encode(self.encoding, "backslashreplace")
        while data and not self._broken:
            try:
                sent = os.write(self.descriptor, data[:_CHUNK_BYTES])
            except BlockingIOError:
                # Somebody who shares the terminal has made it non-blocking.
                select.select([], [self.descriptor], [], LEAST_SECONDS)
            except OSError:
                self._broken = True
            else:
                data = data[sent:]
                self._sent_bytes += sent


def size_of(descriptor: int) -> tuple[int, int]:
    """Return a terminal's columns and rows; one that does not tell them has 80 and 24."""
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:
        return USUAL_SIZE
    return size.columns or USUAL_SIZE[0], size.lines or USUAL_SIZE[1]


def height_for(rows: int) -> int:
    """Return how many lines a picture may have: some of what was said stays in sight."""
    return max(0, min(rows - 1, max(4, rows * 3 // 4)))


class TerminalStream(io.TextIOBase):
    """A text stream into a terminal that takes all at once, and fails nobody.

    Once the terminal is closed, text goes straight to `stream`; not to one that was given up.
    """

    def __init__(self, terminal: Terminal, stream: TextIO) -> None:
        self.terminal = terminal
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding that the stream has."""
        return self.terminal.encoding

    def isatty(self) -> bool:
        """Return that people look at it."""
        return True

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def fileno(self) -> int:
        """Return the descriptor, whose terminal can be asked for its size."""
        return self.terminal.descriptor

    def write(self, text: str, /) -> int:
        """Hand text over."""
        if self.terminal.closed:
            self._stream.write(text)
            self._stream.flush()
        else:
            self.terminal.write(text)
        return len(text)


@contextlib.contextmanager
def tell_when_continued(terminals: Sequence[Terminal]) -> Iterator[None]:
    """Tell terminals in the block when the process goes on after a stop; in the main thread."""
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
