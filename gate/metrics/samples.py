"""Turns what is known of a run into samples. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gate.core.model.outcome import Outcome
from gate.metrics.families import (
    ATTEMPTS,
    CHECKS,
    DELAY,
    LAST_DURATION,
    LAST_INFO,
    LAST_OUTCOME,
    LAST_TIMESTAMP,
    PHASE,
    REQUESTS,
    Sample,
)
from gate.metrics.run import NOWHERE, Ended, Place, RunMetrics


def samples_of(run: RunMetrics) -> Iterator[Sample]:
    """Yield every current sample, those of one metric together.

    There are none while the run's workloads are unknown, unless it has ended.
    """
    place = run.places[0]
    if place == NOWHERE and not run.ended:
        return
    last = {one.place: one for one in run.ended}
    yield from _attempts(run.ended)
    for one in last.values():
        yield Sample(LAST_TIMESTAMP, one.place.labels, one.at)
    for one in last.values():
        yield Sample(LAST_DURATION, one.place.labels, one.duration_seconds)
    for one in last.values():
        for outcome in Outcome:
            yield Sample(
                LAST_OUTCOME, (*one.place.labels, outcome.value), float(outcome is one.outcome)
            )
    for one in last.values():
        reason, version = one.reason.value, run.about.version
        label_values = (one.command, reason, version, run.cluster.uid)
        yield Sample(LAST_INFO, (*one.place.labels, *label_values), 1.0)
    yield from _of_the_whole(run, place)


def _attempts(ended: tuple[Ended, ...]) -> Iterator[Sample]:
    counts = Counter(
        (*one.place.labels, one.command, one.outcome.value, one.reason.value) for one in ended
    )
    for labels, count in counts.items():
        yield Sample(ATTEMPTS, labels, count)


def _of_the_whole(run: RunMetrics, place: Place) -> Iterator[Sample]:
    phases = run.phases
    for (leg, phase), seconds in phases.durations(run.now).items():
        yield Sample(PHASE, (*place.labels, leg.value, phase), seconds)
    if phases.delay_seconds is not None:
        yield Sample(DELAY, place.labels, phases.delay_seconds)
    measured: Counter[tuple[str, str]] = Counter()
    for probe, verdict, count in run.measurements():
        measured[probe.value, verdict.value] += count
    for labels, count in measured.items():
        yield Sample(CHECKS, (*place.labels, *labels), count)
    for answered, count in sorted(run.cluster.requests.tally().items()):
        yield Sample(REQUESTS, (*place.labels, *answered), count)
