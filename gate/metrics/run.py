"""What is known of one run for its metrics: told by the run as it goes on, read at any time.

Told from the main thread, and of requests from any; what is told are values, so that a scrape in
another thread reads whole ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from gate.clock import Clock
from gate.core.attempt.state import Attempt
from gate.core.checks.measurement import Kind as Verdict
from gate.core.checks.spec import Check, Command, Http
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.metrics.api_requests import ApiRequests
from gate.metrics.families import Probe
from gate.metrics.phases import Phases

NOWHERE = ("", "")
Place = tuple[str, str]
"""Namespace and name of a Deployment; without a name it is a manifest that has none."""

Measured = tuple[Probe, Verdict, int]
"""How often checks of a source came to a verdict."""

Look = Callable[[str], Collection[str] | None]
"""Returns the Deployments of a namespace, None where they are not known; may raise."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How an attempt ended for one place. `at` is Unix time; `cluster_uid` "" where not known."""

    place: Place
    command: str
    outcome: Outcome
    reason: Reason
    at: float
    duration_seconds: float


@dataclass(frozen=True, slots=True)
class About:
    """What does not change: the command and the version that runs it."""

    command: str
    version: str


@dataclass(frozen=True, slots=True)
class Before:
    """What stays of the attempts that have ended: how often was measured, and what interrupted.

    `last` is the latest of them, so that a reader in another thread counts none twice.
    """

    measurements: tuple[Measured, ...] = ()
    interrupted_at: float = math.inf
    last: Attempt | None = None

    def after(self, attempt: Attempt) -> Before:
        """Return what stays with one more."""
        counts: Counter[tuple[Probe, Verdict]] = Counter()
        for probe, verdict, count in (*self.measurements, *_measurements(attempt)):
            counts[probe, verdict] += count
        measurements = tuple((*key, count) for key, count in counts.items())
        return Before(
            measurements, min(self.interrupted_at, attempt.interference.interrupted_at), attempt
        )


@dataclass(slots=True)
class RunMetrics:
    """One run; it may make several attempts, since it finishes what others left.

    `look` is set once there is a cluster to ask.
    """

    about: About
    clock: Clock
    requests: ApiRequests = field(default_factory=ApiRequests)
    cluster_uid: str = ""
    look: Look | None = None
    ended: tuple[Ended, ...] = ()
    latest: Attempt | None = None
    phases: Phases = field(init=False)
    begun_at: float = field(init=False)
    _places: tuple[Place, ...] = ()
    _before: Before = field(default_factory=Before)
    _finished_at: float | None = None

    def __post_init__(self) -> None:
        """Start with the run, before its first attempt."""
        self.begun_at = self.clock.now()
        self.phases = Phases(self.begun_at)

    # -- being told --------------------------------------------------------------------------------

    def concerns(self, refs: Collection[Ref]) -> None:
        """Take what an attempt is going to be about, before it begins."""
        self._places = _places_of(refs)

    def on_step(self, attempt: Attempt) -> None:
        """Take the attempt as it is after a step; called very often."""
        self.phases = self.phases.after_step(attempt)
        self.latest = attempt
        if attempt.ended:
            self._end(attempt)

    def on_refusal(self, outcome: Outcome, reason: Reason) -> None:
        """Take an end without a verdict; it is that of an attempt which was under way, too."""
        now = self.clock.now()
        places = _places_of_plan(self.latest) if self.latest is not None else self.places
        self.ended += tuple(self._as_ended(place, outcome, reason, now) for place in places)
        self._finished_at = now

    # -- being read --------------------------------------------------------------------------------

    @property
    def places(self) -> tuple[Place, ...]:
        """What the run is about, as far as it is known by now, in the order of names."""
        known = {*self._places, *(one.place for one in self.ended)}
        latest = self.latest
        if latest is not None:
            known.update(_places_of_plan(latest))
        return tuple(sorted(known - {NOWHERE})) or (NOWHERE,)

    @property
    def interrupted_at(self) -> float:
        """When a signal came to an attempt, infinity where none did."""
        latest, before = self.latest, self._before
        return min(
            before.interrupted_at, latest.interference.interrupted_at if latest else math.inf
        )

    @property
    def now(self) -> float:
        """The clock, which stands still for the run once its last attempt has ended."""
        return self.clock.now() if self._finished_at is None else self._finished_at

    def measurements(self) -> Iterator[Measured]:
        """Yield how often checks were measured, as they go on, one check after another."""
        latest, before = self.latest, self._before
        yield from before.measurements
        if latest is not None and latest is not before.last:
            yield from _measurements(latest)

    # -- inside ------------------------------------------------------------------------------------

    def _end(self, attempt: Attempt) -> None:
        self.ended += tuple(
            self._as_ended(place, outcome, reason, attempt.now)
            for place, outcome, reason in _endings(attempt)
        )
        self._before = self._before.after(attempt)
        self.latest = None
        self.begun_at = self._finished_at = attempt.now

    def _as_ended(self, place: Place, outcome: Outcome, reason: Reason, now: float) -> Ended:
        at = self.clock.wall().timestamp()
        return Ended(place, self.about.command, outcome, reason, at, now - self.begun_at)


def _measurements(attempt: Attempt) -> Iterator[Measured]:
    for run in attempt.health.checks.values():
        tally = run.tally
        counts = (tally.passes, tally.failures, tally.no_data, tally.errors)
        for verdict, count in zip(Verdict, counts, strict=True):
            yield _probe(run.check), verdict, count


def _endings(attempt: Attempt) -> Iterator[tuple[Place, Outcome, Reason]]:
    """Yield how it ended for each Deployment; what only observes has failed nothing."""
    whole = attempt.result.ending
    if whole is None:
        return
    alike = whole.outcome is Outcome.OBSERVED
    for ref, own in attempt.result.endings.items():
        yield (ref.namespace, ref.name), whole.outcome if alike else own.outcome, own.reason
    if not attempt.result.endings:
        for place in _places_of_plan(attempt):
            yield place, whole.outcome, whole.reason


def _places_of_plan(attempt: Attempt) -> tuple[Place, ...]:
    targets = [target.ref for target in attempt.plan.targets]
    return _places_of(targets or [planned.ref for planned in attempt.plan.objects])


def _places_of(refs: Collection[Ref]) -> tuple[Place, ...]:
    """Return the Deployments among some objects; without any, the first namespace there is."""
    deployments = sorted({(ref.namespace, ref.name) for ref in refs if ref.is_deployment})
    namespaces = sorted({ref.namespace for ref in refs} - {""})
    return tuple(deployments) or ((namespaces[0] if namespaces else "", ""),)


def _probe(check: Check) -> Probe:
    match check.probe:
        case Http():
            return Probe.HTTP
        case Command():
            return Probe.COMMAND
        case _:
            return Probe.PROMETHEUS
