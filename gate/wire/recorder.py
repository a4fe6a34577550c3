"""Writes recordings: what the server and the checks' sources said, in the format of `wire.trace`.

Any thread may hand over what it received, in raw bytes; the one thread that runs `run` masks and
writes it, so that nobody waits for a disk. A recording never breaks the run that it records.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Final

from msgspec import Struct
from msgspec.json import Decoder, encode

from gate.clock import Clock
from gate.core.checks.questions import Answers, Errored
from gate.core.checks.tick_grid import Tick
from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.wire import measurements
from gate.wire.files import open_new
from gate.wire.kinds import registry
from gate.wire.masking import Masker
from gate.wire.secret_values import SecretValues
from gate.wire.trace import (
    ENDED,
    LISTED,
    MAX_FILE_BYTES,
    MEASURED,
    REMOVED,
    RETURNED,
    SEEN,
    SUSPENDED,
    UNSEEN,
    VERSION,
)

_SCENARIO: Final = "recorded"

Made = Mapping[str, Any]
MOST_WAITING_BYTES: Final = 64 * 1024 * 1024
"""The most that may be handed over and not yet written: a hanging disk must not fill the memory."""
_ANSWER_BYTES: Final = 1024
"""About the size of an answer to a check."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What makes a line, from how many bytes, and whether it is the header."""

    is_header: bool
    size: int
    make: Callable[[], Made]


def _too_slow() -> Made:
    raise OSError(errno.ENOBUFS, "it is not written as fast as the cluster speaks")


class _Line(Struct):
    type: str
    object: dict[str, Any]


class _List(Struct, rename="camel"):
    kind: str
    api_version: str
    metadata: dict[str, Any]
    items: list[dict[str, Any]] | None = None


_LINE: Final = Decoder(_Line)
_LIST: Final = Decoder(_List)
_OBJECT: Final = Decoder(dict[str, Any])


class Recorder:
    """Records one attempt to one file.

    Lines that come before `header` are kept until the header is written: a watch may see an apply
    before its response has arrived.
    """

    def __init__(
        self,
        file: BinaryIO,
        masker: Masker,
        warn: Callable[[str], None],
        *,
        most_bytes: int = MAX_FILE_BYTES,
        most_waiting_bytes: int = MOST_WAITING_BYTES,
    ) -> None:
        """Take the file to write to, and `warn`, which is called with what the recording lacks."""
        self._file = file
        self._masker = masker
        self._warn = warn
        self._left = most_bytes
        self._most_waiting_bytes = most_waiting_bytes
        self._applied_at = 0.0
        self._skipped = 0
        self._queue: SimpleQueue[Handed | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._waiting_bytes = 0

    @classmethod
    def create(
        cls, path: Path, warn: Callable[[str], None], secrets: SecretValues | None = None
    ) -> Recorder:
        """Open a new file at `path`, with a masking key of its own; UsageError if that fails."""
        try:
            return cls(open_new(path), Masker(secrets), warn)
        except OSError as error:
            raise UsageError(f"{path}: cannot record to it: {error.strerror}") from error

    # -- from any thread -----------------------------------------------------------------------

    def header(
        self,
        at: float,
        applied: Sequence[bytes],
        *,
        before: Sequence[bytes] = (),
        kubernetes: str = "",
        policy: Made | None = None,
    ) -> None:
        """Record once what was applied, and when: `at` is monotonic seconds.

        `applied` are the workloads as the apply returned them, at least one. `before` are lists
        as the server sent them, read before the apply. `policy` must hold no secret except in its
        `checks`, which are masked.
        """
        about = {"kubernetes": kubernetes, **({"policy": policy} if policy else {})}
        size = sum(map(len, (*before, *applied)))
        self._hand(size, partial(self._header, at, about, before, applied), is_header=True)

    def line(self, at: float, line: bytes) -> None:
        """Record a line of a watch, received at that monotonic second."""
        self._hand(len(line), partial(self._line, at, line))

    def record_list(
        self, at: float, namespace: str, page: bytes, about: Sequence[str] | None = None
    ) -> None:
        """Record a page of a list, as a watch of `namespace` starts or restarts with.

        `about` are the workloads, as KIND/NAME, whose parts it selects; None if it selects none.
        """
        self._hand(len(page), partial(self._make_list_line, at, namespace, page, about))

    def record_measurement(
        self, at: float, check: str, tick: Tick, said: Answers | Errored
    ) -> None:
        """Record what a check's source answered at that monotonic second to one tick."""
        self._hand(_ANSWER_BYTES, partial(self._make_measurement_line, at, check, tick, said))

    def unseen(self, at: float, why: str) -> None:
        """Record that a request or a watch failed: facts may be missing from now on."""
        failed = {"why": why}
        self._hand(0, lambda: {"t": self._since(at), "type": UNSEEN, "object": failed})

    def record_seen(self, at: float) -> None:
        """Record that all was read again."""
        self._hand(0, lambda: {"t": self._since(at), "type": SEEN, "object": {}})

    def record_standstill(self, at: float, seconds: float) -> None:
        """Record that the gate itself stood still for at most so long until that second."""

        def make() -> Made:
            until = self._since(at)
            return {"t": until, "type": SUSPENDED, "object": {"at": until, "seconds": seconds}}

        self._hand(0, make)

    def record_removal(self, at: float, uid: str) -> None:
        """Record that the run removed a pod at which a controller had stopped."""
        self._hand(0, lambda: {"t": self._since(at), "type": REMOVED, "object": {"uid": uid}})

    def note_return(self, at: float) -> None:
        """Record that the run goes back, or stops its rollout: what follows is its own doing."""
        self._hand(0, lambda: {"t": self._since(at), "type": RETURNED, "object": {}})

    def record_ending(self, at: float, make: Callable[[], Made]) -> None:
        """Record how the run ended, as `make` says in the recorder's own thread."""
        self._hand(0, lambda: {"t": self._since(at), "type": ENDED, "object": make()})

    def _hand(self, size: int, make: Callable[[], Made], *, is_header: bool = False) -> None:
        """Hand over what makes a line; beyond the bound nothing more is recorded."""
        with self._lock:
            waiting_bytes = self._waiting_bytes + size
            if waiting_bytes > self._most_waiting_bytes:
                make, size = _too_slow, 0
            self._waiting_bytes += size
        self._queue.put(Handed(is_header, size, make))

    def finish(self) -> None:
        """Let `run` return once all that was handed over is written."""
        self._queue.put(None)

    # -- in the recorder's own thread ----------------------------------------------------------

    def run(self, clock: Clock) -> None:
        """Write until `finish`, and close the file; if the file fails, warn and write no more."""
        handed = iter(partial(clock.receive, self._queue), None)
        try:
            with self._file:
                for made in self._in_order(handed):
                    self._write(made)
        except OSError as error:
            self._warn(f"recording stopped: {error.strerror or error}")
            for _ in handed:  # what nobody takes would pile up
                pass
        if self._skipped:
            self._warn(f"lines that could not be masked and were not recorded: {self._skipped}")

    def _in_order(self, handed: Iterator[Handed]) -> Iterator[Made]:
        early: list[Handed] | None = []
        for one in handed:
            if early is not None and not one.is_header and one.make is not _too_slow:
                early.append(one)
                continue
            yield from self._iter_made(one, *(early or ()))
            early = None

    def _iter_made(self, *handed: Handed) -> Iterator[Made]:
        for one in handed:
            with self._lock:
                self._waiting_bytes -= one.size
            try:
                yield one.make()
            except OSError:
                raise
            except Exception:  # noqa: BLE001 - whatever a server sends, it must not end a run
                self._skipped += 1

    def _write(self, line: Made) -> None:
        data = encode(self._masker.line(line)) + b"\n"
        self._left -= len(data)
        if self._left < 0:
            raise OSError(errno.EFBIG, "it is as long as a recording may be")
        self._file.write(data)
        self._file.flush()

    def _header(
        self, at: float, about: Made, before: Sequence[bytes], applied: Sequence[bytes]
    ) -> Made:
        self._applied_at = at
        first, *others = [self._masker.mask_object(_OBJECT.decode(body)) for body in applied]
        return {
            "trace": VERSION,
            "scenario": _SCENARIO,
            "namespace": first["metadata"]["namespace"],
            **registry.header_of(first),
            **about,
            **({"policy": self._masker.policy(about["policy"])} if "policy" in about else {}),
            "before": [item for page in before for item in self._items(_LIST.decode(page))],
            "applied": first,
            **({"also_applied": others} if others else {}),
        }

    def _line(self, at: float, line: bytes) -> Made:
        decoded = _LINE.decode(line)
        return {
            "t": self._since(at),
            "type": decoded.type,
            "object": self._masker.mask_object(decoded.object),
        }

    def _make_list_line(
        self, at: float, namespace: str, page: bytes, about: Sequence[str] | None
    ) -> Made:
        found = _LIST.decode(page)
        metadata = {k: v for k, v in found.metadata.items() if k in {"resourceVersion", "continue"}}
        frame = {"kind": found.kind, "apiVersion": found.api_version, "metadata": metadata}
        body = {**frame, "items": self._items(found)}
        line = {"t": self._since(at), "type": LISTED, "namespace": namespace, "object": body}
        return line if about is None else {**line, "about": list(about)}

    def _make_measurement_line(
        self, at: float, check: str, tick: Tick, said: Answers | Errored
    ) -> Made:
        asked = Tick(tick.number, self._since(tick.at))
        body = measurements.encode(check, asked, said, self._masker.text)
        return {"t": self._since(at), "type": MEASURED, "object": body}

    def _items(self, found: _List) -> list[dict[str, Any]]:
        """Mask the items of a list, which the server sends without their kind."""
        kind = {"apiVersion": found.api_version, "kind": found.kind.removesuffix("List")}
        return [self._masker.mask_object({**kind, **item}) for item in found.items or ()]

    def _since(self, at: float) -> float:
        return round(at - self._applied_at, 3)
