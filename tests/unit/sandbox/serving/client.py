"""A client that asks a whole cluster through its door, in virtual time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sandbox.cluster import Cluster
from sandbox.json import JSON
from sandbox.serving.handle import AuditEntry
from sandbox.serving.request import Answer, Request, Stream

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"


@dataclass(slots=True)
class Client:
    """A cluster with somebody who asks it; `entries` are what its audit heard."""

    cluster: Cluster
    entries: list[AuditEntry]
    token: str = "admin-token"

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        **headers: str,
    ) -> Answer:
        """Send a request; `body` is JSON, or bytes as they are."""
        bare, _, query = path.partition("?")
        pairs = tuple(_pair(part) for part in query.split("&") if part)
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        given = {"content-type": content_type, "user-agent": "kubectl/v1.36 (linux)"}
        if self.token:
            given["authorization"] = f"Bearer {self.token}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.cluster.handle(Request(method, bare, pairs, {**given, **named}, raw))

    def json(self, method: str, path: str, body: Any = None, **options: str) -> JSON:
        """Send a request; return the document that answers it."""
        return document(self.ask(method, path, body, **options))

    def watch(self, path: str, **headers: str) -> Stream:
        """Open a watch or a followed log."""
        answer = self.ask("GET", path, **headers)
        assert not isinstance(answer.body, bytes), answer
        return answer.body

    def pass_seconds(self, seconds: float) -> None:
        """Let the cluster's time go on."""
        timers = self.cluster.timers
        timers.run_due(timers.now() + seconds)


def document(answer: Answer) -> JSON:
    """Return an answer's JSON."""
    assert isinstance(answer.body, bytes)
    found: JSON = json.loads(answer.body)
    return found


def events(stream: Stream) -> list[JSON]:
    """Return what a watch has told since the last time."""
    return [json.loads(line) for line in stream.take()]


def _pair(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name, value
