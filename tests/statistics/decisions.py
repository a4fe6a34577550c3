"""The decision for many rollouts at once: the gate's rules again, in arrays and with SciPy.

It shares no code with the gate's own check, which is held equal to it on a sample of each cell. The
dispersion, the exact test and the e-process are written again; the constants are the gate's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from scipy.stats import chi2

from gate.core.checks.count_run import CountRun
from gate.core.checks.measurement import Kind
from gate.core.checks.query_template import Query
from gate.core.checks.questions import Answers, Counted, Form, Samples, Series
from gate.core.checks.spec import Counts as Probe
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.statistics.count_decision import (
    EARLY_SHARE,
    LEAST_TICKS,
    PASS_ALPHA,
    PASS_ALPHA_AT_ANY_TIME,
    CountRule,
)
from tests.statistics.traffic import TICK_SECONDS, Counts, Numbers

Flags: TypeAlias = NDArray[np.bool_]
NEVER = 10**9
_TINY = 1e-12
_ALTERNATIVES = 24
_REACH = 6.4
_MOST_JOINED = 6
"""Two scrapes of 30 s, the default."""
_HARDLY_MOVED = 0.03
_COUNTED_BEFORE = (10_000.0, 1_000_000.0)
"""By each version before its first reading: bad ones and all."""


@dataclass(frozen=True, slots=True)
class Ends:
    """At which tick, from 1, each rollout is first shown worse and first shown not harmful."""

    worse: NDArray[np.int64]
    harmless: NDArray[np.int64]


def decide(rule: CountRule, counts: Counts, early_share: float = EARLY_SHARE) -> Ends:
    """Return when each rollout is decided."""
    below = _negligible(rule, counts)
    joined = _join(counts)
    sums = [
        np.cumsum(side, axis=1)
        for side in (joined.bad_new, joined.total_new, joined.bad_old, joined.total_old)
    ]
    bad_new, total_new, bad_old, total_old = sums
    spread = _dispersion((joined.bad_new, joined.total_new), (joined.bad_old, joined.total_old))
    seen = (bad_old > 0) & (total_new > 0)
    if rule.known_length:
        worse, harmless = _exact(rule, joined, spread, early_share)
    else:
        worse, harmless = _any_time(rule, joined, spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = bad_new / total_new - bad_old / total_old > rule.min_delta
    worse &= delta & (bad_new > 0)
    new_served, both_served = (
        np.cumsum(total > 0, axis=1) >= LEAST_TICKS
        for total in (counts.total_new, joined.total_new)
    )
    comparable = harmless & seen & both_served
    return Ends(_first(worse & both_served), _first(comparable | (below & new_served)))


def _first(flags: Flags) -> NDArray[np.int64]:
    return np.where(flags.any(axis=1), flags.argmax(axis=1) + 1, NEVER)


def _dispersion(*sides: tuple[Numbers, Numbers]) -> Numbers:
    """Return Pearson's X^2 of all ticks so far over its tenth percentile, where it is unusual.

    Each side are the bad ones and all.
    """
    spread, degrees = np.zeros_like(sides[0][0]), np.zeros_like(sides[0][0])
    for bad, total in sides:
        total = np.maximum(bad, total)  # noqa: PLW2901 - what counts as a tick's traffic
        squares = np.cumsum(bad**2 / np.maximum(total, _TINY), axis=1)
        events, traffic = np.cumsum(bad, axis=1), np.cumsum(total, axis=1)
        spread += np.where(events > 0, traffic / np.maximum(events, 1) * squares - events, 0)
        degrees += np.maximum(np.cumsum(total > 0, axis=1) - 1, 0)
    usable = np.maximum(degrees, 1)
    unusual = (degrees > 0) & (spread > chi2.ppf(0.9, usable))
    return np.where(unusual, np.maximum(1, spread / chi2.ppf(0.1, usable)), 1)


def _negligible(rule: CountRule, counts: Counts) -> Flags:
    spread = _dispersion((counts.bad_new, counts.total_new))
    bad, total = (np.cumsum(side, axis=1) / spread for side in (counts.bad_new, counts.total_new))
    if not rule.negligible:
        return np.zeros(bad.shape, bool)
    tail = betainc(np.maximum(total - bad, _TINY), bad + 1, 1 - rule.negligible)
    alpha = np.full(bad.shape[1], 0.001)
    alpha[-1] = 0.01
    shown: Flags = (tail <= alpha) & (total > bad)
    return shown


def _exact(
    rule: CountRule, joined: Counts, spread: Numbers, early_share: float
) -> tuple[Flags, Flags]:
    bad_new, bad_old = (np.cumsum(side, axis=1) for side in (joined.bad_new, joined.bad_old))
    mine, theirs = bad_new / spread, bad_old / spread
    (_, tolerated), (harm, _) = (_odds(joined, one) for one in (rule.tolerated, rule.harm))
    tail = betainc(np.maximum(mine, _TINY), theirs + 1, tolerated / (1 + tolerated))
    alpha = np.full(bad_new.shape[1], rule.alpha / rule.split * early_share)
    alpha[-1] = rule.alpha / rule.split
    passing = betainc(np.maximum(theirs, _TINY), mine + 1, 1 / (1 + harm)) <= PASS_ALPHA
    return (tail <= alpha) & (bad_new > 0), passing & (bad_old > 0)


def _odds(joined: Counts, ratio: float) -> tuple[Numbers, Numbers]:
    """Return new's odds of a bad event: the least and the greatest by ticks and by sums.

    Both are those by sums where ticks say the same within 3 %.
    """
    bad, new, old = joined.bad_new + joined.bad_old, joined.total_new, joined.total_old
    by_sums = ratio * np.cumsum(new, axis=1) / np.maximum(np.cumsum(old, axis=1), _TINY)
    odds = ratio * new / np.maximum(old, _TINY)
    events = np.cumsum(bad, axis=1)
    share = np.cumsum(bad * odds / (1 + odds), axis=1) / np.maximum(events, _TINY)
    by_ticks = np.where(events > 0, share / np.maximum(1 - share, _TINY), by_sums)
    hardly = np.abs(by_ticks / np.maximum(by_sums, _TINY) - 1) < _HARDLY_MOVED
    by_ticks = np.where(hardly, by_sums, by_ticks)
    return np.minimum(by_ticks, by_sums), np.maximum(by_ticks, by_sums)


def _any_time(rule: CountRule, joined: Counts, spread: Numbers) -> tuple[Flags, Flags]:
    worse = _evidence(rule.tolerated, 1, joined, spread) >= np.log(rule.split / rule.alpha)
    harmless = _evidence(rule.harm, -1, joined, spread) >= -np.log(PASS_ALPHA_AT_ANY_TIME)
    return worse, harmless


def _evidence(anchor: float, direction: int, joined: Counts, spread: Numbers) -> Numbers:
    """Return the logarithm of the mean of 24 likelihood ratios."""
    bad_new, new, bad_old, old = joined.bad_new, joined.total_new, joined.bad_old, joined.total_old
    both = (new > 0) & (old > 0)
    odds = np.where(both, new, 1) / np.where(both, old, 1)

    def likelihood(ratio: float) -> Numbers:
        share = np.log1p(ratio * odds)
        logs = bad_new * np.log(ratio * odds) - (bad_new + bad_old) * share
        return np.cumsum(np.where(both, logs, 0), axis=1)

    null = likelihood(anchor)
    steps = np.linspace(0, np.log(_REACH), _ALTERNATIVES + 1)[1:]
    logs = np.stack([likelihood(anchor * np.exp(direction * step)) - null for step in steps])
    logs /= spread
    largest = logs.max(axis=0)
    found: Numbers = largest + np.log(np.exp(logs - largest).mean(axis=0))
    return found


def _join(counts: Counts) -> Counts:
    """Return the ticks that see both; those of one version alone go to that of the other.

    What waits for the other version is dropped at the tick that makes it six, or at once where the
    other has never been seen, and so is the tick that sees the other one again.
    """
    new = (counts.bad_new, np.maximum(counts.bad_new, counts.total_new))
    sides = (*new, counts.bad_old, np.maximum(counts.bad_old, counts.total_old))
    joined = [np.zeros_like(side) for side in sides]
    runs = len(sides[0])
    sums, waits = np.zeros((4, runs)), np.full(runs, _MOST_JOINED)
    lacks_new, lacks_old = np.zeros(runs, bool), np.zeros(runs, bool)
    for tick in range(sides[0].shape[1]):
        now = np.array([side[:, tick] for side in sides])
        drops = lacks_new | lacks_old
        is_back = (lacks_new & (now[1] > 0)) | (lacks_old & (now[3] > 0))
        sums = np.where(drops, 0, sums + now)
        both, none = (sums[1] > 0) & (sums[3] > 0), (sums[1] == 0) & (sums[3] == 0)
        for side, seen in zip(joined, sums, strict=True):
            side[:, tick] = np.where(both, seen, 0)
        waits = np.where(none & ~drops, waits, waits + 1)
        late = ~both & ~none & (waits >= _MOST_JOINED)
        lacks_new = np.where(late, sums[1] == 0, lacks_new & ~is_back)
        lacks_old = np.where(late, sums[3] == 0, lacks_old & ~is_back)
        over = both | late | is_back
        sums, waits = np.where(over, 0, sums), np.where(over, 0, waits)
    return Counts(*joined)


def decide_by_the_gate(rule: CountRule, counts: Counts) -> Ends:
    """Return the same by the gate's own check, one rollout and one tick after the other.

    It reads counters, which have counted before, and computes the increases itself.
    """
    runs = range(counts.bad_new.shape[0])
    found = [_decide_one(rule, counts, run) for run in runs]
    return Ends(np.array([worse for worse, _ in found]), np.array([passed for _, passed in found]))


def _decide_one(rule: CountRule, counts: Counts, run: int) -> tuple[int, int]:
    """Return at which tick a rollout fails and at which it passes, as `Ends` counts them."""
    bad, total = (Query.parse(text, BUILT_IN) for text in ("bad", "total"))
    judged, worse, passed = CountRun.start(Probe(bad, total, rule), TICK_SECONDS), NEVER, NEVER
    values = np.array([*_COUNTED_BEFORE, *_COUNTED_BEFORE])
    judged, _ = judged.after_answers(_answers(values), 0.0)
    ticks = counts.bad_new.shape[1]
    for tick in range(1, ticks + 1):
        sides = (counts.bad_new, counts.total_new, counts.bad_old, counts.total_old)
        values = values + [side[run, tick - 1] for side in sides]
        judged, said = judged.after_answers(_answers(values), tick * TICK_SECONDS)
        if said.kind is not Kind.FAIL and tick == ticks:
            said = judged.at_the_end()
        worse = min(worse, tick if said.kind is Kind.FAIL else NEVER)
        passed = min(passed, tick if judged.passed else NEVER)
    return worse, passed


def _answers(values: Numbers) -> Answers:
    """Return the answers about both versions, of one pod each: bad and all of new, then of old."""
    return Answers(_samples(values[0], values[1]), baseline=_samples(values[2], values[3]))


def _samples(bad: float, total: float) -> Samples:
    said = ((Counted.BAD, bad), (Counted.TOTAL, total))
    return Samples(Form.VECTOR, tuple(Series(float(one), counted=what) for what, one in said))
