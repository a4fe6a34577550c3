"""The course of an attempt: pods by state and measurements over time, a fold of its states.

A sample holds until the next. Moments that are close together become one sample, and a course that
gets long is thinned out, so that it stays small however long a rollout takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field, replace

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.checks.measurement import Kind, Measurement
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import ContainerStatus, Ref
from gate.core.plan.leg import Leg
from gate.core.rollout.judge import Rollout
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import AnyKind
from gate.report.document.comparisons import ComparisonCourse
from gate.report.document.versions import judged_rollout, latest_snapshot, new_revision

MOST_SAMPLES = 120
"""Of one workload, or of one check."""
MOST_SAMPLES_IN_ALL = 2400
LEAST_SAMPLES = 12
RESOLUTION_SECONDS = 0.5
_STARTING = ("", "ContainerCreating", "PodInitializing")
_OVER = ("Failed", "Succeeded")


@dataclass(frozen=True, slots=True)
class Counts:
    """Pods of one version by their state."""

    ready: int = 0
    starting: int = 0
    failing: int = 0
    terminating: int = 0


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of a workload.

    `progressed_at` is when it last progressed, on the attempt's clock; None while it is paused,
    complete or not followed.
    """

    wanted: int
    new: Counts
    old: Counts
    progressed_at: float | None


@dataclass(frozen=True, slots=True)
class Budget:
    """The clocks of one leg; None means no limit."""

    from_at: float
    total_seconds: float | None
    deadline_seconds: int | None


@dataclass(frozen=True, slots=True)
class Source:
    """What the pods of a workload are counted of, on one leg."""

    leg: Leg
    snapshot: Snapshot | None
    judged: Rollout | None
    followed: Rollout | None

    @classmethod
    def of(cls, attempt: Attempt, ref: Ref) -> Source:
        """Return what an attempt knows of a workload now."""
        snapshot, judged = latest_snapshot(attempt, ref), judged_rollout(attempt, ref)
        return cls(attempt.course.leg, snapshot, judged, attempt.workloads.rollouts.get(ref))

    def is_same(self, other: Source | None) -> bool:
        """Tell whether another one has the same objects: no value is compared."""
        return (
            other is not None
            and self.leg is other.leg
            and self.snapshot is other.snapshot
            and self.judged is other.judged
            and self.followed is other.followed
        )


@dataclass(frozen=True, slots=True)
class Course:
    """What was seen so far; times are those of the attempt's clock.

    `sources` has of what each workload was counted last: a step changes few of them.
    """

    pods: FrozenMap[Ref, tuple[tuple[float, Pods], ...]] = field(default_factory=FrozenMap)
    budgets: FrozenMap[tuple[Ref, Leg], Budget] = field(default_factory=FrozenMap)
    measured: FrozenMap[str, tuple[tuple[float, Measurement], ...]] = field(
        default_factory=FrozenMap
    )
    compared: FrozenMap[str, ComparisonCourse] = field(default_factory=FrozenMap)
    sources: FrozenMap[Ref, Source] = field(default_factory=FrozenMap)
    sampled_at: float = -math.inf
    sampled_place: tuple[Leg, State] | None = None
    latest: Attempt | None = None

    def after_step(self, attempt: Attempt) -> Course:
        """Return the course after a step of the attempt; pods are not counted between samples."""
        course = self._with_measurements(attempt)
        place = (attempt.course.leg, attempt.course.state)
        soon = attempt.now < self.sampled_at + RESOLUTION_SECONDS
        if soon and place == self.sampled_place and not attempt.ended:
            return replace(course, latest=attempt)
        if self.latest is not None:
            course = _with_samples(course, self.latest)
        counted = _with_samples(course, attempt)
        return replace(counted, sampled_at=attempt.now, sampled_place=place, latest=None)

    def _with_measurements(self, attempt: Attempt) -> Course:
        measured, compared = self.measured, self.compared
        for name, run in attempt.health.checks.items():
            known = measured.get(name, ())
            if run.last is None or (known and known[-1][0] >= run.last_at):
                continue
            measured = measured.put(name, _few_measurements((*known, (run.last_at, run.last))))
            if run.counts is not None:
                course = compared.get(name, ComparisonCourse())
                compared = compared.put(name, course.after_run(run))
        if measured is self.measured:
            return self
        return replace(self, measured=measured, compared=compared)


def _with_samples(course: Course, attempt: Attempt) -> Course:
    """Add a count of each workload's pods, unless it is the same as the last."""
    most = max(LEAST_SAMPLES, MOST_SAMPLES_IN_ALL // max(1, len(attempt.plan.targets)))
    pods, budgets, sources = course.pods, course.budgets, course.sources
    for target in attempt.plan.targets:
        ref, rollout = target.ref, attempt.workloads.rollouts.get(target.ref)
        source = Source.of(attempt, ref)
        if source.is_same(sources.get(ref)):
            continue
        sources = sources.put(ref, source)
        if rollout is not None:
            budgets = budgets.put((ref, attempt.course.leg), _budget(rollout))
        sample, known = _pods(source), pods.get(ref, ())
        if sample is not None and not (known and known[-1][1] == sample):
            earlier = known[:-1] if known and known[-1][0] == attempt.now else known
            samples = (*earlier, (attempt.now, sample))
            pods = pods.put(ref, _few(samples, min(most, MOST_SAMPLES)))
    return replace(course, pods=pods, budgets=budgets, sources=sources)


def _budget(rollout: Rollout) -> Budget:
    total = rollout.ends_at - rollout.budget.begins_at
    deadline = rollout.deadline_seconds
    return Budget(
        rollout.budget.begins_at,
        total if math.isfinite(total) else None,
        int(deadline) if math.isfinite(deadline) else None,
    )


def _pods(source: Source) -> Pods | None:
    """Count the pods of a workload, None while nothing is known about it."""
    if source.snapshot is None:
        return None
    live = source.snapshot.live
    new = new_revision(source.judged) if source.judged is not None else None
    return Pods(
        live.replicas if live is not None else 0,
        *_counts(source.snapshot, new.uid if new is not None else ""),
        _progressed_at(source.followed),
    )


def _progressed_at(rollout: Rollout | None) -> float | None:
    if rollout is None or rollout.progress.paused or rollout.progress.complete:
        return None
    return rollout.progress.last_at


def _counts(snapshot: Snapshot, new_uid: str) -> tuple[Counts, Counts]:
    """Count the pods of the new version, and those of all others."""
    kind = snapshot.kind
    owned = {kind.key_of_revision(one): one.uid for one in snapshot.list_owned()}
    found: dict[tuple[bool, str], int] = {}
    for track in snapshot.pods.values():
        version, state = owned.get(kind.key_of_pod(track.pod)), _state(track, kind)
        if state and version is not None:
            key = (version == new_uid, state)
            found[key] = found.get(key, 0) + 1
    return _of_version(found, new=True), _of_version(found, new=False)


def _of_version(found: dict[tuple[bool, str], int], *, new: bool) -> Counts:
    return Counts(**{state: count for (is_new, state), count in found.items() if is_new is new})


def _state(track: PodTrack, kind: AnyKind) -> str:
    """Return the state of a pod, "" if it is over: evicted, or done.

    A failed pod of what runs once stays as it ended, and is shown.
    """
    pod = track.pod
    if pod.deleting:
        return "terminating"
    if pod.phase in _OVER:
        return "failing" if pod.phase == "Failed" and not kind.has_way_back else ""
    if pod.ready:
        return "ready"
    hindered = bool(pod.unschedulable) or any(_fails(track, one) for one in pod.containers)
    return "failing" if hindered else "starting"


def _fails(track: PodTrack, status: ContainerStatus) -> bool:
    """Tell whether a container is in trouble, also between two crashes."""
    crashed = status.terminated is not None and status.terminated.exit_code != 0
    return crashed or status.waiting_reason not in _STARTING or track.restarts(status) > 0


def _few(samples: tuple[tuple[float, Pods], ...], most: int) -> tuple[tuple[float, Pods], ...]:
    """If there are too many samples, drop every second one, but never the first or the last two."""
    if len(samples) <= most:
        return samples
    return (*samples[:-2:2], *samples[-2:])


def _few_measurements(
    samples: tuple[tuple[float, Measurement], ...],
) -> tuple[tuple[float, Measurement], ...]:
    """If there are too many, drop every second pass; if that is not enough, every second of all."""
    if len(samples) <= MOST_SAMPLES:
        return samples
    kept = (*_but_every_second_pass(samples[:-1]), samples[-1])
    return kept if len(kept) <= MOST_SAMPLES else (*samples[:-1:2], samples[-1])


def _but_every_second_pass(
    samples: Iterable[tuple[float, Measurement]],
) -> Iterable[tuple[float, Measurement]]:
    passes = 0
    for sample in samples:
        passes += sample[1].kind is Kind.PASS
        if sample[1].kind is not Kind.PASS or passes % 2:
            yield sample
