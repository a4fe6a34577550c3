"""What is known of one run for its metrics: updated as the run goes on, read at any time.

The main thread updates it, any thread counts requests. All that is stored are immutable values,
so that a scrape in another thread never reads a half-updated one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import field
from typing import Final, NamedTuple

from gate.clock import Clock
from gate.core.attempt.state import Attempt
from gate.core.checks.measurement import Kind as Verdict
from gate.core.checks.spec import Check, Command, Http
from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.objects import Ref
from gate.core.model.outcome import AnyReason, Outcome
from gate.metrics.api_requests import ApiRequests
from gate.metrics.families import Probe
from gate.metrics.phases import Phases
from gate.report.kinds.registry import DEFAULT


class Place(NamedTuple):
    """A workload; `kind` and `name` are "" for a manifest without one."""

    namespace: str
    kind: str = ""
    name: str = ""

    @property
    def is_default(self) -> bool:
        """Whether it is of the kind that there was alone at first."""
        return self.kind == DEFAULT.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The values of the labels `PLACE`."""
        return self.namespace, self.name if self.is_default else "", self.name, self.kind

    @property
    def key(self) -> dict[str, str]:
        """The labels of its group in a Pushgateway, which those of Deployments have kept."""
        if not self.name:
            return {"namespace": self.namespace} if self.namespace else {}
        if self.is_default:
            return {"namespace": self.namespace, "deployment": self.name}
        return {
            "namespace": self.namespace,
            "workload": self.name,
            "workload_kind": self.kind,
        }


NOWHERE: Final = Place("")

Measured = tuple[Probe, Verdict, int]
"""How often checks of a kind of source came to a verdict."""

Look = Callable[[str, str], Collection[str] | None]
"""Returns the names of a namespace's workloads of a kind, None if they are not known; may raise."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How an attempt ended for one place; `at` is Unix time."""

    place: Place
    command: str
    outcome: Outcome
    reason: AnyReason
    at: float
    duration_seconds: float


@dataclass(frozen=True, slots=True)
class About:
    """What does not change: the command and the version that runs it."""

    command: str
    version: str


@dataclass(frozen=True, slots=True)
class Before:
    """What is kept of attempts that have ended: counts of measurements, and the first interruption.

    `last` is the latest of them, so that a reader in another thread counts none twice.
    """

    measurements: tuple[Measured, ...] = ()
    interrupted_at: float = math.inf
    last: Attempt | None = None

    def after(self, attempt: Attempt) -> Before:
        """Return what is kept after one more attempt has ended."""
        counts: Counter[tuple[Probe, Verdict]] = Counter()
        for probe, verdict, count in (*self.measurements, *_measurements(attempt)):
            counts[probe, verdict] += count
        measurements = tuple((*key, count) for key, count in counts.items())
        return Before(
            measurements, min(self.interrupted_at, attempt.interference.interrupted_at), attempt
        )


@dataclass(slots=True)
class ClusterContact:
    """What a run has had to do with its cluster; a `uid` of "" is not known.

    `look` is set once there is a connection.
    """

    requests: ApiRequests = field(default_factory=ApiRequests)
    uid: str = ""
    look: Look | None = None


@dataclass(slots=True)
class RunMetrics:
    """One run; it may make several attempts, since it also finishes what others left."""

    about: About
    clock: Clock
    cluster: ClusterContact = field(default_factory=ClusterContact)
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

    # -- updates -----------------------------------------------------------------------------------

    def concerns(self, refs: Collection[Ref]) -> None:
        """Take the objects that an attempt will be about, before it begins."""
        self._places = _places_of(refs)

    def on_step(self, attempt: Attempt) -> None:
        """Take the attempt after each step; called very often."""
        self.phases = self.phases.after_step(attempt)
        self.latest = attempt
        if attempt.ended:
            self._end(attempt)

    def on_refusal(self, outcome: Outcome, reason: AnyReason) -> None:
        """Take an end without a verdict; it also ends an attempt that was under way."""
        now = self.clock.now()
        places = _places_of_plan(self.latest) if self.latest is not None else self.places
        self.ended += tuple(self._as_ended(place, outcome, reason, now) for place in places)
        self._finished_at = now

    # -- reads -------------------------------------------------------------------------------------

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the run, as far as they are known, sorted by name."""
        known = {*self._places, *(one.place for one in self.ended)}
        latest = self.latest
        if latest is not None:
            known.update(_places_of_plan(latest))
        return tuple(sorted(known - {NOWHERE}, key=_order)) or (NOWHERE,)

    @property
    def interrupted_at(self) -> float:
        """When a signal reached an attempt, infinity if none did."""
        latest, before = self.latest, self._before
        return min(
            before.interrupted_at, latest.interference.interrupted_at if latest else math.inf
        )

    @property
    def now(self) -> float:
        """The time on the clock; it stops at the end of the last attempt."""
        return self.clock.now() if self._finished_at is None else self._finished_at

    def measurements(self) -> Iterator[Measured]:
        """Yield how often each check was measured so far, one check after another."""
        latest, before = self.latest, self._before
        yield from before.measurements
        if latest is not None and latest is not before.last:
            yield from _measurements(latest)

    # -- internals ---------------------------------------------------------------------------------

    def _end(self, attempt: Attempt) -> None:
        self.ended += tuple(
            self._as_ended(place, outcome, reason, attempt.now)
            for place, outcome, reason in _endings(attempt)
        )
        self._before = self._before.after(attempt)
        self.latest = None
        self.begun_at = self._finished_at = attempt.now

    def _as_ended(self, place: Place, outcome: Outcome, reason: AnyReason, now: float) -> Ended:
        at = self.clock.wall().timestamp()
        return Ended(place, self.about.command, outcome, reason, at, now - self.begun_at)


def _measurements(attempt: Attempt) -> Iterator[Measured]:
    for run in attempt.health.checks.values():
        tally = run.tally
        counts = (tally.passes, tally.failures, tally.no_data, tally.errors)
        for verdict, count in zip(Verdict, counts, strict=True):
            yield _probe(run.check), verdict, count


def _endings(attempt: Attempt) -> Iterator[tuple[Place, Outcome, AnyReason]]:
    """Yield how it ended for each workload; an attempt that only observes failed none of them."""
    whole = attempt.result.ending
    if whole is None:
        return
    alike = whole.outcome is Outcome.OBSERVED
    for ref, own in attempt.result.endings.items():
        yield _place(ref), whole.outcome if alike else own.outcome, own.reason
    if not attempt.result.endings:
        for place in _places_of_plan(attempt):
            yield place, whole.outcome, whole.reason


def _places_of_plan(attempt: Attempt) -> tuple[Place, ...]:
    targets = [target.ref for target in attempt.plan.targets]
    return _places_of(targets or [planned.ref for planned in attempt.plan.objects])


def _places_of(refs: Collection[Ref]) -> tuple[Place, ...]:
    """Return the workloads among some objects; if there are none, the first namespace."""
    workloads = sorted({_place(ref) for ref in refs if is_workload(ref)}, key=_order)
    namespaces = sorted({ref.namespace for ref in refs} - {""})
    return tuple(workloads) or (Place(namespaces[0] if namespaces else ""),)


def _place(ref: Ref) -> Place:
    return Place(ref.namespace, ref.kind, ref.name)


def _order(place: Place) -> tuple[str, str, str]:
    """Order by name, as it was while there was one kind."""
    return place.namespace, place.name, place.kind


def _probe(check: Check) -> Probe:
    match check.probe:
        case Http():
            return Probe.HTTP
        case Command():
            return Probe.COMMAND
        case _:
            return Probe.PROMETHEUS
