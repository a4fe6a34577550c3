"""What a comparison by counts could show, before there is anything to count: simulated rollouts.

Each is judged by the gate's own decision, look by look. What would suffice is found by playing
again: the log odds of finding a ratio grow about with the root of the traffic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

from gate.core.frozen import dataclass
from gate.core.statistics.count_decision import CountRule, End, judge
from gate.core.statistics.count_estimate import MOST_RATIO, POWER
from gate.core.statistics.simulated_looks import Draws, PlannedTraffic, Uniform, draws_of
from gate.core.statistics.simulated_rollout import Alternatives, DecisionBounds, SimulatedRollout

MOST_ROLLOUTS: Final = 1000
LEAST_ROLLOUTS: Final = 100
_LOOKS_PLAYED: Final = {True: 60_000, False: 30_000}
"""So many looks are played for a ratio, by whether the phase's length is known."""
_SEARCHING: Final = 0.3
"""The share of them that a step of a search plays."""
_STEPS: Final = 8
_STRIDE: Final = 1.5
_NEAR: Final = 0.02
"""A search ends where the chance is so close to what is asked for."""
_SURE: Final = 0.98
_DEVIATIONS: Final = 1.96
NEVER: Final = math.inf

Begin = Callable[[], Uniform]
"""Returns a source of chance from its beginning."""


@dataclass(frozen=True, slots=True)
class Chances:
    """What became of simulated rollouts of one true ratio.

    `share` of all, from 0 to 1, have come to the end that was waited for, and half of all have by
    the look `half_at`; infinity for never.
    """

    share: float
    half_at: float
    rollouts: int

    @property
    def error(self) -> float:
        """How far a share may be off by chance, at most, with 95 %."""
        return _DEVIATIONS * math.sqrt(0.25 / self.rollouts)


def chances_to_fail(
    rule: CountRule, traffic: PlannedTraffic, ratio: float, begin: Begin, effort: float = 1.0
) -> Chances:
    """Play rollouts of a version whose true rate is `ratio` times old's, until each has failed.

    `effort` is how much of the usual number of looks is played, from which the number of rollouts
    follows. ValueError if one version gets all of the traffic.
    """
    game, uniform = _Game.of(rule, traffic, ratio), begin()
    rollouts = count_rollouts(rule, traffic.looks, effort)
    return _chances([game.play_to_failure(uniform) for _ in range(rollouts)])


def chances_to_pass(rule: CountRule, traffic: PlannedTraffic, begin: Begin) -> Chances:
    """Play rollouts of an equal version, until each has passed; one that fails first does not."""
    game, uniform = _Game.of(rule, traffic, 1.0), begin()
    rollouts = count_rollouts(rule, traffic.looks, 1.0)
    return _chances([game.play_to_pass(uniform) for _ in range(rollouts)])


def count_rollouts(rule: CountRule, looks: int, effort: float) -> int:
    """Return how many rollouts of so many looks are played."""
    played = _LOOKS_PLAYED[rule.known_length] * effort
    return int(min(MOST_ROLLOUTS, max(LEAST_ROLLOUTS, played / looks)))


def _chances(ends: list[float]) -> Chances:
    ends.sort()
    share = sum(at < NEVER for at in ends) / len(ends)
    return Chances(share, ends[len(ends) // 2], len(ends))


@dataclass(frozen=True, slots=True)
class _Game:
    """The rollouts of one ratio."""

    rule: CountRule
    bounds: DecisionBounds
    draws: list[tuple[Draws, Draws]]
    above: Alternatives | None
    below: Alternatives | None

    @classmethod
    def of(cls, rule: CountRule, traffic: PlannedTraffic, ratio: float) -> _Game:
        shares = [traffic.share_at(look) for look in range(1, traffic.looks + 1)]
        if not all(0 < share < 1 for share in shares):
            raise ValueError("one of the versions gets no traffic")
        odds = [share / (1 - share) for share in shares]
        above = below = None
        if not rule.known_length:
            above = Alternatives.beyond(rule.tolerated, 1, odds)
            below = Alternatives.beyond(rule.harm, -1, odds)
        return cls(rule, DecisionBounds.of(rule), draws_of(traffic, ratio), above, below)

    def play_to_failure(self, uniform: Uniform) -> float:
        """Return at which look a rollout fails, NEVER for not."""
        for look, seen in self._looks(uniform):
            over = look == len(self.draws)
            if self.bounds.may_be_worse(seen, at_the_end=over) and (
                judge(self.rule, seen, at_the_end=over) is End.WORSE
            ):
                return look
        return NEVER

    def play_to_pass(self, uniform: Uniform) -> float:
        """Return at which look a rollout passes, NEVER for not and for one that fails before."""
        for look, seen in self._looks(uniform):
            over = look == len(self.draws)
            may_end = self.bounds.may_not_be_harmful(seen) or self.bounds.may_be_worse(
                seen, at_the_end=over
            )
            end = judge(self.rule, seen, at_the_end=over) if may_end else End.UNDECIDED
            if end is not End.UNDECIDED:
                return look if end is End.NOT_HARMFUL else NEVER
        return NEVER

    def _looks(self, uniform: Uniform) -> Iterator[tuple[int, SimulatedRollout]]:
        """Yield the same rollout after each look."""
        seen = SimulatedRollout(self.above, self.below)
        for look, (new, old) in enumerate(self.draws, 1):
            seen.add(new.draw(uniform), old.draw(uniform))
            yield look, seen


# -- what would suffice ----------------------------------------------------------------------------


def smallest_found(rule: CountRule, traffic: PlannedTraffic, begin: Begin) -> float | None:
    """Return the smallest ratio that is found four times in five, None for none up to 100."""
    most = min(MOST_RATIO, 1 / traffic.rate) if traffic.rate else 0.0
    if most <= rule.tolerated:
        return None

    def chance(log_beyond: float) -> float:
        ratio = rule.tolerated * math.exp(log_beyond)
        return chances_to_fail(rule, traffic, ratio, begin, _SEARCHING).share

    found = _search(chance, math.log(2), math.log(most / rule.tolerated))
    return None if found is None else rule.tolerated * math.exp(found)


def looks_to_find(
    rule: CountRule, traffic: PlannedTraffic, ratio: float, begin: Begin, most: int
) -> int | None:
    """Return about how many looks find a ratio four times in five, None for over `most`."""

    def chance(root: float) -> float:
        looks = max(1, round(root * root))
        return chances_to_fail(rule, traffic.with_looks(looks), ratio, begin, _SEARCHING).share

    found = _search(chance, math.sqrt(traffic.looks), math.sqrt(most))
    return None if found is None else math.ceil(found * found)


def events_to_find(
    rule: CountRule, traffic: PlannedTraffic, ratio: float, begin: Begin, most: float
) -> float | None:
    """Return about how many events a look find a ratio four times in five, None for over `most`."""

    def chance(root: float) -> float:
        return chances_to_fail(
            rule, traffic.with_events(root * root), ratio, begin, _SEARCHING
        ).share

    found = _search(chance, math.sqrt(traffic.events), math.sqrt(most))
    return None if found is None else found * found


def _search(chance: Callable[[float], float], start: float, most: float) -> float | None:
    """Return about where a chance that grows reaches POWER; None if it does not do so by `most`.

    Its log odds are taken to grow evenly from one place to the next.
    """
    low, high = (0.0, -math.inf), (most, math.inf)
    at = min(start, most)
    for _ in range(_STEPS):
        found = chance(at)
        if abs(found - POWER) <= _NEAR:
            return at
        miss = _log_odds(found) - _log_odds(POWER)
        low, high = ((at, miss), high) if miss < 0 else (low, (at, miss))
        if low[0] == most:
            return None
        at = _between(low, high, at, most)
    return high[0] if math.isfinite(high[1]) else None


def _log_odds(chance: float) -> float:
    kept = min(_SURE, max(1 - _SURE, chance))
    return math.log(kept / (1 - kept))


def _between(low: tuple[float, float], high: tuple[float, float], at: float, most: float) -> float:
    """Return the next place to try: on the line between both ends, or half as far again."""
    if not math.isfinite(high[1]):
        return min(most, at * _STRIDE)
    if not math.isfinite(low[1]):
        return at / _STRIDE
    return low[0] + (high[0] - low[0]) * -low[1] / (high[1] - low[1])
