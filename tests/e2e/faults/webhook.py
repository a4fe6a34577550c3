"""A mutating admission webhook of one namespace's Deployments, on loopback."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.cluster.access import Certificate
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Client

Patch = Callable[[JSON], list[JSON]]
"""Returns the JSON patch (RFC 6902) of an object that is to be admitted."""

_COLLECTION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


class Webhook(ThreadingHTTPServer):
    """Takes its time with each write that is no dry run, and patches what it is asked about.

    `asked` are the writes that it was asked about.
    """

    def __init__(self, certificate: Certificate, seconds: float, patch: Patch) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.certificate, certificate.key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.patch = patch
        self.asked: list[JSON] = []
        self._seconds = seconds
        self._closing = threading.Event()

    def take_time(self, request: JSON) -> None:
        """Note a write, and keep it waiting."""
        if not request.get("dryRun"):
            self.asked.append(request)
            self._closing.wait(self._seconds)

    def close(self) -> None:
        """Let go of what waits, and end."""
        self._closing.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        """Allow, with the patch (admission.k8s.io/v1)."""
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        self.server.take_time(request)
        response: JSON = {"uid": request["uid"], "allowed": True}
        if patch := self.server.patch(request["object"]):
            encoded = base64.b64encode(json.dumps(patch).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": encoded}
        kinds = {key: review[key] for key in ("apiVersion", "kind")}
        body = json.dumps(kinds | {"response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


@contextmanager
def asked_about_deployments(
    client: Client,
    namespace: str,
    certificate: Certificate,
    *,
    seconds: float = 0.0,
    patch: Patch = lambda _: [],
) -> Iterator[Webhook]:
    """Within the block, the API server asks a webhook about each write of a Deployment."""
    webhook = Webhook(certificate, seconds, patch)
    thread = threading.Thread(target=webhook.serve_forever, args=(0.05,))
    thread.start()
    try:
        client.json("POST", _COLLECTION, _configuration(webhook, namespace, certificate))
        yield webhook
    finally:
        client.json("DELETE", f"{_COLLECTION}/{namespace}")
        webhook.close()
        thread.join()


def _configuration(webhook: Webhook, namespace: str, certificate: Certificate) -> JSON:
    authority = base64.b64encode(certificate.certificate.read_bytes()).decode()
    url = f"https://127.0.0.1:{webhook.server_port}/"
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "resources": ["deployments"],
        "operations": ["CREATE", "UPDATE"],
    }
    hook = {
        "name": "slow.rollout-gate.test",
        "clientConfig": {"url": url, "caBundle": authority},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 30,
        "failurePolicy": "Fail",
    }
    return {"metadata": {"name": namespace}, "webhooks": [hook]}
