"""A metric that autoscalers go by: an aggregated API of its own (external.metrics.k8s.io).

The API server leads there by an `APIService`, whose Service is a name of loopback.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.cluster import access
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects

GROUP, VERSION = "external.metrics.k8s.io", "v1beta1"
API_SERVICE = f"{VERSION}.{GROUP}"
METRIC = "queue"


class ExternalMetric(ThreadingHTTPServer):
    """Serves one metric, whose value a test sets."""

    daemon_threads = True

    def __init__(self, folder: Path, value: int) -> None:
        """Listen on a free port, with a certificate made in `folder`."""
        super().__init__(("127.0.0.1", 0), _Handler)
        made = access.self_signed(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made.certificate, made.key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.value = value


class _Handler(BaseHTTPRequestHandler):
    server: ExternalMetric

    def do_GET(self) -> None:
        """Answer discovery and the metric; whatever else is asked for does not exist."""
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts == ["apis", GROUP, VERSION]:
            self._answer("v1", "APIResourceList", groupVersion=f"{GROUP}/{VERSION}", resources=[])
        elif parts[:3] == ["apis", GROUP, VERSION] and parts[-1] == METRIC:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            labels: JSON = {}
            item = {"metricName": METRIC, "metricLabels": labels, "timestamp": now}
            items = [{**item, "value": str(self.server.value)}]
            kind = "ExternalMetricValueList"
            self._answer(f"{GROUP}/{VERSION}", kind, metadata={}, items=items)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, api_version: str, kind: str, **fields: object) -> None:
        body = json.dumps({"apiVersion": api_version, "kind": kind, **fields}).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


@contextmanager
def served(objects: Objects, folder: Path, value: int) -> Iterator[ExternalMetric]:
    """Within the block the cluster has the metric; another one at the same time cannot be."""
    metric = ExternalMetric(folder, value)
    thread = threading.Thread(target=metric.serve_forever, args=(0.05,))
    thread.start()
    spec = {"type": "ExternalName", "externalName": "localhost"}
    objects.create("services", {"metadata": {"name": "metrics"}, "spec": spec})
    try:
        objects.create("apiservices", _api_service(objects.namespace, metric.server_port))
        yield metric
    finally:
        objects.delete("apiservices", API_SERVICE)
        metric.shutdown()
        metric.server_close()
        thread.join()


def _api_service(namespace: str, port: int) -> JSON:
    service = {"namespace": namespace, "name": "metrics", "port": port}
    priorities = {"groupPriorityMinimum": 100, "versionPriority": 100}
    names = {"group": GROUP, "version": VERSION}
    spec = {**names, **priorities, "service": service, "insecureSkipTLSVerify": True}
    return {"metadata": {"name": API_SERVICE}, "spec": spec}


def autoscaler(kind: str, name: str, *, per_pod: int, most: int) -> JSON:
    """Return an HPA that gives a workload one pod for each `per_pod` of the metric."""
    target = {"apiVersion": "apps/v1", "kind": kind, "name": name}
    average = {"type": "AverageValue", "averageValue": str(per_pod)}
    external = {"metric": {"name": METRIC}, "target": average}
    spec = {
        "scaleTargetRef": target,
        "minReplicas": 1,
        "maxReplicas": most,
        "metrics": [{"type": "External", "external": external}],
    }
    metadata, own = {"name": name}, "HorizontalPodAutoscaler"
    return {"apiVersion": "autoscaling/v2", "kind": own, "metadata": metadata, "spec": spec}
