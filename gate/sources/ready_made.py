"""Ready-made checks for the usual metric names; each is plain configuration and nothing more.

Requests are judged in two ways: against the version that served before (by counts), and against a
fixed bound. Series that do not tell the versions apart are never compared: that would hold both
versions together against themselves. Sources of the names: `request_metrics`, kube-state-metrics,
cAdvisor as the kubelet serves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from difflib import get_close_matches
from typing import Any, Final

import yaml

from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.sources.request_metrics import BY_POD_NAME, OF_PODS, REQUESTS, RequestMetrics

# `increase` and not `rate`: the ratios are the same, but VictoriaMetrics before 1.86 looks back
# beyond a short window for `rate`, into the time of the previous version.
_WINDOW: Final = "2m"
_LEAST_REQUESTS: Final = 20
_BY_COUNTS: Final = "new against old by counts, while both versions serve"


@dataclass(frozen=True, slots=True)
class ReadyMade:
    """One check for one kind of metrics; `keys` are those of an entry of `checks`.

    `about` says what it needs and what it cannot see.
    """

    name: str
    metrics: str
    about: str
    keys: Mapping[str, Any] = field(hash=False)

    @property
    def is_by_counts(self) -> bool:
        """Whether it compares counters of both versions."""
        return "bad" in self.keys

    @property
    def selects_pods(self) -> bool:
        """Whether it tells the pods of versions apart."""
        return BY_POD_NAME in str(self.keys)

    def with_pods(self, selector: str) -> ReadyMade:
        """Return it with another selector for the pods of the new version, as label matchers."""
        return replace(self, keys=_replace_texts(self.keys, BY_POD_NAME, selector))

    def as_configuration(self) -> str:
        """Return it as YAML for `rollout-gate.yaml`."""
        document = {"checks": [{"name": self.name, **self.keys}]}
        text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=4096)
        return f"# {self.name} ({self.metrics}): {self.about}\n{text}"


def _replace_texts(value: Any, before: str, after: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _replace_texts(item, before, after) for key, item in value.items()}
    return value.replace(before, after) if isinstance(value, str) else value


def _error_rate(of: RequestMetrics) -> ReadyMade:
    every = f"{of.count}{{{of.selector}}}[${{window}}]"
    bad = f"{of.count}{{{of.selector},{of.errors.matches}}}[${{window}}]"
    keys = {
        # If nothing fails, there is no series of failures: that is 0, not missing data.
        "query": f"(sum(increase({bad})) or vector(0)) / sum(increase({every}))",
        "max": 0.01,
        "min-samples": {"query": f"sum(increase({every}))", "min": _LEAST_REQUESTS},
        "window": _WINDOW,
    }
    about = "share of responses that are errors, at most 1 %"
    return _make("error-rate", of, keys, about, of.errors.about)


def _latency(of: RequestMetrics) -> ReadyMade:
    times, selector = of.durations, _select_times(of)
    buckets = f"increase({times.name}_bucket{{{selector}}}[${{window}}])"
    every = f"increase({times.name}_count{{{selector}}}[${{window}}])"
    keys = {
        "query": f"histogram_quantile(0.99, sum by (le) ({buckets})) / {times.per_second:g}",
        "max": 1.0,
        "min-samples": {"query": f"sum({every})", "min": _LEAST_REQUESTS},
        "window": _WINDOW,
    }
    about = "seconds within which 99 of 100 responses came"
    return _make("latency-p99", of, keys, about, times.about)


def _error_share(of: RequestMetrics) -> ReadyMade:
    keys = {
        "bad": f"{of.count}{{{of.selector},{of.errors.matches}}}",
        "total": f"{of.count}{{{of.selector}}}",
    }
    about = f"share of responses that are errors, {_BY_COUNTS}"
    return _make("error-share", of, keys, about, of.errors.about)


def _slow_share(of: RequestMetrics) -> ReadyMade:
    times, selector = of.durations, _select_times(of)
    every = f"{times.name}_count{{{selector}}}"
    quick = f"{times.name}_bucket{{{selector},{times.half_second}}}"
    keys = {"bad": f"{every} - ignoring(le) {quick}", "total": every}
    about = f"share of responses that took over 0.5 s (a bucket of its own), {_BY_COUNTS}"
    return _make("slow-share", of, keys, about, times.about)


def _select_times(of: RequestMetrics) -> str:
    return ",".join(filter(None, (of.selector, of.durations.only)))


def _make(name: str, of: RequestMetrics, keys: Mapping[str, Any], *about: str) -> ReadyMade:
    variables = {"variables": dict(of.variables)} if of.variables else {}
    said = "; ".join(filter(None, (*about, of.about)))
    return ReadyMade(name, of.metrics, said, {**keys, **variables})


_RESTARTS: Final = ReadyMade(
    "restarts",
    "kube-state-metrics",
    "restarts of the new pods' containers since they exist",
    {"query": f"sum(kube_pod_container_status_restarts_total{{{OF_PODS}}})", "max": 0},
)
_CONTAINERS: Final = f'{OF_PODS},container!=""'
_OVER_WINDOW: Final = f"{{{_CONTAINERS}}}[${{window}}]"
_THROTTLING: Final = ReadyMade(
    "cpu-throttling",
    "cadvisor",
    "share of scheduling periods in which the new pods were throttled; needs CPU limits",
    {
        "query": f"sum(increase(container_cpu_cfs_throttled_periods_total{_OVER_WINDOW}))"
        f" / sum(increase(container_cpu_cfs_periods_total{_OVER_WINDOW}))",
        "max": 0.25,
        "window": _WINDOW,
    },
)
_MEMORY: Final = ReadyMade(
    "memory-near-limit",
    "cadvisor",
    "the fullest of the new pods' containers as a share of its memory limit; needs limits",
    {
        "query": f"max(container_memory_working_set_bytes{{{_CONTAINERS}}}"
        f" / (container_spec_memory_limit_bytes{{{_CONTAINERS}}} > 0))",
        "max": 0.9,
    },
)

_BY_VERSION: Final = tuple(each for each in REQUESTS if each.is_by_version)

READY_MADE: Final = (
    *map(_error_rate, REQUESTS),
    *map(_latency, REQUESTS),
    *map(_error_share, _BY_VERSION),
    *map(_slow_share, _BY_VERSION),
    _RESTARTS,
    _THROTTLING,
    _MEMORY,
)
"""Every check for every kind of metrics it is made for; the first of a name is the default."""


_NOT_BY_VERSION: Final = tuple(each.metrics for each in REQUESTS if not each.is_by_version)


def find(name: str, metrics: str | None = None) -> ReadyMade:
    """Return the named check, for that kind of metrics or the default; UsageError if none."""
    found = [each for each in READY_MADE if each.name == name]
    if not found:
        close = get_close_matches(name, names(), n=1)
        guess = f"did you mean {close[0]}? " if close else ""
        hint = f"{guess}there are {', '.join(names())}"
        raise UsageError(f"no ready-made check is named {name[:60]!a}", hint=hint)
    for each in found:
        if metrics in (None, each.metrics):
            return each
    hint = f"{name} is made for {', '.join(each.metrics for each in found)}"
    if found[0].is_by_counts and metrics in _NOT_BY_VERSION:
        hint = f"they cover both versions together: take error-rate or latency-p99; {hint}"
    raise UsageError(f"no {name} for the metrics {str(metrics)[:60]!a}", hint=hint)


def names() -> tuple[str, ...]:
    """Return the names, each once."""
    return tuple(dict.fromkeys(_all_names()))


def _all_names() -> Iterator[str]:
    return (each.name for each in READY_MADE)
