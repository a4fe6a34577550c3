"""The server's time, by the `Date` of its answers, for times that several machines compare."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from gate.clock import Clock

_AGREES: Final = timedelta(seconds=2)
"""`Date` has whole seconds, and an answer is a moment on its way."""


class ServerTime:
    """Knows how far this machine's clock is from that of the server that answered last."""

    def __init__(self, clock: Clock) -> None:
        """Take the clock of this machine, which counts until an answer has said a time."""
        self._clock = clock
        self._said: tuple[str, datetime] | None = None

    def note(self, date: str | None) -> None:
        """Note the `Date` of an answer that just came; None if it has none."""
        if date:
            self._said = date, self._clock.wall()

    def wall(self) -> datetime:
        """Return the server's time; this machine's where the two agree or none can be read."""
        now = self._clock.wall()
        if self._said is None:
            return now
        date, noted_at = self._said
        try:
            ahead = parsedate_to_datetime(date).replace(tzinfo=UTC) - noted_at
            return now if abs(ahead) <= _AGREES else now + ahead
        except (ValueError, OverflowError):
            return now
