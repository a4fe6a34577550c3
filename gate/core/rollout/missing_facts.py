"""The times in which nothing could be read of a rollout: what happened then, nobody saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause

LEAST_SECONDS = 5.0
"""What is missing for less than this explains nothing: it is one request that took its time."""
LEAST_SHARE = 0.5
"""The share of a leg in which facts have to be missing, at least, to explain its end."""


@dataclass(frozen=True, slots=True)
class MissingFacts:
    """From when to when facts were missing, in monotonic seconds; `since` is None while they come.

    `spans` are the earlier times, in their order.
    """

    since: float | None = None
    spans: tuple[tuple[float, float], ...] = ()

    def begin(self, at: float) -> MissingFacts:
        """Return it with facts missing from `at` on, the moment of the last one."""
        ended_at = self.spans[-1][1] if self.spans else at
        return replace(self, since=max(at, ended_at))

    def end(self, at: float) -> MissingFacts:
        """Return it after all was read at `at`."""
        if self.since is None:
            return self
        return MissingFacts(spans=(*self.spans, (self.since, max(at, self.since))))

    def seconds(self, start: float, now: float) -> float:
        """Return for how long facts were missing between two moments."""
        spans = self.spans if self.since is None else (*self.spans, (self.since, now))
        return sum((max(0.0, min(end, now) - max(begin, start)) for begin, end in spans), 0.0)

    def causes(
        self, now: float, leg_at: float, progress_at: float, deadline_seconds: float
    ) -> Iterator[Cause]:
        """Yield a cause where too little was seen of a leg to blame the version for its lateness.

        A version that was seen for its whole deadline without any progress is late by itself.
        """
        leg_seconds = now - leg_at
        missing_seconds = self.seconds(leg_at, now)
        if missing_seconds < max(LEAST_SECONDS, LEAST_SHARE * leg_seconds):
            return
        still_seconds = now - progress_at
        if still_seconds - self.seconds(progress_at, now) >= deadline_seconds:
            return
        text = "nothing of it could be read from the API server for"
        said = f"{text} {missing_seconds:.0f} s of {leg_seconds:.0f} s"
        yield Cause(Reason.UNREACHABLE, CleanText(said))
