"""What the judge said of a rollout, and until when nobody needs to ask again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from operator import is_
from typing import Any

from gate.core.rollout.judge import Rollout
from gate.core.rollout.verdict import Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class Ruling:
    """What `Rollout.ruling` returned for a rollout, and until when that holds without asking.

    `wakes_at` is `Rollout.wake_at` at the same moment.
    """

    rollout: Rollout
    verdict: Verdict | None
    wakes_at: float

    @classmethod
    def of(cls, rollout: Rollout, now: float) -> Ruling:
        """Ask the judge."""
        return cls(rollout, rollout.ruling(now), rollout.wake_at(now))

    def stands(self, rollout: Rollout, now: float) -> bool:
        """Tell whether the judge would repeat it word for word; a failure's text has a duration."""
        return self.rollout is rollout and now < self.wakes_at and self.is_lasting

    @property
    def is_lasting(self) -> bool:
        """Whether time alone changes nothing in it before `wakes_at`."""
        return self.verdict is None or self.verdict.kind is VerdictKind.COMPLETE


@dataclass(frozen=True, slots=True)
class Rulings:
    """The rulings of some rollouts, in their order; `wakes_at` is the soonest time of all."""

    rollouts: Mapping[Any, Rollout]
    all: tuple[Ruling, ...] = ()
    wakes_at: float = math.inf
    is_lasting: bool = True

    def at(self, rollouts: Mapping[Any, Rollout], now: float) -> Rulings:
        """Return the rulings of `rollouts` at `now`; judges only those that it has to."""
        if rollouts is self.rollouts and self.is_lasting and now < self.wakes_at:
            return self
        if now < self.wakes_at and len(rollouts) == len(self.all):
            return self._judge_changed(rollouts, now)
        known = chain(self.all, repeat(None))
        return Rulings.of(
            rollouts,
            tuple(
                ruling
                if ruling is not None and ruling.stands(rollout, now)
                else Ruling.of(rollout, now)
                for rollout, ruling in zip(rollouts.values(), known, strict=False)
            ),
        )

    def _judge_changed(self, rollouts: Mapping[Any, Rollout], now: float) -> Rulings:
        """Return the rulings while no clock has run out: nearly all stand as they are.

        An event changes one rollout of perhaps hundreds, and each step asks.
        """
        same = map(is_, rollouts.values(), self.rollouts.values())
        again = [number for number, is_same in enumerate(same) if not is_same]
        if not self.is_lasting:
            again += [number for number, one in enumerate(self.all) if not one.is_lasting]
        judged, known = list(rollouts.values()), list(self.all)
        for number in again:
            known[number] = Ruling.of(judged[number], now)
        return Rulings.of(rollouts, tuple(known))

    @classmethod
    def of(cls, rollouts: Mapping[Any, Rollout], rulings: tuple[Ruling, ...]) -> Rulings:
        """Put the rulings of `rollouts` together."""
        wakes_at = min((one.wakes_at for one in rulings), default=math.inf)
        return cls(rollouts, rulings, wakes_at, all(one.is_lasting for one in rulings))
