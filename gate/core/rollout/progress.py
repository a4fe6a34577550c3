"""The two clocks of an attempt: no progress, and the total.

Both are the gate's own monotonic time; the server's timestamps are whole seconds of another
clock and decide nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gate.core.model.int_or_percent import Share
from gate.core.model.objects import NO_DEADLINE_SECONDS, Deployment
from gate.core.rollout.snapshot import Snapshot

CONDITION_LAG_SECONDS = 5.0
"""The controller writes its condition up to 2 s late; the gate's own clock lets it speak first."""
SHORTEST_TOTAL_SECONDS = 900.0
LONGEST_TOTAL_SECONDS = 7200.0


@dataclass(frozen=True, slots=True)
class Progress:
    """High-water marks of the followed ReplicaSet, the low one of the old; when one last moved.

    Marks instead of current numbers: pods that flap between ready and not ready are no progress.
    `first_available_at` is when the first of the followed ReplicaSet's pods was seen available,
    `blind_seconds` how much of the time until `last_at` did not count.
    """

    last_at: float
    followed_uid: str = ""
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
        marks = self._with_marks(snapshot)
        moved = marks is not self or live.paused or self.paused or self.complete > complete
        if not moved and complete == self.complete:
            return self
        first = marks.first_available_at
        return replace(
            marks,
            last_at=at if moved else self.last_at,
            blind_seconds=blind_seconds if moved else self.blind_seconds,
            paused=live.paused,
            complete=complete,
            first_available_at=at if first is None and marks.available else first,
        )

    def _with_marks(self, snapshot: Snapshot) -> Progress:
        """Return the marks, `self` if none moved."""
        current, uid = snapshot.current(), snapshot.current_uid
        same = uid == self.followed_uid
        old = sum(rs.replicas for rs in snapshot.list_owned() if rs.uid != uid)
        if same and self.old_replicas is not None:
            old = min(self.old_replicas, old)
        counted = (0, 0, 0)
        if current is not None:
            counted = (current.status_replicas, current.ready_replicas, current.available_replicas)
        before = (self.created, self.ready, self.available) if same else (0, 0, 0)
        created, ready, available = map(max, before, counted)
        if same and (created, ready, available, old) == (*before, self.old_replicas):
            return self
        first = self.first_available_at if same else None
        return Progress(
            self.last_at,
            uid,
            created,
            ready,
            available,
            old,
            self.paused,
            first_available_at=first,
            blind_seconds=self.blind_seconds,
        )


def stalled_at(progress: Progress, deployment: Deployment) -> float:
    """Return when lack of progress fires: never while paused or without a deadline.

    The time is that of `Blindness.clock`.
    """
    deadline = deployment.progress_deadline_seconds
    if deployment.paused or deadline >= NO_DEADLINE_SECONDS:
        return math.inf
    return progress.last_clock + deadline + CONDITION_LAG_SECONDS


def step_size(deployment: Deployment) -> int:
    """Return how many pods one step of the rollout replaces, at least 1.

    RollingUpdate: surge rounded up and unavailable rounded down, as the controller resolves
    them; Recreate: all of them.
    """
    if deployment.recreate:
        return max(1, deployment.replicas)
    surge = Share.parse(deployment.max_surge).of(deployment.replicas, round_up=True)
    unavailable = Share.parse(deployment.max_unavailable).of(deployment.replicas, round_up=False)
    return max(1, surge + unavailable)


def longest_legal_seconds(deployment: Deployment) -> float:
    """Return how long the rollout can legally take: the total budget `auto`.

    Steps x (progress deadline + minReadySeconds), between 15 minutes and 2 hours.
    """
    steps = math.ceil(max(1, deployment.replicas) / step_size(deployment))
    a_step = deployment.progress_deadline_seconds + deployment.min_ready_seconds
    return min(LONGEST_TOTAL_SECONDS, max(SHORTEST_TOTAL_SECONDS, float(steps * a_step)))
