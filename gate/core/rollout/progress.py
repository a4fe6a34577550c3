"""The two clocks of an attempt: no progress, and the total.

Both are the gate's own monotonic time; the server's timestamps are whole seconds of another
clock and decide nothing.
"""

from __future__ import annotations

import math

from gate.core.frozen import dataclass
from gate.core.model.objects import Workload
from gate.core.rollout.snapshot import Snapshot

CONDITION_LAG_SECONDS = 5.0
"""A controller that has a deadline writes it up to 2 s late; the gate's own clock lets it speak
first."""


@dataclass(frozen=True, slots=True)
class Progress:
    """High-water marks of the followed revision, the low one of the old; when one last moved.

    Marks instead of current numbers: pods that flap between ready and not ready are no progress.
    `first_available_at` is when the first of the followed revision's pods was seen available,
    `blind_seconds` how much of the time until `last_at` did not count.
    """

    last_at: float
    followed_key: str = ""
    created: int = 0
    ready: int = 0
    available: int = 0
    old_replicas: int | None = None
    paused: bool = False
    complete: bool = False
    first_available_at: float | None = None
    blind_seconds: float = 0.0

    @property
    def last_clock(self) -> float:
        """When a mark last moved, by the clock that stops while blind."""
        return self.last_at - self.blind_seconds

    def fold(
        self, at: float, snapshot: Snapshot, *, complete: bool = False, blind_seconds: float = 0.0
    ) -> Progress:
        """Return the marks after `snapshot`, which is `complete` or not.

        A pause stops the clock. Its end restarts it, and so does the end of completeness: a version
        that served for an hour has a full deadline to recover.
        """
        live = snapshot.live
        if live is None:
            return self
        marks = self._with_marks(snapshot, live)
        moved = marks is not self or live.paused or self.paused or self.complete > complete
        if not moved and complete == self.complete:
            return self
        first = marks.first_available_at
        return Progress(
            at if moved else self.last_at,
            marks.followed_key,
            marks.created,
            marks.ready,
            marks.available,
            marks.old_replicas,
            live.paused,
            complete,
            at if first is None and marks.available else first,
            blind_seconds if moved else self.blind_seconds,
        )

    def _with_marks(self, snapshot: Snapshot, live: Workload) -> Progress:
        """Return the marks, `self` if none moved."""
        key = snapshot.current_key
        same = key == self.followed_key
        found = snapshot.kind.progress_marks(snapshot, live)
        old = found.old
        if same and self.old_replicas is not None:
            old = min(self.old_replicas, old)
        counted = (found.created, found.ready, found.available)
        before = (self.created, self.ready, self.available) if same else (0, 0, 0)
        created, ready, available = map(max, before, counted)
        if same and (created, ready, available, old) == (*before, self.old_replicas):
            return self
        first = self.first_available_at if same else None
        return Progress(
            self.last_at,
            key,
            created,
            ready,
            available,
            old,
            self.paused,
            first_available_at=first,
            blind_seconds=self.blind_seconds,
        )


def stalled_at(
    progress: Progress, live: Workload, deadline_seconds: float, busy_until: float = -math.inf
) -> float:
    """Return when lack of progress fires, infinite for never: while paused, or without a deadline.

    All times are those of `Blindness.clock`; what is under way until `busy_until` is progress.
    """
    if live.paused:
        return math.inf
    lag_seconds = CONDITION_LAG_SECONDS if live.has_deadline else 0.0
    return max(progress.last_clock, busy_until) + deadline_seconds + lag_seconds
