"""Whether the API server can be had at all, as everything that asks it found out."""

from __future__ import annotations

from collections.abc import Callable

from gate.clock import Clock
from gate.core.events import ContactLost, ContactRestored
from gate.core.outcome import Reason

PATIENCE_SECONDS = 15.0


class Contact:
    """Says so when contact is lost and when it is back; shared by the client and all watches.

    Lost is: nothing succeeded for `patience_seconds`, and the latest request failed. No lock
    guards it: two threads may say the same thing twice, which is harmless to hear.
    """

    def __init__(
        self,
        clock: Clock,
        put: Callable[[ContactLost | ContactRestored], None],
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Count from now on."""
        self._clock = clock
        self._put = put
        self._patience_seconds = patience_seconds
        self._succeeded_at = clock.now()
        self._lost = False

    def succeeded(self) -> None:
        """Note that the server answered, or that a watch said something."""
        self._succeeded_at = self._clock.now()
        if self._lost:
            self._lost = False
            self._put(ContactRestored(self._succeeded_at))

    def failed(self, why: str) -> None:
        """Note that a request failed for want of an answer."""
        now = self._clock.now()
        if not self._lost and now - self._succeeded_at >= self._patience_seconds:
            self._lost = True
            self._put(ContactLost(now, why))

    def ended(self, why: str, refused: Reason) -> None:
        """Note that the server answers, but not us: trying again is no use (401, 403)."""
        self._put(ContactLost(self._clock.now(), why, refused))
