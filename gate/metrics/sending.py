"""Sends requests to a Pushgateway the way sources send theirs: bounded, no redirects, guarded."""

from __future__ import annotations

from typing import Final

from gate.clock import Clock
from gate.metrics.exposition import CONTENT_TYPE
from gate.metrics.pushgateway import NotTaken
from gate.sources.access import Access
from gate.sources.address import Address
from gate.sources.exchange import Exchanges, Limits, Reply, Sent
from gate.sources.failures import page
from gate.sources.source import Unanswered

_LIST_BYTES: Final = 16 << 20
"""Limit of the list of all groups: it holds the metrics of everybody who pushes there."""


class Sender:
    """A `Send` to one server; UsageError if credentials would go in plain text."""

    def __init__(self, url: str, access: Access, clock: Clock) -> None:
        address = Address.parse(url)
        self._exchanges = Exchanges(access, address, clock, Limits(body_bytes=_LIST_BYTES))

    def __call__(self, method: str, url: str, seconds: float, body: bytes = b"") -> bytes:
        """Return the response's body; raises `NotTaken`."""
        if seconds <= 0:
            raise NotTaken("no time was left for all of its groups")
        address = Address.parse(url)
        sent = Sent(method, address, body=body, content_type=CONTENT_TYPE if body else "")
        try:
            reply = self._exchanges.send(sent, seconds)
        except Unanswered as failed:
            raise NotTaken(failed.error.why) from failed
        if not 200 <= reply.status <= 299:  # noqa: PLR2004 - the class of HTTP statuses
            raise NotTaken(_refusal(address, reply))
        return reply.body

    def close(self) -> None:
        """End what is under way."""
        self._exchanges.cancel()


def _refusal(address: Address, reply: Reply) -> str:
    said = page(reply.body)
    return f"{address} answered {reply.status}" + (f": {said}" if said else "")
