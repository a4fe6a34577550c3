"""How long a node waits before it tries again: true to a node, or shortened for real time.

Both go through the same states with the same messages; only the waits differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

NODE_BACK_OFF_SECONDS = (10, 20, 40, 80, 160, 300)
"""What the messages of a kubelet tell: 10 s, doubled up to 5 min (`MaxContainerBackOff`)."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The waits of a node.

    `back_off_seconds` from a failure to the next try (the first restart comes at once), the last
    one over and over; `seen_seconds` is how long a state stands that passes by itself: a
    container's end, a failed pull. `end_seconds` is how long a pod takes to go that is told to.
    """

    back_off_seconds: tuple[float, ...]
    seen_seconds: float
    end_seconds: float

    NODE: ClassVar[Pace]
    SHORT: ClassVar[Pace]

    @property
    def forgives_after_seconds(self) -> float:
        """A container that ran longer begins anew: twice the longest wait (client-go `Backoff`)."""
        return 2 * self.back_off_seconds[-1]

    def back_off(self, attempt: int) -> float:
        """Return how long the state stands that waits for try `attempt`, from 1.

        The wait counts from what failed, which was seen for a moment already.
        """
        seconds = self.back_off_seconds[min(attempt, len(self.back_off_seconds)) - 1]
        return seconds - self.seen_seconds


Pace.NODE = Pace(tuple(map(float, NODE_BACK_OFF_SECONDS)), seen_seconds=1.0, end_seconds=1.0)
Pace.SHORT = Pace((0.5, 1.0, 2.0, 4.0, 5.0), seen_seconds=0.1, end_seconds=0.03)


def told_back_off(attempt: int) -> str:
    """Return the wait before try `attempt`, from 1, as a node's messages tell it: `2m40s`."""
    seconds = NODE_BACK_OFF_SECONDS[min(attempt, len(NODE_BACK_OFF_SECONDS)) - 1]
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
