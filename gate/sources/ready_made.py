"""Ready-made checks for the usual metric names; each is plain configuration and nothing more.

Sources of the names: OpenTelemetry's semantic conventions for HTTP servers, Istio's standard
metrics, ingress-nginx, kube-state-metrics, cAdvisor as the kubelet serves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

import yaml

from gate.errors import UsageError

_OF_PODS: Final = 'namespace="${namespace}",pod=~"${replicaset}-[a-z0-9]+"'
_OF_SERVICE: Final = 'exported_namespace="${namespace}",exported_service="${service}"'
# `increase` and not `rate`: the ratios are the same, but VictoriaMetrics before 1.86 looks back
# beyond a short window for `rate`, into the time of the previous version.
_WINDOW: Final = "2m"
_LEAST_REQUESTS: Final = 20


@dataclass(frozen=True, slots=True)
class ReadyMade:
    """One check for one kind of metrics; `keys` are those of an entry of `checks`.

    `about` says what it needs and what it cannot see.
    """

    name: str
    metrics: str
    about: str
    keys: Mapping[str, Any] = field(hash=False)

    def as_configuration(self) -> str:
        """Return it as YAML for `rollout-gate.yaml`."""
        document = {"checks": [{"name": self.name, **self.keys}]}
        text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=4096)
        return f"# {self.name} ({self.metrics}): {self.about}\n{text}"


@dataclass(frozen=True, slots=True)
class _Requests:
    """One convention's request metrics; `selector` chooses those of the new version."""

    metrics: str
    about: str
    count: str
    bucket: str
    selector: str
    errors: str
    per_second: float = 1.0
    variables: Mapping[str, str] = field(default_factory=dict)


_REQUESTS: Final = (
    _Requests(
        "opentelemetry",
        "the application's own metrics, scraped with the labels namespace and pod",
        "http_server_request_duration_seconds_count",
        "http_server_request_duration_seconds_bucket",
        _OF_PODS,
        'http_response_status_code=~"5.."',
    ),
    _Requests(
        "istio",
        "the sidecars' metrics, scraped with the labels namespace and pod",
        "istio_requests_total",
        "istio_request_duration_milliseconds_bucket",
        f'reporter="destination",{_OF_PODS}',
        'response_code=~"5.."',
        per_second=1000.0,
    ),
    _Requests(
        "nginx",
        "the ingress controller sees a Service, not its pods: old and new version together",
        "nginx_ingress_controller_requests",
        "nginx_ingress_controller_request_duration_seconds_bucket",
        _OF_SERVICE,
        'status=~"5.."',
        variables={"service": "NAME"},
    ),
)


def _error_rate(of: _Requests) -> ReadyMade:
    every = f"{of.count}{{{of.selector}}}[${{window}}]"
    bad = f"{of.count}{{{of.selector},{of.errors}}}[${{window}}]"
    keys = {
        # If nothing fails, there is no series of failures: that is 0, not missing data.
        "query": f"(sum(increase({bad})) or vector(0)) / sum(increase({every}))",
        "max": 0.01,
        "min-samples": {"query": f"sum(increase({every}))", "min": _LEAST_REQUESTS},
    }
    about = f"share of responses that are 5xx; {of.about}"
    return ReadyMade("error-rate", of.metrics, about, _with(of, keys))


def _latency(of: _Requests) -> ReadyMade:
    buckets = f"increase({of.bucket}{{{of.selector}}}[${{window}}])"
    every = f"{of.count}{{{of.selector}}}[${{window}}]"
    keys = {
        "query": f"histogram_quantile(0.99, sum by (le) ({buckets})) / {of.per_second:g}",
        "max": 1.0,
        "min-samples": {"query": f"sum(increase({every}))", "min": _LEAST_REQUESTS},
    }
    about = f"seconds within which 99 of 100 responses came; {of.about}"
    return ReadyMade("latency-p99", of.metrics, about, _with(of, keys))


def _with(of: _Requests, keys: Mapping[str, Any]) -> dict[str, Any]:
    variables = {"variables": dict(of.variables)} if of.variables else {}
    return {**keys, "window": _WINDOW, **variables}


_RESTARTS: Final = ReadyMade(
    "restarts",
    "kube-state-metrics",
    "restarts of the new pods' containers since they exist",
    {"query": f"sum(kube_pod_container_status_restarts_total{{{_OF_PODS}}})", "max": 0},
)
_CONTAINERS: Final = f'{_OF_PODS},container!=""'
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

READY_MADE: Final = (
    *map(_error_rate, _REQUESTS),
    *map(_latency, _REQUESTS),
    _RESTARTS,
    _THROTTLING,
    _MEMORY,
)
"""Every check for every kind of metrics it is made for; the first of a name is the default."""


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
    raise UsageError(f"no {name} for the metrics {str(metrics)[:60]!a}", hint=hint)


def names() -> tuple[str, ...]:
    """Return the names, each once."""
    return tuple(dict.fromkeys(_all_names()))


def _all_names() -> Iterator[str]:
    return (each.name for each in READY_MADE)
