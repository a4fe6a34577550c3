"""A Prometheus for the app's tests: `responses` in its place, and a check that asks it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import requests
import responses

from gate.core.checks.questions import Answers, Errored, Questions, Trouble
from gate.core.model.objects import CleanText
from gate.report.check_report.figures import number
from gate.sources.source import Sources
from tests.unit.app.server import Server

BASE = "https://prom.example"
URL = f"{BASE}/api/v1/query"
QUERY = 'sum(rate(errors{pod=~"${replicaset}-.*"}[${window}]))'
CHECK = f"errors: {QUERY} <= 0.5"
COUNTERS = {
    "name": "errors",
    "bad": 'requests{pod=~"${replicaset}-.*",code=~"5.."}',
    "total": 'requests{pod=~"${replicaset}-.*"}',
}
"""A check that compares counters."""


def asked_of(server: Server, name: str = "web", tag: str = "1") -> str:
    """Return the query about the ReplicaSet that a Deployment has for a version."""
    (replica_set,) = (
        each["metadata"]["name"]
        for each in server.objects.list_all("replicasets", f"app={name}")
        if each["spec"]["template"]["spec"]["containers"][0]["image"] == f"shop/web:{tag}"
    )
    return QUERY.replace("${replicaset}", replica_set).replace("${window}", "60s")


class Metrics:
    """A Prometheus that gives the same answer to each query, and knows what it was asked."""

    def __init__(self, web: responses.RequestsMock) -> None:
        self._web = web
        self.asked: list[str] = []
        self.answers(0.1)

    def answers(self, *values: float) -> None:
        """Give a vector with a series for each value."""
        result = [
            {"metric": {"pod": f"p-{at}"}, "value": [1.0, number(value)]}
            for at, value in enumerate(values)
        ]
        self.says(200, {"status": "success", "data": {"resultType": "vector", "result": result}})

    def counts(self, **counted: float) -> None:
        """Give counters of bad requests and of all."""
        result = [
            {"metric": {"rollout_gate_counted": kind}, "value": [1, str(value)]}
            for kind, value in counted.items()
        ]
        self.says(200, {"status": "success", "data": {"resultType": "vector", "result": result}})

    def gives(self, vector_of: Callable[[str], Any]) -> None:
        """Give each query a vector of its own."""

        def callback(request: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
            (query,) = parse_qs(str(request.body))["query"]
            self.asked.append(query)
            data = {"resultType": "vector", "result": vector_of(query)}
            return 200, {}, json.dumps({"status": "success", "data": data})

        self._web.reset()
        self._web.add_callback(responses.POST, URL, callback, content_type="application/json")

    def says(self, status: int, document: Any, **headers: str) -> None:
        """Give any answer."""

        def callback(request: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
            self.asked += parse_qs(str(request.body))["query"]
            return status, headers, document if isinstance(document, str) else json.dumps(document)

        self._web.reset()
        kind = "text/html" if isinstance(document, str) else "application/json"
        self._web.add_callback(responses.POST, URL, callback, content_type=kind)

    def refuses(self, status: int, message: str) -> None:
        """Give one of the API's own errors."""
        self.says(status, {"status": "error", "errorType": "bad_data", "error": message})


class Unreachable(Sources):
    """Nobody answers."""

    def ask(self, questions: Questions, check: str = "") -> Answers | Errored:  # noqa: ARG002
        """Say that it may be different in a minute."""
        return Errored(CleanText("prom.example refuses the connection"), Trouble.REFUSED)
