"""Requests to the API server, with limits of time and size.

Paths come from `resources`, bodies go out as JSON and come back as bytes (`connection.api`).
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

import urllib3

from gate.clock import Clock
from gate.core.attempt.contact import REFUSED_SECONDS
from gate.kube.answers import failures, translation
from gate.kube.answers.failures import ApiError, BadAnswer, TimedOut, Unauthorized
from gate.kube.client.contact import Contact
from gate.kube.client.pace import Pace
from gate.kube.client.repetition import Limits, Repetition
from gate.kube.client.server_time import ServerTime
from gate.kube.connection.connection import Connection
from gate.kube.connection.official import ApiException

Query = tuple[tuple[str, str], ...]

JSON = "application/json"
APPLY_PATCH = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
DRY_RUN = ("dryRun", "All")
"""The parameter of a write that must change nothing."""

CONNECTIONS_OF_A_VERDICT: Final = 5
"""A Deployment, its ReplicaSets, its Pods, and two logs."""
LOOK_SECONDS: Final = 5.0
"""How often connections are looked at: kube-apiserver ends one without a request after 32 s."""

OnAnswer = Callable[[str, str, Query, bytes], None]


class Reply(NamedTuple):
    """An answer of the server that is no error."""

    status: int
    body: bytes


_CHUNK_BYTES = 1 << 16

Result = TypeVar("Result")


class Client:
    """Sends requests for several threads over one pool of connections.

    Every method raises leaves of `ApiError`. Reads are retried after network errors, 429 and 5xx;
    writes only if the server surely did nothing. A 401 is retried once with fresh credentials. Once
    `stopping` is set there is no more waiting: one last try, then the end.
    """

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        *,
        limits: Limits | None = None,
        contact: Contact | None = None,
        stopping: threading.Event | None = None,
        on_answer: OnAnswer | None = None,
    ) -> None:
        """Share `contact` with the watches.

        `on_answer` is called with each answer as it came: method, path, query and body, from the
        thread that asked.
        """
        self.connection = connection
        self.limits = limits or Limits()
        self.contact = contact
        self.is_beside = False
        """Whether nothing that it asks for is followed or written, as locks (`Contact`)."""
        self._clock = clock
        self.jitter = connection.jitter
        self._stopping = stopping or threading.Event()
        self._missing_rights: set[tuple[str, str]] = set()
        self._on_answer = on_answer
        self.pace = Pace(clock, self._stopping)
        self.server_time = ServerTime(clock)

    def get(
        self,
        path: str,
        query: Query = (),
        *,
        seconds: float | None = None,
        once: bool = False,
        access: str = "",
    ) -> bytes:
        """Read; `seconds` instead of the usual limit, `once` without repetition.

        With `access`, the name of what is read, a refusal is reported to the Contact and the read
        is repeated for a while; that the refusal is over is reported, too.
        """
        limit = seconds or self.limits.answer_seconds

        def attempt(left_seconds: float) -> bytes:
            return self._exchange("GET", path, query, min(limit, left_seconds)).body

        if once:
            return attempt(limit)
        if not access:
            return self._repeat(attempt, lambda e: e.transient)
        return self._insisting(lambda: self._read_and_note(attempt, access))

    def review(self, path: str, body: Any) -> bytes:
        """POST something that changes nothing (an access review): repeated as reads are."""

        def attempt(left_seconds: float) -> bytes:
            limit = min(self.limits.answer_seconds, left_seconds)
            return self._exchange("POST", path, (), limit, body).body

        return self._repeat(attempt, lambda e: e.transient)

    def write(
        self,
        method: str,
        path: str,
        body: Any,
        query: Query = (),
        content_type: str = JSON,
        *,
        insists: bool = False,
    ) -> Reply:
        """Write; sent again only if the server surely did nothing (429, no connection).

        A dry run does nothing in any case. After an error that is not `untouched`, the write may
        have taken effect. With `insists`, a refused write is sent again for a while, unless that
        was in vain for its kind before: a right that is not there is missing for each object.
        """
        access = method, path.rpartition("/")[0]
        harmless = DRY_RUN in query

        def attempt(_: float) -> Reply:
            return self._exchange(
                method, path, query, self.limits.write_seconds, body, content_type
            )

        def once() -> Reply:
            return self._repeat(attempt, lambda e: e.transient and (e.untouched or harmless))

        try:
            reply = (
                self._insisting(once) if insists and access not in self._missing_rights else once()
            )
        except ApiError as error:
            if insists and error.refused:
                self._missing_rights.add(access)
            raise
        self._missing_rights.discard(access)
        return reply

    def stream(self, path: str, query: Query, silence_seconds: float) -> urllib3.BaseHTTPResponse:
        """Open an endless answer; reading it raises when nothing comes for `silence_seconds`."""
        response, _ = self._open("GET", path, query, silence_seconds)
        return response

    def keep_ready(self) -> None:
        """Keep connections open for what a verdict asks at once, until `stopping` is set.

        Raises nothing; returns at once if connections cost nothing.
        """
        while (pool := self.connection.api.ready_pool) is not None:
            seconds = self.limits.connect_seconds
            pool.connect_ahead(CONNECTIONS_OF_A_VERDICT, seconds, self._stopping)
            if self._clock.wait(LOOK_SECONDS, self._stopping):
                return

    def failure(self, error: Exception, sent_at: float = math.inf) -> ApiError:
        """Translate an error that sending, at that time, or reading raised, and note it."""
        named = translation.from_transport(error, self.connection.server)
        self._note_failure(named, sent_at)
        return named

    def _repeat(
        self, attempt: Callable[[float], Result], again: Callable[[ApiError], bool]
    ) -> Result:
        return Repetition(self._clock, self._stopping, self.limits, self.jitter).of(attempt, again)

    def _insisting(self, ask: Callable[[], Result]) -> Result:
        """Ask again while refused, for at most `REFUSED_SECONDS`."""
        limits = replace(self.limits, retry_seconds=REFUSED_SECONDS)
        repetition = Repetition(self._clock, self._stopping, limits, self.jitter)
        return repetition.of(lambda _: ask(), lambda e: e.refused)

    def _read_and_note(self, attempt: Callable[[float], bytes], access: str) -> bytes:
        """Read, and report to the Contact whether that was refused."""
        try:
            answer = self._repeat(attempt, lambda e: e.transient)
        except ApiError as error:
            if self.contact is not None and error.refused:
                self.contact.note_refusal(access, error.message, error.reason)
            raise
        if self.contact is not None:
            self.contact.note_grant(access)
        return answer

    # -- one attempt ---------------------------------------------------------------------------

    def _exchange(
        self,
        method: str,
        path: str,
        query: Query,
        seconds: float,
        body: Any = None,
        content_type: str = JSON,
    ) -> Reply:
        response, ends_at = self._open(method, path, query, seconds, body, content_type)
        parts, size = [], 0
        try:
            while chunk := self._chunk(response, ends_at):
                parts.append(chunk)
                size += len(chunk)
                if size > self.limits.body_bytes:
                    raise BadAnswer(f"the answer is larger than {self.limits.body_bytes} bytes")
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self.failure(error) from error
        finally:
            # A connection that was read to its end is back in the pool already.
            response.close()
        answer = b"".join(parts)
        if self._on_answer is not None:
            self._on_answer(method, path, query, answer)
        return Reply(response.status, answer)

    def _chunk(self, response: urllib3.BaseHTTPResponse, ends_at: float) -> bytes:
        """Return the next chunk, b"" at the end; does not wait beyond `ends_at`."""
        left_seconds = ends_at - self._clock.now()
        if left_seconds <= 0:
            raise TimedOut(f"{self.connection.server} did not end its answer in time")
        limit_reading(response, left_seconds)
        return response.read1(_CHUNK_BYTES, decode_content=False)

    def _open(
        self, method: str, path: str, query: Query, *rest: Any
    ) -> tuple[urllib3.BaseHTTPResponse, float]:
        generation = self.connection.credentials.generation
        try:
            return self._send(method, path, query, *rest)
        except Unauthorized:
            if not self.connection.renew(generation):
                raise
            return self._send(method, path, query, *rest)

    def _send(
        self, method: str, path: str, query: Query, seconds: float, *rest: Any
    ) -> tuple[urllib3.BaseHTTPResponse, float]:
        """Return an answer whose head has arrived, and the time by which all of it has to."""
        with self.pace.request(write=method != "GET"), self._time_read(method):
            ends_at = self._clock.now() + seconds
            response = self._answer(method, path, query, seconds, *rest)
        self.server_time.note(response.headers.get("Date"))
        if response.headers.get("Content-Encoding", "identity") != "identity":
            response.close()
            raise BadAnswer("the answer is encoded, although plain bytes were asked for")
        self._note_success()
        return response, ends_at

    def _answer(
        self,
        method: str,
        path: str,
        query: Query,
        seconds: float,
        body: Any = None,
        content_type: str = JSON,
    ) -> urllib3.BaseHTTPResponse:
        sent_at = self._clock.now()
        try:
            limits = min(seconds, self.limits.connect_seconds), seconds
            return self.connection.api.request(method, path, query, body, content_type, limits)
        except ApiException as error:
            raise self._translate_error(error, sent_at, method) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self.failure(error, sent_at) from error

    def _translate_error(self, error: ApiException, sent_at: float, method: str) -> ApiError:
        if not error.status:  # TLS errors come without a status, as text
            return self.failure(urllib3.exceptions.SSLError(error.reason), sent_at)
        status, headers, to_read = error.status, error.headers or {}, method == "GET"
        named = translation.from_answer(status, error.body, headers, to_read=to_read)
        if isinstance(named, failures.Forbidden):
            where = self.connection.cluster, self.connection.namespace
            named.hint = failures.role_hint(*where, named.verb)
        if isinstance(named, failures.ServerFailure | failures.TooManyRequests):
            self._note_failure(named)
        else:
            if isinstance(named, Unauthorized):
                self.pace.note_trouble()
            self._note_success()
        return named

    def _time_read(self, method: str) -> AbstractContextManager[None]:
        """Report a read whose answer is slow; a slow write may just wait for a webhook."""
        if self.contact is None or method != "GET":
            return nullcontext()
        return self.contact.timing()

    def _note_success(self) -> None:
        if self.contact is not None:
            self.contact.note_success(beside=self.is_beside)

    def _note_failure(self, error: ApiError, sent_at: float = math.inf) -> None:
        self.pace.note_trouble()
        if self.contact is not None:
            answer, beside = error.answer, self.is_beside
            self.contact.note_failure(error.message, sent_at, answer, beside=beside)


def chunks(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """Yield what arrives as it arrives, undecoded, until the answer ends."""
    while data := response.read1(_CHUNK_BYTES, decode_content=False):
        yield data


def limit_reading(response: urllib3.BaseHTTPResponse, seconds: float) -> None:
    """Let the next read of a body wait no longer than that.

    urllib3's own limit applies to each read separately. It keeps the socket of an answer in the
    method that shuts it down, even if its connection has let go of it (`Connection: close`).
    """
    shutdown = getattr(response, "_sock_shutdown", None)
    limit = getattr(getattr(shutdown, "__self__", None), "settimeout", None)
    if limit is not None:
        with contextlib.suppress(OSError):  # the body was read to its end, and closed it
            limit(seconds)
