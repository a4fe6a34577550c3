"""One request and its response over `requests`: bounded in time and size, no redirects or cookies.

Each exchange uses a line of its own, so that no session is shared between threads and another
thread can end it. Lines are kept open for the next exchange.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from http.cookiejar import DefaultCookiePolicy

import requests
from requests.utils import get_environ_proxies

from gate.clock import Clock
from gate.core.checks.questions import Trouble
from gate.core.frozen import dataclass
from gate.sources.access import Access, mask_header_secrets
from gate.sources.address import ALLOW, Address
from gate.sources.dialing import Adapter, ReadError
from gate.sources.failures import from_transport
from gate.sources.source import make_unanswered
from gate.wire.untrusted import clean_line

_CHUNK_BYTES = 1 << 16
_KNOWN_URLS = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one exchange; `answer_seconds` covers the whole of it."""

    connect_seconds: float = 5.0
    answer_seconds: float = 10.0
    body_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Reply:
    """A response as it came, with header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    latency_seconds: float


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: without a body, with a form, or with a `body` of `content_type`."""

    method: str
    address: Address
    form: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = ""


class _Line:
    """A session, used by one exchange at a time."""

    def __init__(self, *, guarded: bool) -> None:
        self.session = requests.Session()
        # Otherwise .netrc would replace our credentials with its own.
        self.session.trust_env = False
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.adapter = Adapter(guarded=guarded)
        self.session.mount("http://", self.adapter)
        self.session.mount("https://", self.adapter)


class Exchanges:
    """Sends requests for several threads; secrets go only to the origin that they are for."""

    def __init__(
        self,
        access: Access,
        origin: Address,
        clock: Clock,
        limits: Limits | None = None,
        *,
        keep_open: bool = True,
    ) -> None:
        """Raise UsageError for access that is not safe. `keep_open` reuses connections."""
        access.check(origin)
        self._access, self._origin, self._clock = access, origin, clock
        self.limits = limits or Limits()
        self._keep_open = keep_open
        # A process's environment does not change, and reading it takes a tenth of an exchange.
        self._proxies = functools.lru_cache(maxsize=_KNOWN_URLS)(get_environ_proxies)
        self._idle: deque[_Line] = deque()
        self._busy: dict[int, _Line] = {}
        self.stopping = threading.Event()

    def send(self, sent: Sent, seconds: float, *, read_body: bool = True) -> Reply:
        """Return the response, whatever its status; `Unanswered` if there is none in time.

        With `read_body`, a body over the limit counts as no answer too.
        """
        bound = sent.address.origin == self._origin.origin
        headers = self._access.headers_for() if bound else {}
        line, late, done = self._line(), threading.Event(), threading.Event()

        def cut() -> None:
            if not self._clock.wait(seconds, done):
                late.set()
                line.adapter.shut()

        self._clock.start(cut, "watchdog")
        reply = None
        try:
            reply = self._exchange(line, sent, headers, seconds, read_body=read_body)
            if late.is_set() or self.stopping.is_set():
                # http.client takes the end of a connection for the end of the response's headers.
                reply = None
                raise ConnectionAbortedError
        except (requests.RequestException, ReadError, OSError) as error:
            raise self._failure(error, sent.address, headers, late=late.is_set()) from error
        finally:
            done.set()
            # A slow line is not reused: the watchdog may be cutting it at this moment.
            self._give_back(line, good=reply is not None and reply.latency_seconds < seconds / 2)
        return reply

    def cancel(self) -> None:
        """End what is under way, and send nothing more."""
        self.stopping.set()
        for line in list(self._busy.values()):
            line.adapter.shut()

    def _line(self) -> _Line:
        try:
            line = self._idle.pop()
        except IndexError:
            line = _Line(guarded=not self._access.allow_link_local)
        self._busy[id(line)] = line
        if self.stopping.is_set():
            self._give_back(line, good=False)
            raise make_unanswered(Trouble.CANCELLED, "the run is ending")
        return line

    def _give_back(self, line: _Line, *, good: bool) -> None:
        """Keep the line for reuse if it is `good`, else close it."""
        del self._busy[id(line)]
        if good and self._keep_open:
            self._idle.append(line)
        else:
            line.session.close()

    def _exchange(
        self,
        line: _Line,
        sent: Sent,
        secrets: Mapping[str, str],
        seconds: float,
        *,
        read_body: bool,
    ) -> Reply:
        started = self._clock.now()
        typed = {"Content-Type": sent.content_type} if sent.content_type else {}
        headers = {"Accept-Encoding": "identity", "User-Agent": "rollout-gate", **typed, **secrets}
        data = sent.body or list(sent.form) or None
        request = requests.Request(sent.method, sent.address.url, headers=headers, data=data)
        response = line.session.send(
            line.session.prepare_request(request),
            stream=True,
            timeout=(min(seconds, self.limits.connect_seconds), seconds),
            allow_redirects=False,
            verify=self._access.authority or True,
            cert=(self._access.certificate, self._access.key) if self._access.certificate else None,
            proxies=self._proxies(sent.address.url),
        )
        try:
            body = self._body(response, started + seconds) if read_body else b""
        finally:
            # A body read to its end has already returned its connection.
            response.close()
        named = {
            name.lower(): mask_header_secrets(value, secrets)
            for name, value in response.headers.items()
        }
        if secrets and not _is_json(response):
            body = mask_header_secrets(body.decode("utf-8", "replace"), secrets).encode()
        return Reply(response.status_code, named, body, self._clock.now() - started)

    def _body(self, response: requests.Response, ends_at: float) -> bytes:
        """Read the body as it arrives: one that trickles in has to end in time too."""
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise make_unanswered(
                Trouble.BAD_ANSWER, "the answer is encoded, although asked not to be"
            )
        parts, size = [], 0
        for chunk in _chunks(response):
            parts.append(chunk)
            size += len(chunk)
            if size > self.limits.body_bytes:
                most = f"{self.limits.body_bytes >> 10} KiB"
                raise make_unanswered(Trouble.BAD_ANSWER, f"the answer is larger than {most}")
            if self._clock.now() > ends_at:
                raise requests.ReadTimeout
        return b"".join(parts)

    def _failure(
        self, error: Exception, address: Address, secrets: Mapping[str, str], *, late: bool
    ) -> Exception:
        if self.stopping.is_set():
            return make_unanswered(Trouble.CANCELLED, "the run is ending")
        if late:
            return make_unanswered(Trouble.TIMED_OUT, f"{address} did not answer in time")
        found = from_transport(error, str(address))
        if found.trouble is Trouble.ADDRESS:
            return make_unanswered(Trouble.ADDRESS, found.why, hint=ALLOW)
        return make_unanswered(
            found.trouble, clean_line(mask_header_secrets(found.why, secrets)), hint=found.hint
        )


def _is_json(response: requests.Response) -> bool:
    """Tell whether it is a good JSON response: its body is data then, and never shown as it is."""
    return response.ok and response.headers.get("Content-Type", "").startswith("application/json")


def _chunks(response: requests.Response) -> Iterator[bytes]:
    while data := response.raw.read1(_CHUNK_BYTES, decode_content=False):
        yield data
