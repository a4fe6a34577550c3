"""What a comparison by counts is expected to see: how long, of how much traffic, in which shares.

Pods are taken to get equal shares of the requests. Which of them stay old is the workload's own
strategy: a partition leaves some, a rolling update none.
"""

from __future__ import annotations

import enum
import math
from typing import Final

from gate.core.checks.spec import Check, ComparedPods, Counts, During
from gate.core.frozen import dataclass
from gate.core.model.objects import Workload
from gate.core.statistics.count_decision import LEAST_TICKS, CountRule
from gate.core.statistics.simulated_looks import PlannedTraffic

MOST_LOOKS: Final = 2160
"""The longest phase that is simulated: six hours at 10 s, which takes about half a minute."""
_LEAST_SHARE: Final = 0.01
"""A rolling update is taken to begin and to end with so little of the traffic on one side."""


class ExposureOrigin(enum.StrEnum):
    """Whence it is known which part of the traffic each version gets."""

    FLAG = "flag"
    STRATEGY = "strategy"
    ROLLING_UPDATE = "rolling-update"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why nothing can be compared as planned, and what would help."""

    why: str
    way_out: str


_KEEP_OLD_PODS: Final = "keep old pods by a partition, or say by --exposure which part they get"
NO_NEW_POD: Final = Obstacle(
    "no pod of the new version is planned",
    "lower the partition, or say by --exposure which part each version gets",
)
UNKNOWN_FRESH_PODS: Final = Obstacle(
    "how many old pods will be started with the new ones is not known before",
    "say by --exposure which part they get",
)
NO_OLD_POD: Final = Obstacle(
    "a rolling update leaves no pod of the old version in the bake window", _KEEP_OLD_PODS
)


@dataclass(frozen=True, slots=True)
class Exposure:
    """The parts of the traffic that both versions get, as pods or as in `1:9`.

    In a rolling update they move from one to the other, and `old` is 0.
    """

    new: float
    old: float
    origin: ExposureOrigin

    @property
    def shares(self) -> tuple[float, float]:
        """The new version's share of the traffic at the beginning, and at the end."""
        if self.origin is ExposureOrigin.ROLLING_UPDATE:
            return _LEAST_SHARE, 1 - _LEAST_SHARE
        share = self.new / (self.new + self.old)
        return share, share


def exposure_of(workload: Workload) -> Exposure:
    """Return what a workload's strategy makes of its pods, as it stands."""
    old = min(workload.replicas, workload.old_pods_kept)
    origin = ExposureOrigin.STRATEGY if old else ExposureOrigin.ROLLING_UPDATE
    return Exposure(workload.replicas - old, old, origin)


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """One check, and what is expected: events of both versions a second, old's share of bad ones.

    `phase_seconds` is how long the check runs, with both versions serving. Where a rolling update
    moves the traffic meanwhile it is how long both serve: then the check runs before and after.
    """

    check: Check
    exposure: Exposure
    per_second: float
    rate: float
    phase_seconds: float

    @property
    def rule(self) -> CountRule:
        """What the check decides by; TypeError for one that does not count."""
        if not isinstance(self.check.probe, Counts):
            raise TypeError(f"{self.check.name} compares no counts")
        return self.check.probe.rule

    @property
    def _is_fresh(self) -> bool:
        probe = self.check.probe
        return isinstance(probe, Counts) and probe.compared_pods is ComparedPods.FRESH

    @property
    def _moves(self) -> bool:
        """Whether the check sees all of the time for which both versions serve, and more."""
        rolls = self.exposure.origin is ExposureOrigin.ROLLING_UPDATE
        return rolls and self.check.schedule.during is not During.BAKE

    @property
    def looks(self) -> int:
        """How often the check looks, after the reading where counting starts."""
        if not self._moves:
            return looks_within(self.check, self.phase_seconds)
        counted = self.phase_seconds - self._warm_up_seconds
        return max(0, math.floor(counted / self.check.schedule.interval_seconds))

    @property
    def _warm_up_seconds(self) -> float:
        probe = self.check.probe
        return probe.warm_up_seconds if isinstance(probe, Counts) else 0.0

    @property
    def traffic(self) -> PlannedTraffic:
        """The same from look to look."""
        first, last = self.exposure.shares
        events = self.per_second * self.check.schedule.interval_seconds
        return PlannedTraffic(events, self.rate, self.looks, first, last)

    def seconds_at(self, look: float) -> float:
        """Return when a look is, in seconds since the phase began."""
        schedule = self.check.schedule
        delay = self._warm_up_seconds if self._moves else schedule.initial_delay_seconds
        return delay + look * schedule.interval_seconds

    def phase_of(self, looks: int) -> float:
        """Return how long a phase of so many looks is, in seconds."""
        return self.seconds_at(looks if self._moves else looks + 1)

    @property
    def is_too_short(self) -> bool:
        """Whether fewer looks than decide anything are all that is in the way."""
        return self._lack_of_pods is None and self.looks < LEAST_TICKS

    @property
    def obstacle(self) -> Obstacle | None:
        """Why nothing can be compared as planned, None if something can."""
        if self._lack_of_pods is not None:
            return self._lack_of_pods
        if self.is_too_short:
            looks = "1 look decides" if self.looks == 1 else f"{self.looks} looks decide"
            longer = "more time with both versions" if self._moves else "a longer --bake"
            why = f"{looks} nothing: {LEAST_TICKS} are needed"
            return Obstacle(why, f"{longer}, or a shorter interval")
        if self.looks > MOST_LOOKS:
            why = f"{self.looks:,} looks are more than the {MOST_LOOKS:,} that are simulated"
            return Obstacle(why, "a shorter --bake, or a longer interval")
        return None

    @property
    def _lack_of_pods(self) -> Obstacle | None:
        if self.exposure.new <= 0:
            return NO_NEW_POD
        if self._is_fresh and self.exposure.origin is not ExposureOrigin.FLAG:
            return UNKNOWN_FRESH_PODS
        moves = self.exposure.origin is ExposureOrigin.ROLLING_UPDATE
        if moves and self.check.schedule.during is During.BAKE:
            return NO_OLD_POD
        return None


def looks_within(check: Check, seconds: float) -> int:
    """Return how many looks after the first reading are before the end of a phase."""
    schedule = check.schedule
    counted = (seconds - schedule.initial_delay_seconds) / schedule.interval_seconds
    return max(0, math.ceil(counted) - 1)
