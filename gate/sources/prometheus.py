"""Instant queries to Prometheus and all that speak its HTTP API (Thanos, Mimir, VictoriaMetrics).

`POST /api/v1/query` with the time of the tick: a form, so that no proxy truncates a long query.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import tenacity

from gate.clock import Clock
from gate.core.checks.questions import Answered, Errored, MetricQuestion, Trouble
from gate.core.frozen import dataclass
from gate.duration import format_seconds
from gate.sources.access import Access
from gate.sources.address import Address
from gate.sources.exchange import Exchanges, Limits, Reply, Sent
from gate.sources.failures import from_status
from gate.sources.prometheus_answer import decode
from gate.sources.source import Unanswered

_PATH = "/api/v1/query"
_OK = 200


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses between the tries of one question; `Limits.answer_seconds` bounds them all."""

    first_seconds: float = 0.2
    longest_seconds: float = 2.0


class Prometheus:
    """One server; answers `MetricQuestion`."""

    def __init__(
        self,
        url: str,
        access: Access,
        clock: Clock,
        *,
        limits: Limits | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        """Take the URL and the credentials; UsageError for what cannot work or is not safe."""
        base = Address.parse(url, allow_link_local=access.allow_link_local)
        self.address = replace(base, url=_endpoint(base.url))
        self._clock = clock
        self._pauses = pauses or Pauses()
        self.on_retry: Callable[[str], None] = lambda _: None
        self._exchanges = Exchanges(access, self.address, clock, limits)

    def ask(self, question: MetricQuestion) -> Answered | Errored:
        """Answer one query within the time limit, retries included, as long as it is awaited."""
        ends_at = self._clock.now() + self._exchanges.limits.answer_seconds
        ends_at = min(ends_at, question.answer_by)

        def attempt() -> Answered:
            return self._ask(question, ends_at)

        try:
            return self._retrying(ends_at)(attempt)
        except Unanswered as failed:
            return failed.error

    def cancel(self) -> None:
        """End what is under way."""
        self._exchanges.cancel()

    def _ask(self, question: MetricQuestion, ends_at: float) -> Answered:
        seconds = max(0.1, ends_at - self._clock.now())
        form = (
            ("query", question.query),
            ("time", f"{self._wall_seconds(question.at):.3f}"),
            ("timeout", f"{math.ceil(1000 * seconds)}ms"),
            # VictoriaMetrics would answer for a time 30 s ago (its search.latencyOffset).
            ("nocache", "1"),
        )
        reply = self._exchanges.send(Sent("POST", self.address, form), seconds)
        return self._decode_reply(reply)

    def _decode_reply(self, reply: Reply) -> Answered:
        if reply.status != _OK:
            server = str(self.address)
            raise Unanswered(from_status(reply.status, reply.headers, reply.body, server))
        return Answered(decode(reply.body, reply.headers.get("content-type", "")))

    def _wall_seconds(self, at: float) -> float:
        """Return the Unix time of a moment on the gate's monotonic clock."""
        return self._clock.wall().timestamp() - (self._clock.now() - at)

    def _retrying(self, ends_at: float) -> tenacity.Retrying:
        """Retry what may succeed, as long as there is time for another try."""

        def is_out_of_time(state: tenacity.RetryCallState) -> bool:
            late = self._clock.now() + state.upcoming_sleep >= ends_at
            return late or self._exchanges.stopping.is_set()

        def pause(seconds: float) -> None:
            self._clock.wait(seconds, self._exchanges.stopping)

        def announce(state: tenacity.RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            if state.attempt_number == 1 and isinstance(error, Unanswered):
                left = format_seconds(round(ends_at - self._clock.now()))
                self.on_retry(f"{error.error.why}; asked again for up to {left}")

        return tenacity.Retrying(
            retry=tenacity.retry_if_exception(_worth_another_try),
            wait=self._pause_seconds,
            stop=is_out_of_time,
            before_sleep=announce,
            sleep=pause,
            reraise=True,
        )

    def _pause_seconds(self, state: tenacity.RetryCallState) -> float:
        """Double the pause with each try; never retry before the server's Retry-After."""
        doubled = self._pauses.first_seconds * 2.0 ** min(state.attempt_number - 1, 30)
        error = state.outcome.exception() if state.outcome else None
        asked = error.error.retry_after_seconds if isinstance(error, Unanswered) else None
        return max(min(doubled, self._pauses.longest_seconds), asked or 0.0)


def _worth_another_try(error: BaseException) -> bool:
    if not isinstance(error, Unanswered) or error.error.permanent:
        return False
    return error.error.trouble is not Trouble.CANCELLED


def _endpoint(url: str) -> str:
    """Return the URL of instant queries for a base URL; one pasted from a browser works too."""
    base = url.partition("#")[0].partition("?")[0].rstrip("/")
    for pasted in ("/query", "/api/v1", "/graph"):
        base = base.removesuffix(pasted).rstrip("/")
    return base + _PATH
