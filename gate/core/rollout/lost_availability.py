"""Availability that a version has lost for good after it was complete.

It counts pods of the followed revision that were ready, still exist, are not being deleted, and
whose node still reports; all of these should be ready. So a drain, one slow restart, an autoscaler
that adds pods and a lost node are no loss. `maxUnavailable` is no measure: a quarter of up to three
pods rounds down to none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.rollout.pod_history import PodTrack

LEAST_SECONDS = 15.0
"""The shortest grace: a version that starts at once may still restart."""
STARTS = 1.5
"""The grace in which nothing needs to be ready, as a multiple of this version's slowest start."""
SOME_LEFT_SECONDS = 60.0
"""How much longer several pods may be lost while others serve."""
SEVERAL_PODS = 2


@dataclass(frozen=True, slots=True)
class Availability:
    """Which of the pods that served are lost; times are by the clock of `Blindness`.

    `served` is how many count, `lost_at` when each unready one lost its readiness, in order.
    `grace_seconds` is how long a version like this one may take to come back.
    """

    served: int
    lost_at: tuple[float, ...]
    grace_seconds: float

    @classmethod
    def of(cls, tracks: Iterable[PodTrack], deadline_seconds: float) -> Availability:
        """Compute it from the pods of a version.

        A start longer than the progress deadline does not count: nobody saw that pod start, it lost
        its readiness later, and its status says when it came back.
        """
        known = tuple(tracks)
        startup_seconds = (track.start_seconds or 0.0 for track in known)
        starts = [seconds for seconds in startup_seconds if seconds <= deadline_seconds]
        served = [track for track in known if track.has_served]
        lost = sorted(track.unready_since for track in served if not track.pod.ready)
        grace = max(LEAST_SECONDS, STARTS * max(starts, default=0.0))
        return cls(len(served), tuple(lost), grace)

    def times(self) -> Iterator[float]:
        """Iterate the times from which on availability is lost, if nothing comes back."""
        lost = len(self.lost_at)
        if lost and lost == self.served:
            yield self.lost_at[-1] + self.grace_seconds
        if lost >= SEVERAL_PODS:
            yield self.lost_at[SEVERAL_PODS - 1] + self.grace_seconds + SOME_LEFT_SECONDS

    def find_loss(self, clock: float) -> Cause | None:
        """Return the loss of availability, None while it may come back."""
        if all(clock < at for at in self.times()):
            return None
        lost, served = len(self.lost_at), self.served
        seconds = clock - self.lost_at[-1 if lost == served else SEVERAL_PODS - 1]
        which = f"none of the {served} pods that served is"
        if lost < served:
            which = f"{lost} of the {served} pods that served are not"
        text = CleanText(f"{which} ready any more, for {seconds:.0f} s")
        return Cause(Reason.AVAILABILITY_LOST, text, lost)
