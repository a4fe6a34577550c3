"""A check as a value: what it asks, the bounds of a good answer, and what it tolerates over time.

What is wrong with one is found by `gate.config.checks`, before it is made. `tick_questions` turns
it into the questions of one tick, `run` follows it over time.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Final

from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.query_template import Query, strip_text
from gate.core.checks.questions import HttpQuestion
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.statistics.count_decision import CountRule

RETRY_SECONDS: Final = 10.0
"""After an error a check asks again after this long, or after its interval if that is shorter."""
SHORTEST_INTERVAL_SECONDS: Final = 1.0
_ARITHMETIC: Final = re.compile(r"[)}\w]\s*[-+*/](?=\s|[a-z_(])", re.IGNORECASE)
"""Between two operands; what stands in strings is stripped before, and no name has such signs."""


class During(enum.StrEnum):
    """The phases in which a check runs."""

    ROLLOUT = "rollout"
    BAKE = "bake"
    BOTH = "both"


class OnInconclusive(enum.StrEnum):
    """What happens at the end of a rollout whose checks could not tell."""

    ROLLBACK = "rollback"
    KEEP = "keep"
    PASS = "pass"  # noqa: S105 - no password


class Reduce(enum.StrEnum):
    """How several series become one measurement; `ALL` and `ANY` judge each."""

    MAX = "max"
    MIN = "min"
    SUM = "sum"
    AVG = "avg"
    ALL = "all"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The range of a good value, its ends included; None is no bound."""

    least: float | None = None
    most: float | None = None

    def hold(self, value: float) -> bool:
        """Tell whether `value`, not NaN, is within them."""
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def __bool__(self) -> bool:
        """Tell whether there is any bound."""
        return self.least is not None or self.most is not None

    def __str__(self) -> str:
        """Return `<= 0.5`, `>= 1` or `1 to 5`."""
        if self.least is not None and self.most is not None:
            return f"{self.least:g} to {self.most:g}"
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least or 0:g}"


@dataclass(frozen=True, slots=True)
class MinSamples:
    """A second query, asked for the same time, and the least that it has to give."""

    query: Query
    least: float


@dataclass(frozen=True, slots=True)
class Metric:
    """A query, and what qualifies its answer.

    `freshness` selects series whose latest sample may not be older than the check's
    `max_age_seconds`. `bounds` may be empty if `compare` judges.
    """

    query: Query
    bounds: Bounds = field(default_factory=Bounds)
    reduce: Reduce | None = None
    window_seconds: float = 60.0
    min_samples: MinSamples | None = None
    freshness: Query | None = None
    compare: Ratio | MannWhitney | None = None

    def queries(self) -> Iterator[Query]:
        """Iterate the queries that it is made of, the value's own first."""
        yield self.query
        if self.min_samples is not None:
            yield self.min_samples.query
        if self.freshness is not None:
            yield self.freshness


class ComparedPods(enum.StrEnum):
    """Which pods of the old version a comparison by counts is with.

    `FRESH` are those that were started at about the same time as new ones (`fresh_pods`).
    """

    ALL = "all"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class Counts:
    """Two kinds of counters, bad events and all of them, of which both versions are compared.

    They are read as they stood `scrape_seconds` ago, when every one of them had been scraped.
    `compares` is False where a single version is looked at.
    """

    bad: Query
    total: Query
    rule: CountRule = field(default_factory=CountRule)
    warm_up_seconds: float = 0.0
    scrape_seconds: float = 30.0
    compares: bool = True
    compared_pods: ComparedPods = ComparedPods.ALL

    @property
    def computes_bad(self) -> bool:
        """Whether bad is computed from several counters, so that it is there wherever they are."""
        return bool(_ARITHMETIC.search(strip_text(self.bad.text)))

    def queries(self) -> Iterator[Query]:
        """Iterate the queries that it is made of."""
        yield self.bad
        yield self.total


@dataclass(frozen=True, slots=True)
class Http:
    """A request to the service under test, and what a good reply is.

    `status` is a range, its ends included; `bounds` are of the number at the question's JSON path.
    """

    question: HttpQuestion
    status: tuple[int, int] = (200, 299)
    max_latency_seconds: float | None = None
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class Command:
    """A program that judges by its exit code."""

    arguments: tuple[str, ...]
    timeout_seconds: float = 60.0


Probe = Metric | Counts | Http | Command


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a check is asked: on the grid `start + initial_delay + k x interval`.

    `count` is how many measurements are taken; None is as many as fit into the phase.
    """

    interval_seconds: float = 10.0
    initial_delay_seconds: float = 0.0
    count: int | None = None
    during: During = During.BOTH

    def __post_init__(self) -> None:
        """Hold that its ticks come one after another."""
        if not self.interval_seconds > 0:
            raise ValueError(f"not an interval of ticks: {self.interval_seconds} s")

    @property
    def retry_seconds(self) -> float:
        """How long after an error it is asked again."""
        return min(self.interval_seconds, RETRY_SECONDS)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What a check tolerates; more than the allowed number decides.

    `consecutive_failures` fails it after that many failures in a row instead of `allowed_failures`.
    `allowed_no_data` None is any number. `max_age_seconds` None is three intervals.
    """

    allowed_failures: int = 0
    consecutive_failures: int | None = None
    allowed_consecutive_errors: int = 4
    allowed_no_data: int | None = None
    min_passes: int = 1
    max_age_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check: `required` and not `dry_run` ones decide, the others only report.

    `deployment` is the workload that it is about, as `db` or, of two kinds with one name,
    `statefulset/db`; "" for all.
    """

    name: str
    probe: Probe
    schedule: Schedule = field(default_factory=Schedule)
    tolerances: Tolerances = field(default_factory=Tolerances)
    required: bool = True
    dry_run: bool = False
    user_variables: FrozenMap[str, str] = field(default_factory=FrozenMap)
    deployment: str = ""

    def is_about(self, ref: Ref) -> bool:
        """Tell whether it may be about a workload."""
        return self.deployment in ("", ref.name, str(ref))

    @property
    def decides(self) -> bool:
        """Whether its conclusion counts."""
        return self.required and not self.dry_run

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries that it asks Prometheus, none for other sources."""
        return tuple(self.probe.queries()) if isinstance(self.probe, Metric | Counts) else ()

    @property
    def compares(self) -> bool:
        """Whether it holds the new version against the one that served before."""
        match self.probe:
            case Metric(compare=compare):
                return compare is not None
            case Counts(compares=compares):
                return compares
            case _:
                return False

    @property
    def max_age_seconds(self) -> float:
        """How old the newest sample, and at the end the last pass, may be."""
        asked = self.tolerances.max_age_seconds
        return 3 * self.schedule.interval_seconds if asked is None else asked

    def runs_in(self, phase: During) -> bool:
        """Tell whether it is asked in that phase, the rollout or the bake window."""
        return self.schedule.during in (phase, During.BOTH)


def without_comparison(check: Check) -> Check:
    """Return the check as it judges one version alone: by its bounds, or that it can be seen."""
    match check.probe:
        case Metric() as metric:
            return replace(check, probe=replace(metric, compare=None))
        case Counts() as counts:
            return replace(check, probe=replace(counts, compares=False))
        case _:
            return check


def share_alpha(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return the checks with the alpha of comparisons by counts divided by their number.

    Those that only report have no part in it: they fail nothing.
    """
    checks = tuple(checks)
    split = sum(isinstance(check.probe, Counts) and check.decides for check in checks)
    return tuple(_with_split(check, split) for check in checks)


def _with_split(check: Check, split: int) -> Check:
    if not isinstance(check.probe, Counts) or not check.decides:
        return check
    rule = replace(check.probe.rule, split=split)
    return replace(check, probe=replace(check.probe, rule=rule))
