"""How long an attempt is in each phase, and how fast it rolls back: a fold of its states. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace

from gate.core.attempt.parts import Purpose
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.plan.leg import Leg
from gate.metrics.families import PREPARING

Place = tuple[Leg, str]
_BEFORE: Place = (Leg.FORWARD, PREPARING)


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of a run's attempts; times are on the attempts' clock.

    `since` is when the phase `place` began. `evidence_at` is when the evidence against the new
    version was first seen, infinity while there is none; `delay_seconds` is the time from there to
    the first write of the way back, None if there was no such write.
    """

    since: float
    place: Place = _BEFORE
    spent: FrozenMap[Place, float] = field(default_factory=FrozenMap)
    evidence_at: float = math.inf
    delay_seconds: float | None = None

    def after_step(self, attempt: Attempt) -> Phases:
        """Return the phases after a step; if it passes several states, only the last counts."""
        after = self._with_place_of(attempt)
        if self.place == _BEFORE:
            after = replace(after, evidence_at=math.inf, delay_seconds=None)
        if attempt.course.leg is Leg.FORWARD:
            return replace(after, evidence_at=_evidence_at(after.evidence_at, attempt))
        written_at = attempt.writes.rollback_written_at
        if written_at is None or after.delay_seconds is not None:
            return after
        evidence_at = min(after.evidence_at, attempt.course.leg_at)
        return replace(after, delay_seconds=max(0.0, written_at - evidence_at))

    def durations(self, now: float) -> Mapping[Place, float]:
        """Return the seconds of each phase up to `now`, in the order in which they began."""
        return self._with(now)

    def _with_place_of(self, attempt: Attempt) -> Phases:
        place = (attempt.course.leg, str(attempt.course.state.value))
        if place == self.place:
            return self
        spent = self._with(attempt.now)
        place = _BEFORE if attempt.course.state is State.ENDED else place
        return replace(self, since=attempt.now, place=place, spent=spent)

    def _with(self, now: float) -> FrozenMap[Place, float]:
        spent = self.spent.get(self.place, 0.0) + max(0.0, now - self.since)
        return self.spent.put(self.place, spent)


def _evidence_at(known: float, attempt: Attempt) -> float:
    """Return when confirming a failure began; infinity once it is refuted."""
    if attempt.course.state is State.CONFIRMING and attempt.course.purpose is Purpose.FAILURE:
        return min(known, attempt.course.confirming_since, attempt.now)
    return math.inf
