"""Output that nobody waits for: each file has a bounded queue, and a thread that empties it.

A pipe takes only what its reader takes, which may be nothing for as long as the process lives.
The thread lives only while there is something to send.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import select
import struct
import termios
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from gate.clock import Clock

MOST_BYTES: Final = 4 << 20
"""How much of one stream is queued for its reader; beyond it the oldest is dropped."""
PATIENCE_SECONDS: Final = 2.0
"""How long the process waits at its end for a reader that takes nothing."""
_CHUNK_BYTES: Final = select.PIPE_BUF
"""A pipe takes this much atomically, so that we know what was sent."""
_MOST_PIPE_BYTES: Final = 1 << 20
"""What a Linux pipe may hold for a user without privileges (`fs.pipe-max-size`)."""
_GLANCE_SECONDS: Final = 0.05
_INT: Final = struct.Struct("i")


class Output(io.TextIOBase):
    """A text stream into a file descriptor; writing never blocks, and no I/O error is raised.

    Text goes to an `Outlet`, which drops the oldest when too much is queued. A line in their place
    says how many lines are missing, on the stream itself or on `tell_gaps` if that is another one.
    If the system refuses text (a full disk), `failure` says why, and `lost` holds what was refused
    from then on, up to `MOST_BYTES`. A reader that went away wanted no more: that is no failure.
    """

    def __init__(self, descriptor: int, outlet: Outlet, encoding: str = "utf-8") -> None:
        """Write to a descriptor that stays open."""
        self.broken = False
        self.failure = ""
        self.lost = b""
        self.queued_bytes = 0
        self.dropped_lines = 0
        self.as_line: Callable[[str], str] = as_warning
        self.tell_gaps: Output = self
        self.outlet = outlet
        self._descriptor = descriptor
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding; characters that it lacks are written as escapes."""
        return self._encoding

    def fileno(self) -> int:
        """Return the descriptor, whose terminal can be asked for its size."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether it is a terminal that still takes text."""
        return not self.broken and os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Return True, whatever happens to the text."""
        return True

    def write(self, text: str, /) -> int:
        """Queue text; returns at once."""
        data = text.encode(self._encoding, "backslashreplace")
        if data and (self.failure or not self.broken):
            self.outlet.put(self, data)
        return len(text)

    def fail(self, error: OSError) -> None:
        """Note that nothing can be written any more; EPIPE is no failure."""
        self.broken = True
        if error.errno != errno.EPIPE:
            self.failure = error.strerror or str(error)

    def lose(self, data: bytes) -> None:
        """Keep what the system refused, up to `MOST_BYTES`."""
        if self.failure:
            self.lost += data[: MOST_BYTES - len(self.lost)]

    def gap(self) -> bytes:
        """Return the note about lines dropped since the last call, b"" for none."""
        lines, self.dropped_lines = self.dropped_lines, 0
        if not lines:
            return b""
        if self.tell_gaps is self:
            line = self.as_line(describe_dropped_lines(lines))
            return line.encode(self._encoding, "backslashreplace")
        self.tell_gaps.write(self.tell_gaps.as_line(f"stdout: {describe_dropped_lines(lines)}"))
        return b""


class _Entry(NamedTuple):
    """What one call wrote."""

    output: Output
    data: bytes | memoryview


class Outlet:
    """One file that one or several streams go to, in the order in which they are written."""

    def __init__(self, clock: Clock) -> None:
        """Start with an empty queue; `clock` is the machine's own."""
        self._clock = clock
        self._lock = threading.RLock()
        self._turn = threading.Lock()
        self._entries: deque[_Entry] = deque()
        self._current: _Entry | None = None
        self._working = False
        self._ended = threading.Event()
        self._moved_at = clock.now()
        self._sent_bytes = 0
        self._descriptor = -1

    @property
    def idle(self) -> bool:
        """Whether everything was written to the file."""
        with self._lock:
            return not self._entries and not self._working

    def unsent(self, output: Output) -> bytes:
        """Return what one stream still has to send."""
        with self._lock:
            rest = [*([self._current] if self._current is not None else []), *self._entries]
            return b"".join(entry.data for entry in rest if entry.output is output)

    def put(self, output: Output, data: bytes) -> None:
        """Queue data of one stream; returns at once, however slow the file is."""
        with self._lock:
            self._descriptor = output.fileno()
            output.queued_bytes += len(data)
            self._entries.append(_Entry(output, data))
            while output.queued_bytes > max(MOST_BYTES, len(data)):
                self._drop_oldest(output)
        self.send()

    def send(self) -> None:
        """Have a thread send what is queued, unless one is already doing so."""
        with self._lock:
            if self._working or not self._entries:
                return
            self._working = True
            try:
                self._ended = self._clock.start(self._work, "output")
            except BaseException as error:
                # A signal may be raised here, after the thread began: two threads take turns then.
                self._working = False
                if not isinstance(error, RuntimeError):
                    raise
                self._send_while_ready()  # no thread can be started

    def drain(self, since: float, ends_at: Callable[[], float]) -> None:
        """Wait until all is sent, or until the reader has taken nothing for 2 s.

        The 2 s start at `since` at the earliest, on the clock. Waiting ends at `ends_at()` in any
        case; its value may change meanwhile.
        """
        taken_bytes, moved_at = self._taken_bytes(), since
        while not self.idle:
            self.send()
            now = self._clock.now()
            moved_at = max(moved_at, self._moved_at)
            if (seen_bytes := self._taken_bytes()) > taken_bytes:
                taken_bytes, moved_at = seen_bytes, now
            if now >= min(moved_at + PATIENCE_SECONDS, ends_at()):
                return
            if now > moved_at + _GLANCE_SECONDS:
                self._widen()
            self._clock.wait(_GLANCE_SECONDS, self._ended)

    def _drop_oldest(self, output: Output) -> None:
        oldest = next((entry for entry in self._entries if entry.output is output), None)
        if oldest is None:
            output.queued_bytes = 0  # a signal raised in between left the sum wrong
            return
        self._entries.remove(oldest)
        output.queued_bytes -= len(oldest.data)
        output.dropped_lines += bytes(oldest.data).count(b"\n")

    def _widen(self) -> None:
        """Enlarge the pipe to hold the rest, if the system allows: a late reader misses nothing.

        A pager takes what it shows, and then waits for a person; the process does not wait.
        """
        resize = getattr(fcntl, "F_SETPIPE_SZ", None)  # Linux
        if resize is None:
            return
        with self._lock:
            rest_bytes = sum(len(entry.data) for entry in self._entries) + _CHUNK_BYTES
            rest_bytes += len(self._current.data) if self._current is not None else 0
        with contextlib.suppress(OSError, ValueError):
            held_bytes = fcntl.fcntl(self._descriptor, fcntl.F_GETPIPE_SZ)
            wanted_bytes = min(_MOST_PIPE_BYTES, held_bytes + 2 * rest_bytes)
            if wanted_bytes > held_bytes:
                fcntl.fcntl(self._descriptor, resize, wanted_bytes)

    def _taken_bytes(self) -> int:
        """Return how much was sent and read, as far as the system says what is unread.

        A full pipe takes more only once a page of it was read, which may take long.
        """
        unread = bytes(_INT.size)
        with contextlib.suppress(OSError, ValueError):
            unread = fcntl.ioctl(self._descriptor, termios.FIONREAD, unread)
        (unread_bytes,) = _INT.unpack(unread)
        return self._sent_bytes - int(unread_bytes)

    def _work(self) -> None:
        """Send until nothing is left, in a thread of its own."""
        with self._turn:
            while (entry := self._next()) is not None:
                self._send(entry, _is_any)

    def _send_while_ready(self) -> None:
        """Send what the file takes at this moment, in the thread that writes."""
        while (entry := self._next()) is not None:
            if rest := self._send(entry, _is_ready):
                with self._lock:
                    entry.output.queued_bytes += len(rest)
                    self._entries.appendleft(_Entry(entry.output, rest))
                return

    def _next(self) -> _Entry | None:
        with self._lock:
            if not self._entries:
                self._working = False
                return None
            output, data = self._entries.popleft()
            output.queued_bytes -= len(data)
            self._current = _Entry(output, output.gap() + bytes(data))
            return self._current

    def _send(self, entry: _Entry, may_write: Callable[[int], bool]) -> bytes:
        """Send an entry; return the rest once `may_write` says no."""
        output, rest = entry.output, memoryview(entry.data)
        descriptor = output.fileno()
        while rest and not output.broken and may_write(descriptor):
            try:
                sent_bytes = os.write(descriptor, rest[:_CHUNK_BYTES])
            except BlockingIOError:
                # The parent made the pipe non-blocking.
                select.select([], [descriptor], [], PATIENCE_SECONDS)
            except OSError as error:
                output.fail(error)
            else:
                rest = rest[sent_bytes:]
                self._current = _Entry(output, rest)
                self._sent_bytes += sent_bytes
                self._moved_at = self._clock.now()
        self._current = None
        if not output.broken:
            return bytes(rest)
        output.lose(bytes(rest))
        return b""


def _is_any(_descriptor: int) -> bool:
    """Return True: a thread of its own may wait."""
    return True


def _is_ready(descriptor: int) -> bool:
    """Tell whether a chunk can be written without waiting."""
    return bool(select.select([], [descriptor], [], 0)[1])


def as_warning(text: str) -> str:
    """Return a warning line for people."""
    return f"warning: {text}\n"


def describe_dropped_lines(lines: int) -> str:
    """Say that lines are missing here."""
    return f"{lines} {'line was' if lines == 1 else 'lines were'} dropped here: nobody read"
