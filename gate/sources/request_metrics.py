"""The request metrics of the usual conventions: their names, their labels, who writes them.

Sources, as documented by each project:

- `opentelemetry`: semantic conventions for HTTP metrics, `http.server.request.duration`, as the
  Prometheus exporter names it.
- `prometheus`: the names of "Metric and label naming" of Prometheus, and the label `code` and the
  default buckets of client_golang (`promhttp.InstrumentHandlerCounter`, `DefBuckets`).
- `istio`: "Istio Standard Metrics"; the buckets are Envoy's defaults.
- `linkerd`: "Proxy Metrics"; a latency has no `classification`, as it is measured earlier.
- `grpc`: go-grpc-prometheus and the provider of go-grpc-middleware v2, also java-grpc-prometheus.
- `opentelemetry-rpc`: semantic conventions for RPC metrics up to 1.37 (`rpc.server.duration`, in
  milliseconds), which instrumentations go on to emit by default.
- `nginx`, `nginx-canary`: the socket collector of ingress-nginx; the label `canary` is the
  alternative upstream of a request (`$proxy_alternative_upstream_name`).
- `envoy-gateway`: Envoy's cluster statistics; a route's cluster is named as in
  `httproute/NAMESPACE/NAME/rule/0`.

Which codes of gRPC are the server's fault: OpenTelemetry's semantic conventions for gRPC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from gate.core.frozen import dataclass

BY_POD_NAME: Final = 'pod=~"${replicaset}-[a-z0-9]+"'
"""The pods of a Deployment's new version, whose names begin with that of its ReplicaSet."""
OF_PODS: Final = f'namespace="${{namespace}}",{BY_POD_NAME}'
_OF_SCRAPED_PODS: Final = "scraped with the labels namespace and pod"
_EXPORTED: Final = 'exported_namespace="${namespace}"'
# Prometheus 3 writes a bound as a float when it scrapes, `500.0` for a client's `500`.
_HALF_A_SECOND: Final = 'le="0.5"'
_500_MILLISECONDS: Final = 'le=~"500([.]0)?"'
_SERVER_ERRORS: Final = "Unknown|DeadlineExceeded|Unimplemented|Internal|Unavailable|DataLoss"
_SERVER_ERROR_NUMBERS: Final = "2|4|12|13|14|15"
_ABOUT_CODES: Final = "the codes of gRPC that are the server's fault"


@dataclass(frozen=True, slots=True)
class Errors:
    """Which of the responses are errors: a matcher of labels; `about` says what they are."""

    matches: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Durations:
    """A histogram of response times; `half_second` matches its bucket of 0.5 s.

    `only` selects those of its series whose times mean something, "" for all, and `about` says what
    is special about them.
    """

    name: str
    half_second: str = _HALF_A_SECOND
    per_second: float = 1.0
    only: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class RequestMetrics:
    """One convention: `count` counts responses, of which `selector` chooses those to judge.

    `is_by_version` is whether the series tell the pods of one version from those of another.
    """

    metrics: str
    about: str
    count: str
    durations: Durations
    selector: str
    errors: Errors
    variables: Mapping[str, str] = field(default_factory=dict)
    is_by_version: bool = True


REQUESTS: Final = (
    RequestMetrics(
        "opentelemetry",
        f"the application's own metrics, {_OF_SCRAPED_PODS}",
        "http_server_request_duration_seconds_count",
        Durations("http_server_request_duration_seconds"),
        OF_PODS,
        Errors('http_response_status_code=~"5.."'),
    ),
    RequestMetrics(
        "prometheus",
        "the application's own metrics by the usual names, which it chooses itself: compare them"
        f" with yours; {_OF_SCRAPED_PODS}",
        "http_requests_total",
        Durations("http_request_duration_seconds"),
        OF_PODS,
        Errors('code=~"5.."'),
    ),
    RequestMetrics(
        "istio",
        f"the sidecars' metrics, {_OF_SCRAPED_PODS}",
        "istio_requests_total",
        Durations("istio_request_duration_milliseconds", _500_MILLISECONDS, 1000.0),
        f'reporter="destination",{OF_PODS}',
        Errors('response_code=~"5.."', "by HTTP status: a gRPC call that failed is a 200 here"),
    ),
    RequestMetrics(
        "linkerd",
        f"the proxies' metrics, {_OF_SCRAPED_PODS}",
        "response_total",
        Durations(
            "response_latency_ms", _500_MILLISECONDS, 1000.0, about="times to the first byte"
        ),
        f'direction="inbound",{OF_PODS}',
        Errors('classification="failure"', "a failure by its HTTP or gRPC status"),
    ),
    RequestMetrics(
        "grpc",
        f"the interceptors of the server, {_OF_SCRAPED_PODS}",
        "grpc_server_handled_total",
        Durations(
            "grpc_server_handling_seconds",
            only='grpc_type="unary"',
            about="unary calls alone; the server has to switch this histogram on",
        ),
        OF_PODS,
        Errors(f'grpc_code=~"{_SERVER_ERRORS}"', _ABOUT_CODES),
    ),
    RequestMetrics(
        "opentelemetry-rpc",
        f"the server's own metrics by the conventions up to 1.37, {_OF_SCRAPED_PODS}",
        "rpc_server_duration_milliseconds_count",
        Durations("rpc_server_duration_milliseconds", _500_MILLISECONDS, 1000.0),
        OF_PODS,
        Errors(f'rpc_grpc_status_code=~"{_SERVER_ERROR_NUMBERS}"', _ABOUT_CODES),
    ),
    RequestMetrics(
        "nginx",
        "the ingress controller sees a Service, not its pods: old and new version together",
        "nginx_ingress_controller_requests",
        Durations("nginx_ingress_controller_request_duration_seconds"),
        f'{_EXPORTED},exported_service="${{service}}"',
        Errors('status=~"5.."'),
        {"service": "NAME"},
        is_by_version=False,
    ),
    RequestMetrics(
        "nginx-canary",
        "what the ingress controller sent to the Service of a canary Ingress, which has to select"
        " the new pods alone; the variable canary is its upstream, as in shop-web-canary-80",
        "nginx_ingress_controller_requests",
        Durations("nginx_ingress_controller_request_duration_seconds"),
        f'{_EXPORTED},canary="${{canary}}"',
        Errors('status=~"5.."'),
        {"canary": "NAMESPACE-SERVICE-PORT"},
        is_by_version=False,
    ),
    RequestMetrics(
        "envoy-gateway",
        "the gateway sees an HTTPRoute, not pods: old and new version together, unless all backends"
        " of the route are Services of the new version alone",
        "envoy_cluster_upstream_rq_xx",
        Durations("envoy_cluster_upstream_rq_time", _500_MILLISECONDS, 1000.0),
        'envoy_cluster_name=~"httproute/${namespace}/${route}/rule/[0-9]+"',
        Errors('envoy_response_code_class="5"'),
        {"route": "NAME"},
        is_by_version=False,
    ),
)
"""The first is the default."""
