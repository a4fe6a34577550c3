"""Watches, in three levels of generators: one connection, a position, for ever.

`connection` yields the lines of one HTTP answer; `continuous` lists if there is no position and
then follows from it; `infinite` pauses and begins again, whatever happened. Nothing that goes wrong
here is a verdict: a watch is a hint, the read is the truth.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping

import urllib3

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.core.rollout.observations import Listed, Observed, Vanished
from gate.kube.answers import translation
from gate.kube.answers.failures import ApiError, BadAnswer, Forbidden, Gone, TimedOut, Unauthorized
from gate.kube.client.client import Client, Query, chunks
from gate.kube.client.contact import access_to
from gate.kube.client.repetition import backoff_seconds
from gate.kube.kinds import registry
from gate.kube.paths.scope import Scope, Selector, scopes_of
from gate.kube.reads.lists import list_all
from gate.wire import decode
from gate.wire.frames import WatchType

Put = Callable[[Observed | Vanished | Listed], None]
Tap = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """Bounds of a watch.

    The server sends a bookmark about once a minute, so that more than `silence_seconds` without a
    line means that the connection or the position is useless. A connection that lived for
    `healthy_seconds` resets the pauses; if connections open but do not last, the pause stays below
    `brief_pause_seconds`.
    """

    line_bytes: int = decode.MAX_LINE_BYTES
    silence_seconds: float = 90.0
    server_seconds: int = 600
    healthy_seconds: float = 5.0
    first_pause_seconds: float = 0.1
    brief_pause_seconds: float = 1.0
    longest_pause_seconds: float = 5.0


class Watch:
    """Follows one kind in one namespace from a thread of its own, until it is stopped.

    Puts Listed, Observed and Vanished, and reports through the client's Contact what fails and what
    is refused (403, or 401 even with fresh credentials): it asks again, and whether a refusal lasts
    is not for one watch to decide. What a run goes on without (`registry.OPTIONAL`) is not asked
    for again after a 403: as far as anybody knows, there is none of it.
    """

    def __init__(
        self,
        client: Client,
        scope: Scope,
        clock: Clock,
        put: Put,
        *,
        tap: Tap | None = None,
        limits: WatchLimits | None = None,
    ) -> None:
        """`tap` gets each raw line before it is decoded."""
        self._client = client
        self._scope = scope
        self._clock = clock
        self._put = put
        self._tap = tap
        self._limits = limits or WatchLimits()
        self._path = registry.RESOURCES[scope.kind].path(scope.namespace)
        self._access = access_to(scope.namespace, scope.kind)
        self._position = ""
        self._opened = False
        self._response: urllib3.BaseHTTPResponse | None = None
        self._stopped = threading.Event()
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin in a daemon thread."""
        scope = self._scope
        self._ended = self._clock.start(self.run, f"watch-{scope.namespace}-{scope.kind}")

    def stop(self) -> None:
        """End at once, also in the middle of a read; does not wait for the thread."""
        self._stopped.set()
        response = self._response
        if response is not None:
            # Released, closed, closed at this moment (TypeError) or never connected: then there
            # is nothing to interrupt.
            with contextlib.suppress(ValueError, RuntimeError, OSError, TypeError):
                response.shutdown()

    def join(self, seconds: float) -> bool:
        """Wait for the thread; return whether it ended."""
        return self._clock.wait(seconds, self._ended)

    def run(self) -> None:
        """Put every event, until stopped."""
        for event in self.infinite():
            self._put(event)

    # -- for ever ------------------------------------------------------------------------------

    def infinite(self) -> Iterator[Observed | Vanished | Listed]:
        """Begin again after every end, with pauses that grow while nothing lasts."""
        brief = 0
        while not self._stopped.is_set():
            began_at, asked = self._clock.now(), None
            self._opened = False
            try:
                yield from self.continuous()
            except (Forbidden, Unauthorized) as error:
                if self._scope.kind in registry.OPTIONAL and isinstance(error, Forbidden):
                    yield from self._list_nothing()
                    return
                self._note_refusal(error)
            except ApiError as error:
                asked = error.retry_after_seconds
                self._note_failure(error)
            lasted = self._clock.now() - began_at >= self._limits.healthy_seconds
            if not lasted and not self._stopped.is_set():
                self._client.pace.note_trouble()
            self._clock.wait(self._pause_seconds(0 if lasted else brief, asked), self._stopped)
            brief = 0 if lasted else brief + 1

    def _pause_seconds(self, brief: int, asked: float | None) -> float:
        limits = self._limits
        longest = limits.brief_pause_seconds if self._opened else limits.longest_pause_seconds
        return backoff_seconds(
            brief, limits.first_pause_seconds, longest, self._client.jitter(), asked
        )

    def _note_refusal(self, error: ApiError) -> None:
        if self._client.contact is not None:
            self._client.contact.note_refusal(self._access, error.message, error.reason)

    def _note_failure(self, error: ApiError) -> None:
        """Drop a useless position; report to the Contact what the client has not reported yet."""
        if isinstance(error, Gone | TimedOut | BadAnswer):
            self._position = ""
        if self._client.contact is not None and isinstance(error, TimedOut | BadAnswer):
            self._client.contact.note_failure(error.message, answer=error.answer)

    def _note_grant(self) -> None:
        if self._client.contact is not None:
            self._client.contact.note_grant(self._access)

    # -- a position ----------------------------------------------------------------------------

    def continuous(self) -> Iterator[Observed | Vanished | Listed]:
        """List if there is no position, then follow from it to the end of one connection."""
        if not self._position:
            yield from self._list_objects()
        for line in self.connection():
            if self._tap is not None:
                self._tap(line)
            event = self._decode_line(line)
            if event is not None:
                yield event

    def _list_objects(self) -> Iterator[Listed]:
        scope = self._scope
        found = list_all(self._client, scope.kind, scope.namespace, self._selection(), once=True)
        at = self._clock.now()
        for about in scope.about:
            yield Listed(at, scope.kind, about, found.objects)
        self._position = found.resource_version

    def _list_nothing(self) -> Iterator[Listed]:
        """Say that nothing is known of a kind of the cluster, for which somebody waits."""
        if self._scope.namespace:
            return
        at = self._clock.now()
        for about in self._scope.about:
            yield Listed(at, self._scope.kind, about, ())

    def _decode_line(self, line: bytes) -> Observed | Vanished | None:
        """Take the position from a line, and its event if it has one."""
        try:
            decoded = decode.watch_line(line)
        except decode.DecodeError as error:
            raise BadAnswer(f"a line of the watch cannot be read: {error}") from error
        if decoded.error is not None:
            self._position = ""
            said = {"code": decoded.error.code, "message": decoded.error.message}
            raise translation.from_status(said, to_read=True)
        self._position = decoded.resource_version or self._position
        if decoded.object is None:
            return None
        at = self._clock.now()
        if decoded.type is WatchType.DELETED:
            return Vanished(at, self._scope.kind, decoded.object.uid)
        return Observed(at, decoded.object)

    # -- one connection ------------------------------------------------------------------------

    def connection(self) -> Iterator[bytes]:
        """Yield the lines of one answer from the position on, until it ends; a cut line is dropped.

        TimedOut after too long a silence, BadAnswer for a line without end.

        """
        silence = self._limits.silence_seconds
        response = self._client.stream(self._path, self._watch_query(), silence)
        self._response, self._opened = response, True
        self._note_grant()
        received_at, rest = self._clock.now(), b""
        try:
            for chunk in self._arriving(response):
                *lines, rest = (rest + chunk).split(b"\n")
                if lines:
                    received_at = self._clock.now()
                yield from (line for line in lines if line.strip())
                if len(rest) > self._limits.line_bytes:
                    raise BadAnswer("a line of the watch does not end")
                if self._clock.now() - received_at > silence:
                    raise TimedOut("the watch says nothing any more")
        finally:
            self._response = None
            response.close()

    def _arriving(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        try:
            if not self._stopped.is_set():
                yield from chunks(response)
        except urllib3.exceptions.ReadTimeoutError as error:
            raise TimedOut("the watch says nothing any more") from error
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            if not self._stopped.is_set():
                raise self._client.failure(error) from error

    def _selection(self) -> Query:
        wanted = (
            ("labelSelector", self._scope.label_selector),
            ("fieldSelector", self._scope.field_selector),
        )
        return tuple(pair for pair in wanted if pair[1])

    def _watch_query(self) -> Query:
        return (
            *self._selection(),
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", self._position),
            ("timeoutSeconds", str(self._limits.server_seconds)),
        )


class Watches:
    """All watches of an attempt."""

    def __init__(self, watches: tuple[Watch, ...]) -> None:
        """Take them before they are started."""
        self._watches = watches

    def start(self) -> None:
        """Start every watch in its thread."""
        for watch in self._watches:
            watch.start()

    def stop(self) -> None:
        """End them at once; as daemon threads, they hold nobody up."""
        for watch in self._watches:
            watch.stop()

    def join(self, seconds: float) -> bool:
        """Wait for each thread; return whether all ended."""
        return all(watch.join(seconds) for watch in self._watches)


def watches_of(
    client: Client,
    followed: Mapping[Ref, Selector],
    clock: Clock,
    put: Put,
    tap: Tap | None = None,
) -> Watches:
    """Plan the watches for `followed`, workloads with their selectors; nothing is started."""
    return Watches(
        tuple(Watch(client, scope, clock, put, tap=tap) for scope in scopes_of(followed))
    )
