"""The cells of the simulation: what is simulated, by which rule, and the bounds that it holds.

Both sides of each promise: equal versions are not failed, and worse ones are found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from gate.core.checks.query_template import Query
from gate.core.checks.spec import Check, Counts, share_alpha
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.statistics.count_decision import CountRule
from tests.statistics.scrapes import Scrapes
from tests.statistics.traffic import Alone, Incident, Moving, Traffic

BAKE: Final = CountRule(known_length=True)
ANY_TIME: Final = CountRule()


@dataclass(frozen=True, slots=True)
class Bound:
    """What a cell has to show: the measure is one of `Measures`, shares are of 1."""

    measure: str
    most: float | None = None
    least: float | None = None

    def holds(self, value: float) -> bool:
        """Tell whether a measured value is within it."""
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)


@dataclass(frozen=True, slots=True)
class Cell:
    """One row: `checks` compare at once, and the first that fails fails the rollout."""

    name: str
    traffic: Traffic
    rule: CountRule = BAKE
    bounds: tuple[Bound, ...] = ()
    scrapes: Scrapes | None = None
    checks: int = 1

    @property
    def own_rule(self) -> CountRule:
        """The rule of each of its checks, as the gate shares alpha among them."""
        if self.checks == 1:
            return self.rule
        bad, total = (Query.parse(text, BUILT_IN) for text in ("bad", "total"))
        check = Check("compared", Counts(bad, total, self.rule))
        shared = share_alpha([check] * self.checks)[0].probe
        if not isinstance(shared, Counts):
            raise TypeError(shared)
        return shared.rule


FALSE_ALARMS: Final = Bound("failed", most=0.01)
NO_HARM_PASSES: Final = Bound("passed", most=0.01)
EQUAL: Final = Traffic()
TWICE: Final = Traffic(ratio=2)
THRICE: Final = Traffic(ratio=3)
BORN: Final = Scrapes(series=5, born=True)
IN_TURN: Final = Scrapes(ticks_in_turn=3)
LATE: Final = Alone(before=12)
TROUBLE_BEFORE: Final = Alone(before=12, factor=10)
TROUBLE_AFTER: Final = Alone(after=30, factor=6)
TO_NEW: Final = Moving(0.1, 0.9, factor=3)
TO_OLD: Final = Moving(0.9, 0.1, factor=3)
UNSEEN: Final = (15, 40)
INCIDENT: Final = Incident(*UNSEEN, factor=3)
_PODS: Final = Bound("failed", most=0.02)
_RARE_BURSTS: Final = Bound("passed", most=0.05)
_EDGE: Final = Bound("failed", most=0.06)


@dataclass(frozen=True, slots=True)
class Section:
    """Cells that belong together."""

    title: str
    cells: tuple[Cell, ...] = field(default=())


def sections() -> tuple[Section, ...]:
    """Return all cells in the order of the page."""
    return (
        Section("Equal versions in a bake window of ten minutes", tuple(_equal(BAKE))),
        Section("Worse versions in a bake window of ten minutes", tuple(_worse(BAKE))),
        Section("Equal versions in a phase of unknown length", tuple(_equal(ANY_TIME))),
        Section("Worse versions in a phase of unknown length", tuple(_worse_at_any_time())),
        Section("Several checks that compare", tuple(_several())),
    )


def cells() -> Iterator[Cell]:
    """Yield all cells."""
    for section in sections():
        yield from section.cells


def _equal(rule: CountRule) -> Iterator[Cell]:
    def cell(name: str, traffic: Traffic, *bounds: Bound, scrapes: Scrapes | None = None) -> Cell:
        return Cell(name, traffic, rule, bounds or (FALSE_ALARMS,), scrapes)

    passes = () if not rule.known_length else (Bound("passed", least=0.7),)
    yield cell("1 request/s", Traffic(1, 1))
    yield cell("10 requests/s", EQUAL, FALSE_ALARMS, *passes)
    yield cell("100 requests/s", Traffic(100, 100))
    yield cell("1,000 requests/s", Traffic(1000, 1000))
    for rate in (10, 100, 1000):
        traffic = Traffic(rate, rate, burst_variance=0.5)
        yield cell(f"bursts (gamma variance 0.5 a tick), {rate:,} requests/s", traffic)
    yield cell("a tenth of 20 requests/s", Traffic(2, 18))
    yield cell("pods that restart, one tick in 50", EQUAL, scrapes=Scrapes(restarts=0.02))
    yield cell("one scrape in five is missed", EQUAL, scrapes=Scrapes(missed=0.2))
    yield cell(
        "15 series of bad requests, born in the phase", EQUAL, scrapes=Scrapes(0, 0, 5, True)
    )
    yield cell("an hour: 360 ticks", Traffic(ticks=360))
    yield from _missing_intervals(rule)
    late = Traffic(100, 100, burst_variance=0.5, alone=LATE)
    yield cell("the new version serves two minutes late, in bursts, 100 requests/s", late)
    cold = Traffic(100, 100, alone=LATE, cold_factors=(4, 2))
    yield cell("the same without bursts, its first tick 4 times as bad, its second twice", cold)
    yield cell("three pods with an effect of sd 0.2", Traffic(pod_effect=0.2), _PODS)
    yield cell("1.25 times as bad: the tolerance itself", Traffic(ratio=1.25), _EDGE)
    long = Traffic(ratio=1.25, ticks=360)
    yield cell("the same for an hour: 360 ticks", long, _EDGE)
    left_alone = Traffic(100, 100, alone=TROUBLE_AFTER)
    yield cell("the old version goes after five minutes, the new one is 6 times as bad", left_alone)
    yield cell("both get worse while traffic moves to the new one", Traffic(moving=TO_NEW))
    for rate in (10, 100):
        traffic = Traffic(rate, rate, incident=INCIDENT)
        name = f"new is not scraped for 250 s, in which both are 3 times as bad, {rate} requests/s"
        yield cell(name, traffic, scrapes=Scrapes(unseen=UNSEEN))
    if not rule.known_length:
        yield from _seen_in_turn()


def _seen_in_turn() -> Iterator[Cell]:
    """Yield what looks between scrapes see of two pods, one of each version."""
    fast = Traffic(100, 100)
    traffics = {
        "scraped every 30 s, never both at one look": EQUAL,
        "the same at 1 request/s": Traffic(1, 1),
        "the same in bursts, 100 requests/s": replace(fast, burst_variance=0.5),
        "the same where the new version serves two minutes late": replace(fast, alone=LATE),
        "the same while both get worse and traffic moves": Traffic(moving=TO_NEW),
    }
    for name, traffic in traffics.items():
        yield Cell(name, traffic, ANY_TIME, (FALSE_ALARMS,), IN_TURN)


def _missing_intervals(rule: CountRule) -> Iterator[Cell]:
    """Yield a cell that is failed where the interval is above the true ratio, 1, at any tick.

    And passed where it is below.
    """
    exact = replace(rule, tolerance=0.0, harm=1.0, negligible=0.0)
    seldom = (Bound("failed", most=0.05), Bound("passed", most=0.05))
    yield Cell(
        "intervals above (failed), below (passed) the truth at any tick", EQUAL, exact, seldom
    )


def _worse(rule: CountRule) -> Iterator[Cell]:
    twice = Bound("failed", least=0.85)
    yield Cell("1.5 times as bad", Traffic(ratio=1.5), rule)
    yield Cell("twice as bad", TWICE, rule, (twice, NO_HARM_PASSES))
    yield Cell("twice as bad, 15 series born in the phase", TWICE, rule, (twice,), BORN)
    quick = Bound("seconds", most=150)
    found = Bound("failed", least=0.99)
    yield Cell("three times as bad", THRICE, rule, (quick, found, NO_HARM_PASSES))
    yield _worse_after_trouble(rule)
    yield from _hidden(rule)
    none = replace(rule, tolerance=0.0)
    yield Cell("three times as bad, tolerance 0", THRICE, none, (Bound("seconds", most=110),))
    bursts = Traffic(ratio=3, burst_variance=0.5)
    yield Cell("three times as bad, in bursts", bursts, rule, (Bound("failed", least=0.95),))
    shared = Traffic(2, 18, ratio=3)
    yield Cell("three times as bad, a tenth of 20 requests/s", shared, rule)
    # Above what is negligible; old is below it.
    for per_second in (100, 1_000):
        rare = Traffic(per_second, per_second, rate=0.00055, ratio=2)
        yield Cell(
            f"twice as bad, 0.11 % bad, {per_second:,} requests/s", rare, rule, (NO_HARM_PASSES,)
        )
        bursty = replace(rare, burst_variance=0.5)
        yield Cell(f"the same in bursts, {per_second:,} requests/s", bursty, rule, (_RARE_BURSTS,))


def _hidden(rule: CountRule) -> Iterator[Cell]:
    """Yield cells of versions that would seem no worse by the sums of all."""
    moves = Traffic(ratio=2, moving=TO_OLD)
    name = "twice as bad; both get worse while traffic moves to the old one"
    yield Cell(name, moves, rule, (NO_HARM_PASSES,))
    unseen = Traffic(ratio=2, incident=INCIDENT)
    name = "twice as bad; old is not scraped for 250 s, in which both are 3 times as bad"
    yield Cell(name, unseen, rule, (NO_HARM_PASSES,), Scrapes(unseen_old=UNSEEN))


def _worse_after_trouble(rule: CountRule) -> Cell:
    """Return a cell of an old version that had trouble until the new one served."""
    traffic = replace(THRICE, alone=TROUBLE_BEFORE)
    name = "three times as bad; the old one was 10 times as bad for two minutes before"
    return Cell(name, traffic, rule, (Bound("failed", least=0.95), NO_HARM_PASSES))


def _worse_at_any_time() -> Iterator[Cell]:
    yield Cell("1.5 times as bad", Traffic(ratio=1.5), ANY_TIME)
    yield Cell("twice as bad", TWICE, ANY_TIME, (Bound("failed", least=0.5), NO_HARM_PASSES))
    quick = Bound("seconds", most=150)
    yield Cell("three times as bad", THRICE, ANY_TIME, (quick, NO_HARM_PASSES))
    yield _worse_after_trouble(ANY_TIME)
    yield from _hidden(ANY_TIME)
    for traffic, name, least in ((TWICE, "twice", 0.45), (THRICE, "three times", 0.95)):
        bounds = (Bound("failed", least=least), NO_HARM_PASSES)
        in_turn = f"{name} as bad, scraped every 30 s, never both at one look"
        yield Cell(in_turn, traffic, ANY_TIME, bounds, IN_TURN)


def _several() -> Iterator[Cell]:
    for checks in (2, 4, 8):
        yield Cell(f"{checks} checks of equal versions", EQUAL, BAKE, (FALSE_ALARMS,), None, checks)
    for checks in (2, 4, 8):
        # One of them is twice as bad; what it alone finds is measured.
        yield Cell(f"twice as bad in one of {checks} checks", TWICE, replace(BAKE, split=checks))
