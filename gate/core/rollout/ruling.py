"""What the judge said of a rollout, and until when nobody needs to ask again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from itertools import chain, repeat
from operator import attrgetter, is_

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.rollout.judge import Rollout
from gate.core.rollout.verdict import Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class Ruling:
    """What `Rollout.ruling` returned for a rollout, and until when that holds without asking.

    `wakes_at` is `Rollout.wake_at` at the same moment; `is_lasting` is whether time alone changes
    nothing in it before that.
    """

    rollout: Rollout
    verdict: Verdict | None
    wakes_at: float
    is_lasting: bool

    @classmethod
    def of(cls, rollout: Rollout, now: float) -> Ruling:
        """Ask the judge."""
        verdict = rollout.ruling(now)
        is_lasting = verdict is None or verdict.kind is VerdictKind.COMPLETE
        return cls(rollout, verdict, rollout.wake_at(now), is_lasting)

    def stands(self, rollout: Rollout, now: float) -> bool:
        """Tell whether the judge would repeat it word for word; a failure's text has a duration."""
        return self.rollout is rollout and now < self.wakes_at and self.is_lasting


@dataclass(frozen=True, slots=True)
class Rulings:
    """The rulings of some rollouts, in their order; `wakes_at` is the soonest time of all.

    `verdicts` are those of `all` by workload.
    """

    rollouts: Mapping[Ref, Rollout]
    all: tuple[Ruling, ...] = ()
    verdicts: FrozenMap[Ref, Verdict | None] = field(default_factory=FrozenMap)
    wakes_at: float = math.inf
    is_lasting: bool = True

    def at(self, rollouts: Mapping[Ref, Rollout], now: float) -> Rulings:
        """Return the rulings of `rollouts` at `now`; judges only those that it has to."""
        if rollouts is self.rollouts and self.is_lasting and now < self.wakes_at:
            return self
        is_same_set = len(rollouts) == len(self.all) and all(map(is_, rollouts, self.rollouts))
        if now < self.wakes_at and is_same_set:
            return self._judge_changed(rollouts, now)
        known = chain(self.all, repeat(None))
        rulings = tuple(
            ruling
            if ruling is not None and ruling.stands(rollout, now)
            else Ruling.of(rollout, now)
            for rollout, ruling in zip(rollouts.values(), known, strict=False)
        )
        verdicts = zip(rollouts, (one.verdict for one in rulings), strict=True)
        return Rulings._of(rollouts, rulings, FrozenMap(verdicts))

    def _judge_changed(self, rollouts: Mapping[Ref, Rollout], now: float) -> Rulings:
        """Return the rulings while no clock has run out: nearly all stand as they are.

        An event changes one rollout of perhaps hundreds, and each step asks.
        """
        same = map(is_, rollouts.values(), self.rollouts.values())
        again = [number for number, is_same in enumerate(same) if not is_same]
        if not self.is_lasting:
            again += [number for number, one in enumerate(self.all) if not one.is_lasting]
        judged, known = list(rollouts.items()), list(self.all)
        verdicts: dict[Ref, Verdict | None] = {}
        for number in again:
            ref, rollout = judged[number]
            known[number] = ruling = Ruling.of(rollout, now)
            verdicts[ref] = ruling.verdict
        return Rulings._of(rollouts, tuple(known), self.verdicts.put_all(verdicts))

    @classmethod
    def _of(
        cls,
        rollouts: Mapping[Ref, Rollout],
        rulings: tuple[Ruling, ...],
        verdicts: FrozenMap[Ref, Verdict | None],
    ) -> Rulings:
        wakes_at = min(map(attrgetter("wakes_at"), rulings), default=math.inf)
        is_lasting = all(map(attrgetter("is_lasting"), rulings))
        return cls(rollouts, rulings, verdicts, wakes_at, is_lasting)
