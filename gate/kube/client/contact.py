"""Whether the API server is reachable and answers us, as everything that asks it finds out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gate.clock import Clock
from gate.core.model.outcome import Reason
from gate.core.protocol.events import (
    AccessGranted,
    AccessRefused,
    ContactEvent,
    ContactFailed,
    ContactLost,
    ContactRestored,
)

PATIENCE_SECONDS = 8.0
"""Less than an engineer watches a silent terminal, and more than a request that is tried again."""
SLOW_SECONDS = 5.0
"""An answer that takes longer shows that the server was away, though no request failed."""


class Contact:
    """Reports what goes wrong with the server; shared by the client and all watches.

    Every failure is reported, since facts may have been missed. Contact is lost once requests have
    failed for `patience_seconds` and none succeeded between. Requests `beside` are about nothing
    that is followed or written, as of locks: while any other fails, their success shows nothing.
    No lock guards it: two threads may report the same thing twice, which is harmless.
    """

    def __init__(
        self,
        clock: Clock,
        put: Callable[[ContactEvent], None],
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Put each event where it is waited for."""
        self._clock = clock
        self._put = put
        self._patience_seconds = patience_seconds
        self._succeeded_at = -math.inf
        self._failing_since = math.inf
        self._answers: set[str] = set()
        self._only_beside = True
        self._lost = False
        self._refused: set[str] = set()

    def note_success(self, *, beside: bool = False) -> None:
        """Note that the server answered a request."""
        if beside and not self._only_beside:
            return
        self._only_beside = True
        self._succeeded_at, self._failing_since = self._clock.now(), math.inf
        self._answers = set()
        if self._lost:
            self._lost = False
            self._put(ContactRestored(self._succeeded_at))

    def note_failure(
        self, why: str, sent_at: float = math.inf, answer: str = "", *, beside: bool = False
    ) -> None:
        """Note that a request that was sent then had no answer, or that a watch broke just now.

        `answer` is what came instead of one that can be used, "" for nothing. A new one is told
        also of contact that was lost.
        """
        now = self._clock.now()
        self._only_beside &= beside
        unanswered_since = max(min(sent_at, now), self._succeeded_at)
        self._failing_since = min(self._failing_since, unanswered_since)
        self._put(ContactFailed(now, why))
        failing_seconds = now - self._failing_since
        is_told = self._lost and answer in self._answers
        self._answers.add(answer)
        if not is_told and failing_seconds >= self._patience_seconds:
            self._lost = True
            self._put(ContactLost(now, why, failing_seconds, tuple(sorted(self._answers))))

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time the answer to a request that the block sends; a slow one is reported."""
        sent_at = self._clock.now()
        yield
        now = self._clock.now()
        if now - sent_at > SLOW_SECONDS:
            self._put(ContactFailed(now, f"the server took {now - sent_at:.0f} s to answer"))

    def note_refusal(self, what: str, why: str, reason: Reason) -> None:
        """Note that the server answers, but not us (401, 403); `what` is a kind in a namespace."""
        self._refused.add(what)
        self._put(AccessRefused(self._clock.now(), what, why, reason))

    def note_grant(self, what: str) -> None:
        """Note that the server answers what it may have refused before."""
        if what in self._refused:
            self._refused.discard(what)
            self._put(AccessGranted(self._clock.now(), what))


def access_to(namespace: str, kind: str) -> str:
    """Return the name of the access to a kind in a namespace."""
    return f"{namespace}/{kind}"
