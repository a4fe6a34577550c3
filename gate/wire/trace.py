"""Reads recordings of rollouts: what the watchers of a namespace saw, one JSON object a line.

Line 1 is the header: `trace` (1), `scenario`, `kubernetes`, `namespace`, `deployment` (the name of
the first one; another kind has `workload` with its `kind` and `name`), `before` (the objects listed
just before the apply), `applied` (the workload that the apply returned) and, if there is more to
say, `also_applied` (the attempt's other workloads) and `policy` (options of the judge, as a
configuration file has them). Each further line has `t`, the seconds since the apply returned, and
a watch's `type` and `object`; or the type

- LISTED, a `namespace` ("" for nodes), as `object` a page of a list, as a watch began with and, if
  it selects the parts of some workloads alone, `about` these (KIND/NAME)
- MEASURED, and as `object` the answer to one tick of a check
- UNSEEN: a request or a watch failed, as `object` says, so that facts may be missing until the type
  SEEN: then all of each workload was read again
- SUSPENDED: the gate itself stood still, as the `object` says for at most so many `seconds` and
  until when (`at`, as `t`)
- REMOVED: the run removed the pod whose `uid` the `object` has, since it blocked the rollout
- RETURNED: the run had decided, and what follows resulted from what it wrote then
- ENDED, and as `object` how the run ended: the last line, which is missing if the run was killed.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import Raw, Struct
from msgspec.json import Decoder

from gate.core.frozen import dataclass
from gate.core.model import objects as core
from gate.core.model.live_object import LiveObject
from gate.core.protocol.events import ContactFailed, Suspended
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.errors import UsageError
from gate.wire import decode, measurements
from gate.wire.frames import WatchType
from gate.wire.kinds import registry
from gate.wire.measurements import Measured
from gate.wire.untrusted import clean_line

VERSION: Final = 1
LISTED: Final = "LISTED"
MEASURED: Final = "MEASURED"
UNSEEN: Final = "UNSEEN"
SEEN: Final = "SEEN"
RETURNED: Final = "RETURNED"
ENDED: Final = "ENDED"
REMOVED: Final = "REMOVED"
SUSPENDED: Final = "SUSPENDED"
MAX_FILE_BYTES: Final = 1024 * 1024 * 1024

_UNREADABLE: Final = (ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Seen:
    """All of a workload was read, after facts had been missing."""

    at: float


@dataclass(frozen=True, slots=True)
class Reached:
    """The run had decided, or ended: until then nothing else was seen."""

    at: float


@dataclass(frozen=True, slots=True)
class PodRemoved:
    """The run removed a pod at which a controller had stopped: that one begins again."""

    at: float
    uid: str


TraceEvent = (
    Observed
    | Vanished
    | Listed
    | Measured
    | ContactFailed
    | Suspended
    | Seen
    | Reached
    | PodRemoved
)
_Pages = dict[tuple[Kind, str, tuple[str, ...] | None], tuple[core.Watched, ...]]


class _Header(Struct):
    trace: int
    namespace: str
    applied: Raw
    scenario: str | None = None
    kubernetes: str | None = None
    before: list[Raw] | None = None
    also_applied: list[Raw] | None = None
    policy: dict[str, Any] | None = None


class _Line(Struct):
    t: float
    type: str
    object: Raw
    namespace: str | None = None
    about: tuple[str, ...] | None = None


class _Why(Struct):
    why: str


class _Removed(Struct):
    uid: str


class _OfKind(Struct):
    kind: str


_HEADER: Final = Decoder(_Header)
_LINE: Final = Decoder(_Line)
_WHY: Final = Decoder(_Why)
_REMOVED_POD: Final = Decoder(_Removed)
_STANDSTILL: Final = Decoder(Suspended)
_OF_KIND: Final = Decoder(_OfKind)
_OBJECT: Final = Decoder(dict[str, Any])
Decoded = TypeVar("Decoded")


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording whose header was read; its events are read from `path` on demand.

    `before_live` are the workloads among `before`. `applied` holds at least one workload, in
    the order of the header; `policy` is empty if the recording does not say.
    """

    path: Path
    scenario: str
    kubernetes: str
    before: tuple[core.Watched, ...]
    before_live: tuple[LiveObject, ...]
    applied: tuple[LiveObject, ...]
    policy: Mapping[str, Any]

    def events(self) -> Iterator[TraceEvent]:
        """Read what was received; `at` is seconds since the apply returned and never goes back.

        What a watch received before the apply's response comes at 0. A standstill comes before what
        was received as it ended, wherever its line is, since no gate saw that any sooner. What a
        run did about its verdict is not part of the rollout that is judged: the events end there.
        Bookmarks and errors of watches say nothing about the rollout and are skipped. UsageError
        with file and line if a line cannot be read.
        """
        at = 0.0
        pages: _Pages = {}
        ahead = self._standstills()
        for number, line in itertools.islice(_lines(self.path), 1, None):
            try:
                found = _LINE.decode(line)
                while ahead and found.t > ahead[0].at - ahead[0].seconds:
                    stood = ahead.popleft()
                    at = max(at, stood.at)
                    yield stood
                at = max(at, found.t)
                if found.type in (RETURNED, ENDED):
                    yield Reached(at)
                    return
                events = self._read_line(at, line, found, pages)
            except _UNREADABLE as error:
                raise _unreadable(self.path, number, error) from None
            yield from events

    def end(self) -> dict[str, Any] | None:
        """Read how the run ended, None if the recording does not hold it.

        UsageError with file and line if that line cannot be read.
        """
        return next(self._find(ENDED, _OBJECT), None)

    def _standstills(self) -> deque[Suspended]:
        """Read when the gate stood still, and for how long since 0; UsageError as `end`."""
        stood = (one for one in self._find(SUSPENDED, _STANDSTILL) if one.at > 0)
        return deque(replace(one, seconds=min(one.seconds, one.at)) for one in stood)

    def _find(self, kind: str, of: Decoder[Decoded]) -> Iterator[Decoded]:
        """Read the objects of the lines of a type."""
        mark = f'"{kind}"'.encode()
        for number, line in itertools.islice(_lines(self.path), 1, None):
            if mark not in line:
                continue
            try:
                found = _LINE.decode(line)
                if found.type == kind:
                    yield of.decode(found.object)
            except _UNREADABLE as error:
                raise _unreadable(self.path, number, error) from None

    def _read_line(
        self, at: float, line: bytes, found: _Line, pages: _Pages
    ) -> tuple[TraceEvent, ...]:
        if found.type == LISTED:
            return self._join_pages(at, found, pages)
        if found.type == MEASURED:
            return (measurements.decode(at, bytes(found.object)),)
        if found.type == UNSEEN:
            return (ContactFailed(at, clean_line(_WHY.decode(found.object).why)),)
        if found.type == SEEN:
            return (Seen(at),)
        if found.type == SUSPENDED:
            return ()
        if found.type == REMOVED:
            return (PodRemoved(at, _REMOVED_POD.decode(found.object).uid),)
        return _decode_watch_line(at, line)

    def _join_pages(self, at: float, line: _Line, pages: _Pages) -> tuple[TraceEvent, ...]:
        """Join the pages of a list; it is returned with the last one."""
        body, namespace = bytes(line.object), line.namespace or ""
        kind = registry.watched_kind(_OF_KIND.decode(body).kind.removesuffix("List"))
        page = decode.listing(kind, body)
        objects = pages.pop((kind, namespace, line.about), ()) + page.objects
        if page.continue_token:
            pages[kind, namespace, line.about] = objects
            return ()
        refs = [live.ref for live in self.applied if namespace in (live.ref.namespace, "")]
        if line.about is not None:
            refs = [ref for ref in refs if f"{ref.kind}/{ref.name}" in line.about]
        return tuple(Listed(at, kind, ref, objects) for ref in refs)


def read(path: Path) -> Recording:
    """Read the header of a recording; UsageError, with file and line, if it is not one."""
    with closing(_lines(path)) as lines:
        number, line = next(lines, (1, b""))
    try:
        header = _HEADER.decode(line)
        if header.trace != VERSION:
            raise ValueError(f"a recording of version {header.trace}, not {VERSION}")
        applied = [header.applied, *(header.also_applied or ())]
        before = tuple(decode.decode_watched(bytes(found)) for found in header.before or ())
        return Recording(
            path=path,
            scenario=clean_line(header.scenario or ""),
            kubernetes=clean_line(header.kubernetes or ""),
            before=before,
            before_live=tuple(
                decode.live_object(bytes(raw))
                for raw, found in zip(header.before or (), before, strict=True)
                if isinstance(found, core.Workload)
            ),
            applied=tuple(_workload(bytes(found)) for found in applied),
            policy=header.policy or {},
        )
    except _UNREADABLE as error:
        raise _unreadable(path, number, error) from None


def _workload(body: bytes) -> LiveObject:
    live = decode.live_object(body)
    if live.workload is None:
        raise ValueError(f"{live.ref} was applied, and is no workload")
    return live


def _decode_watch_line(at: float, line: bytes) -> tuple[TraceEvent, ...]:
    event = decode.watch_line(line)
    if event.object is None:
        return ()
    if event.type is WatchType.DELETED:
        return (Vanished(at, registry.kind_of(event.object), event.object.uid),)
    return (Observed(at, event.object),)


def _lines(path: Path) -> Generator[tuple[int, bytes]]:
    """Read a file line by line, within its limits; empty lines are skipped."""
    left = MAX_FILE_BYTES
    try:
        with path.open("rb") as file:
            for number in itertools.count(1):
                line = file.readline(decode.MAX_BODY_BYTES + 1)
                left -= len(line)
                if left < 0 or len(line) > decode.MAX_BODY_BYTES:
                    raise UsageError(f"{path}:{number}: too long for a recording")
                if not line:
                    return
                if line.strip():
                    yield number, line
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _unreadable(path: Path, number: int, error: Exception) -> UsageError:
    why = "nested too deeply" if isinstance(error, RecursionError) else clean_line(str(error))
    return UsageError(f"{path}:{number}: not a line of a recording: {why}")
