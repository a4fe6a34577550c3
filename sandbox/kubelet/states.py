"""What a container can be, the steps from one to the next, and how long a node waits between tries.

A `Pace` is true to a node, or shortened for real time: both go through the same states with the
same messages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

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


FOR_EVER: Final = math.inf
PULL_FAILED: Final = "ErrImagePull"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The container does not run yet, or not again yet."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """The container runs; `ready` is its readiness probe's word."""

    ready: bool


@dataclass(frozen=True, slots=True)
class Terminated:
    """The container ended."""

    exit_code: int
    reason: str
    message: str = ""


State = Waiting | Running | Terminated


@dataclass(frozen=True, slots=True)
class Note:
    """What the kubelet says about it in an Event; `container` is empty for the pod itself."""

    reason: str
    message: str
    type: str = "Warning"
    container: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A state, how long it stands, and what is said when it begins."""

    state: State
    seconds: float = FOR_EVER
    notes: tuple[Note, ...] = ()

    @property
    def is_try(self) -> bool:
        """Whether the kubelet has just tried to start the container, well or not."""
        return isinstance(self.state, Running) or (
            isinstance(self.state, Waiting) and self.state.reason == PULL_FAILED
        )


Script = Iterator[Step]


@dataclass(frozen=True, slots=True)
class Part:
    """The container that a script is for; `pod` is `NAME_NAMESPACE(UID)`, as kubelets write it.

    `restarts` after a failure; `serves` means that it is not supposed to end at all.
    `configuration` is the first Secret that it needs, or ConfigMap, in a kubelet's words.
    """

    name: str
    image: str
    pod: str
    restarts: bool
    serves: bool
    pace: Pace
    configuration: str = "secret"
