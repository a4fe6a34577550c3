"""An e-process: evidence about the ratio of two rates that holds whenever one looks.

Of the events of one tick, new has the share `r E1 / (E0 + r E1)` where its rate is `r` times the
old one's. The likelihoods of many ratios multiply over the ticks, each with its own exposures, so
that shares of traffic may move. Against a ratio stands the mean of the likelihood ratios of 24
others beyond it: where that ratio is the true one, it ever reaches `t` with a probability of at
most `1 / t` (Ville). For counts: Lindon and Malek 2022; for the mixture: Howard and Ramdas 2022.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Protocol

from gate.core.frozen import dataclass

ALTERNATIVES: Final = 24
_REACH: Final = 6.4
"""The farthest alternative is so many times the ratio that it is held against."""
STEP: Final = math.log(_REACH) / ALTERNATIVES
_FIRST: Final = -2 * ALTERNATIVES
_LAST: Final = 2 * ALTERNATIVES
_ABOVE: Final = range(1, ALTERNATIVES + 1)
_BELOW: Final = range(-ALTERNATIVES, 0)
_LEAST_WEIGHT: Final = 1e-290
"""Below it floating point loses digits."""


@dataclass(frozen=True, slots=True)
class RatioLikelihoods:
    """The log-likelihood of each ratio `anchor e^(k step)`, k from -48 to 48, for each anchor.

    The anchors are the ratios that are decided about, of which the evidence is exact.
    """

    anchors: tuple[float, ...] = ()
    logs: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def about(cls, *anchors: float) -> RatioLikelihoods:
        """Begin without evidence."""
        return cls(anchors, ((0.0,) * (_LAST - _FIRST + 1),) * len(anchors))

    def plus(self, new: tuple[float, float], old: tuple[float, float]) -> RatioLikelihoods:
        """Add a tick in which both sides had events: bad ones and all, of each."""
        (bad_new, total_new), (bad_old, total_old) = new, old
        if not self.anchors or not bad_new + bad_old:
            return self
        odds, bad = total_new / total_old, bad_new + bad_old
        of_odds = bad_new * math.log(odds)
        logs = tuple(
            tuple(
                [
                    before + of_odds + bad_new * log_ratio - bad * math.log1p(ratio * odds)
                    for before, (ratio, log_ratio) in zip(known, _ratios(anchor), strict=True)
                ]
            )
            for anchor, known in zip(self.anchors, self.logs, strict=True)
        )
        return RatioLikelihoods(self.anchors, logs)

    def log_evidence_above(self, anchor: float, steps: int = 0, dispersion: float = 1.0) -> float:
        """Return the evidence that the true ratio is above the anchor, or so many steps from it."""
        return self._log_evidence(anchor, steps, _ABOVE, dispersion)

    def log_evidence_below(self, anchor: float, steps: int = 0, dispersion: float = 1.0) -> float:
        """Return the evidence that it is below."""
        return self._log_evidence(anchor, steps, _BELOW, dispersion)

    def lower_end(self, anchor: float, threshold: float, dispersion: float = 1.0) -> float:
        """Return the largest ratio that is refuted from above, by steps; 0.0 if none is."""
        descending = range(_LAST - ALTERNATIVES, _FIRST - 1, -1)
        end = self._first_refuted(anchor, descending, _ABOVE, math.log(threshold), dispersion)
        return 0.0 if end is None else anchor * math.exp(end * STEP)

    def upper_end(self, anchor: float, threshold: float, dispersion: float = 1.0) -> float:
        """Return the smallest ratio that is refuted from below, by steps; infinity if none is."""
        ascending = range(_FIRST + ALTERNATIVES, _LAST + 1)
        end = self._first_refuted(anchor, ascending, _BELOW, math.log(threshold), dispersion)
        return math.inf if end is None else anchor * math.exp(end * STEP)

    def _first_refuted(
        self, anchor: float, steps: range, others: range, wanted: float, dispersion: float
    ) -> int | None:
        """Return the first of `steps` against which the evidence is as strong as wanted."""
        logs = self.logs[self.anchors.index(anchor)]
        peak = max(logs)
        # All windows of alternatives share their exponentials: this is done at each look.
        weights = [math.exp((log - peak) / dispersion) for log in logs]
        for step in steps:
            at = step - _FIRST
            weight = sum(weights[at + others.start : at + others.stop]) / ALTERNATIVES
            if weight < _LEAST_WEIGHT:
                evidence = self._log_evidence(anchor, step, others, dispersion)
            else:
                evidence = math.log(weight) - (logs[at] - peak) / dispersion
            if evidence >= wanted:
                return step
        return None

    def _log_evidence(
        self, anchor: float, steps: int, offsets: Iterable[int], dispersion: float
    ) -> float:
        logs = self.logs[self.anchors.index(anchor)]
        at = steps - _FIRST
        return log_mean([(logs[at + offset] - logs[at]) / dispersion for offset in offsets])


NO_LIKELIHOODS: Final = RatioLikelihoods()


class Likelihoods(Protocol):
    """What a decision asks of the evidence of all ticks."""

    def log_evidence_above(self, anchor: float, steps: int = 0, dispersion: float = 1.0) -> float:
        """Return the evidence that the true ratio is above the anchor."""

    def log_evidence_below(self, anchor: float, steps: int = 0, dispersion: float = 1.0) -> float:
        """Return the evidence that it is below."""


def log_evidence_of_sums(ratio: float, odds: float, bad_new: float, bad_old: float) -> float:
    """Return the evidence that the true ratio is above `ratio`, had all come in one tick.

    `odds` are new's total to old's.
    """
    null = _log_likelihood(ratio * odds, bad_new, bad_old)
    others = (ratio * math.exp(steps * STEP) for steps in range(1, ALTERNATIVES + 1))
    return log_mean([_log_likelihood(one * odds, bad_new, bad_old) - null for one in others])


@lru_cache(maxsize=64)
def _ratios(anchor: float) -> tuple[tuple[float, float], ...]:
    """Return the ratios about an anchor, each with its logarithm."""
    logs = [math.log(anchor) + steps * STEP for steps in range(_FIRST, _LAST + 1)]
    return tuple((math.exp(log), log) for log in logs)


def _log_likelihood(odds: float, bad_new: float, bad_old: float) -> float:
    """Return the logarithm of `share^new (1 - share)^old`, where new has these odds."""
    return bad_new * math.log(odds) - (bad_new + bad_old) * math.log1p(odds)


def log_mean(logs: list[float]) -> float:
    """Return the logarithm of the mean, without overflow."""
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(one - largest) for one in logs) / len(logs))
