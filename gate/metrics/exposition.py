"""Samples in Prometheus' format: the one file that knows how `prometheus_client` writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from gate.metrics.families import FAMILIES, Sample, Type

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Read = Callable[[], Iterable[Sample]]
"""Returns the current samples, those of one metric together."""


class _Reading(Collector):
    """Reads the samples again for each collection."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Yield each metric that has samples."""
        for family, samples in groupby(self._read(), key=lambda sample: sample.family):
            kind = CounterMetricFamily if family.type is Type.COUNTER else GaugeMetricFamily
            metric = kind(family.name, family.help, labels=family.label_names)
            for sample in samples:
                metric.add_metric(list(sample.labels), sample.value)
            yield metric

    def describe(self) -> Iterator[Metric]:
        """Yield the names, so that registering reads nothing."""
        for family in FAMILIES:
            yield Metric(family.name.removesuffix("_total"), family.help, family.type.value)


def registry_of(read: Read) -> CollectorRegistry:
    """Return a registry of these samples only, without those of the process or the platform."""
    registry = CollectorRegistry()
    registry.register(_Reading(read))
    return registry


def text_of(samples: Iterable[Sample]) -> bytes:
    """Return samples in the text format 0.0.4."""
    known = tuple(samples)
    return generate_latest(registry_of(lambda: known))
