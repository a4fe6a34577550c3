"""What the live tree shows at one moment: plain values, without a clock or a terminal."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from gate.core.frozen import dataclass
from gate.report.kinds import registry
from gate.report.kinds.kind import WorkloadWords


class Mark(enum.Enum):
    """The state of something, for a sign and a colour; what to notice first comes first."""

    BAD = "bad"
    UNSURE = "unsure"
    MOVING = "moving"
    GOOD = "good"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod and, in words, why it is as it is."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Similar pods: `kind` says of all of them what `words` says of each."""

    mark: Mark
    kind: str
    pods: tuple[PodView, ...]


@dataclass(frozen=True, slots=True)
class RevisionView:
    """What holds a version; `trouble` is why it can make no pods.

    `role` is new, old, failed or back, of what no attempt rolls out current or other. `short` is
    its name without that of its workload. `groups` are in the order in which they are shown, what
    is wrong first.
    """

    role: str
    name: str
    short: str
    images: str
    ready: int
    wanted: int
    groups: tuple[PodGroup, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadView:
    """A workload: how far it is, the most telling cause of trouble, its versions with pods."""

    name: str
    namespace: str
    mark: Mark
    words: str
    cause: str = ""
    revisions: tuple[RevisionView, ...] = ()
    kind: WorkloadWords = registry.DEFAULT


@dataclass(frozen=True, slots=True)
class CheckView:
    """A health check: `value` is what it measured last, or why it did not, `bound` what is good."""

    name: str
    mark: Mark
    value: str
    bound: str
    often: str = ""


@dataclass(frozen=True, slots=True)
class ClockView:
    """A clock that runs towards its limit; `welcome` if that is good, as for a bake window."""

    label: str
    seconds: float
    limit_seconds: float
    welcome: bool = False

    @property
    def share(self) -> float:
        """How much of the limit has elapsed, from 0 to 1."""
        if self.limit_seconds <= 0:
            return 1.0
        return min(1.0, max(0.0, self.seconds / self.limit_seconds))


@dataclass(frozen=True, slots=True)
class View:
    """The whole: what is being done in one line, for how many seconds, and to what."""

    phase: str
    mark: Mark
    seconds: float
    workloads: Sequence[WorkloadView] = ()
    checks: Sequence[CheckView] = ()
    clocks: Sequence[ClockView] = ()
