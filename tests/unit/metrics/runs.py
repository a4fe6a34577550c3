"""Runs whose metrics are read, and the parser of the official client that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.parser import text_string_to_metric_families

from gate.metrics.exposition import text_of
from gate.metrics.families import Sample
from gate.metrics.run import About, RunMetrics
from gate.virtual_time import VirtualClock

Labels = frozenset[tuple[str, str]]
Parsed = Mapping[str, Mapping[Labels, float]]


def run_of(clock: VirtualClock | None = None, command: str = "apply") -> RunMetrics:
    """Return a run that has just begun."""
    return RunMetrics(About(command, "1.2.3"), clock or VirtualClock())


def parsed(text: bytes | str) -> Parsed:
    """Return the values of a text of metrics, by name and labels."""
    given = text.decode() if isinstance(text, bytes) else text
    found: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(given):
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return found


def read(samples: Iterable[Sample]) -> Parsed:
    """Return samples as Prometheus would read them."""
    return parsed(text_of(samples))


def values(found: Parsed, name: str, *labels: str) -> Mapping[tuple[str, ...], float]:
    """Return the values of a metric by some of its labels."""
    return {
        tuple(dict(key)[label] for label in labels): value
        for key, value in found.get(name, {}).items()
    }
