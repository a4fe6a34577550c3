"""The times in which nothing could be read of a rollout: what happened then, nobody saw."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause

Span = tuple[float, float]
"""From when to when, monotonic seconds."""

LEAST_SECONDS = 5.0
"""What is missing for less than this explains nothing: it is one request that took its time."""
LEAST_SHARE = 0.5
"""The share of a leg in which facts have to be missing, at least, to explain its end."""


@dataclass(frozen=True, slots=True)
class MissingFacts:
    """From when to when facts were missing, in monotonic seconds; `since` is None while they come.

    `spans` are the earlier times, in their order; in those of `asleep` the gate itself stood still.
    """

    since: float | None = None
    spans: tuple[Span, ...] = ()
    asleep: tuple[Span, ...] = ()

    @property
    def has_ended(self) -> bool:
        """Whether there was such a time, and it is over."""
        return bool(self.spans or self.asleep)

    def begin(self, at: float) -> MissingFacts:
        """Return it with facts missing from `at` on, the moment of the last one."""
        ended_at = self.spans[-1][1] if self.spans else at
        return replace(self, since=max(at, ended_at))

    def end(self, at: float) -> MissingFacts:
        """Return it after all was read at `at`."""
        if self.since is None:
            return self
        span = (self.since, max(at, self.since))
        return replace(self, since=None, spans=(*self.spans, span))

    def after_suspension(self, at: float, seconds: float) -> MissingFacts:
        """Return it after the gate stood still until `at`: facts are missing until the next read.

        The server did not answer before only as far as that was seen.
        """
        began_at = at - seconds
        known = self.end(began_at)
        return replace(known, since=at, asleep=(*self.asleep, (began_at, at)))

    @property
    def awake_since(self) -> float:
        """When the gate last stood still, the end of that; minus infinity if it never did."""
        return self.asleep[-1][1] if self.asleep else -math.inf

    def seconds(self, start: float, now: float) -> float:
        """Return for how long facts were missing between two moments while the gate was awake."""
        spans = self.spans if self.since is None else (*self.spans, (self.since, now))
        return _overlap(spans, start, now)

    def asleep_seconds(self, start: float, now: float) -> float:
        """Return for how long the gate itself stood still between two moments."""
        return _overlap(self.asleep, start, now)

    def causes(
        self, now: float, leg_at: float, progress_at: float, deadline_seconds: float
    ) -> Iterator[Cause]:
        """Yield a cause where too little was seen of a leg to blame the version for its lateness.

        A version that was seen for its whole deadline without any progress is late by itself.
        """
        if self.since is None and not self.spans:
            return
        leg_seconds = now - leg_at - self.asleep_seconds(leg_at, now)
        missing_seconds = self.seconds(leg_at, now)
        if missing_seconds < max(LEAST_SECONDS, LEAST_SHARE * leg_seconds):
            return
        still_seconds = now - progress_at - self.asleep_seconds(progress_at, now)
        if still_seconds - self.seconds(progress_at, now) >= deadline_seconds:
            return
        text = "nothing of it could be read from the API server for"
        said = f"{text} {missing_seconds:.0f} s of {leg_seconds:.0f} s"
        yield Cause(Reason.UNREACHABLE, CleanText(said))


def _overlap(spans: tuple[Span, ...], start: float, end: float) -> float:
    """Return how many seconds of the spans lie between two moments."""
    if not spans:
        return 0.0
    return sum((max(0.0, min(last, end) - max(first, start)) for first, last in spans), 0.0)
