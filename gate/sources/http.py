"""Smoke tests by HTTP: one request to the service under test, and the facts of its reply.

The service is responsible for what it does: a refused or broken connection and silence are replies
too (`NoReply`). A name that does not resolve and failing TLS say nothing about the version.
"""

from __future__ import annotations

import json
import math
import threading
from typing import Final
from urllib.parse import urljoin

from requests.utils import get_environ_proxies, select_proxy

from gate.clock import Clock
from gate.core.checks.json_path import number_at
from gate.core.checks.questions import Answered, Errored, HttpQuestion, HttpReply, NoReply, Trouble
from gate.errors import UsageError
from gate.sources.access import Access
from gate.sources.address import ALLOW, Address
from gate.sources.dialing import LinkLocalError, connect_once
from gate.sources.exchange import Exchanges, Limits, Reply, Sent
from gate.sources.failures import location
from gate.sources.source import Unanswered, make_unanswered

_ITS_OWN: Final = (Trouble.REFUSED, Trouble.TIMED_OUT)
"""Troubles that the service under test is responsible for."""
_SILENT: Final = "it does not answer in time"
_REDIRECTS: Final = (301, 302, 303, 307, 308)


class HttpCheck:
    """One service; answers `HttpQuestion`s for URLs of its origin."""

    def __init__(
        self, url: str, access: Access, clock: Clock, *, limits: Limits | None = None
    ) -> None:
        """Take the URL whose origin alone gets the credentials; UsageError as in `Access.check`."""
        origin = Address.parse(url, allow_link_local=access.allow_link_local)
        self._access, self._clock = access, clock
        self._exchanges = Exchanges(access, origin, clock, limits, keep_open=False)

    def ask(self, question: HttpQuestion) -> Answered | Errored:
        """Send one request and follow as many redirects as the question allows."""
        try:
            return Answered(self._ask(question))
        except Unanswered as failed:
            if failed.error.trouble in _ITS_OWN:
                return Answered(NoReply(failed.error.why))
            return failed.error

    def reach(self, question: HttpQuestion) -> str:
        """Return why its service cannot be connected to, or ""; sends nothing to it.

        Always "" behind a proxy, where only a request could tell.
        """
        address = Address.parse(question.url, allow_link_local=self._access.allow_link_local)
        if select_proxy(address.url, get_environ_proxies(address.url)):
            return ""
        seconds = min(question.timeout_seconds, Limits().connect_seconds)
        done, found = threading.Event(), [_SILENT]

        def connect() -> None:
            found[0] = self._try_connection(address, seconds)
            done.set()

        self._clock.start(connect, "reach")
        why = found[0] if self._clock.wait(seconds, done) else _SILENT
        return f"{address} cannot be reached: {why}" if why else ""

    def _try_connection(self, address: Address, seconds: float) -> str:
        """Return why no connection can be made, or "". A name can take long to resolve."""
        guarded = not self._access.allow_link_local
        try:
            connect_once(address.host, address.port, seconds, guarded=guarded)
        except LinkLocalError as error:
            return f"{error}; {ALLOW}"
        except OSError as error:
            return error.strerror or _SILENT
        return ""

    def cancel(self) -> None:
        """End what is under way."""
        self._exchanges.cancel()

    def _ask(self, question: HttpQuestion) -> HttpReply:
        started = self._clock.now()
        ends_at = started + question.timeout_seconds
        address = self._address(question.url)
        reply = self._send(question, address, ends_at)
        for _ in range(question.redirects):
            to = reply.headers.get("location", "")
            if reply.status not in _REDIRECTS or not to:
                break
            address = self._address(urljoin(address.url, to))
            reply = self._send(question, address, ends_at)
        return _facts(question, reply, self._clock.now() - started)

    def _address(self, url: str) -> Address:
        """Parse a URL; `Unanswered` for a bad one: a redirect can lead anywhere."""
        try:
            return Address.parse(url, allow_link_local=self._access.allow_link_local)
        except UsageError as error:
            raise make_unanswered(Trouble.ADDRESS, error.message, hint=error.hint) from error

    def _send(self, question: HttpQuestion, address: Address, ends_at: float) -> Reply:
        seconds = max(0.1, ends_at - self._clock.now())
        read = bool(question.contains or question.json_path)
        return self._exchanges.send(Sent(question.method, address), seconds, read_body=read)


def _facts(question: HttpQuestion, reply: Reply, latency_seconds: float) -> HttpReply:
    found = question.contains.encode() in reply.body if question.contains else None
    number = _number(question, reply.body) if question.json_path else None
    return HttpReply(reply.status, latency_seconds, found, number, location(reply.headers))


def _number(question: HttpQuestion, body: bytes) -> float | None:
    try:
        number = number_at(json.loads(body), question.json_path)
    except (ValueError, RecursionError):
        return None
    return None if number is None or math.isnan(number) else number
