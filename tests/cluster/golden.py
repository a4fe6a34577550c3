"""Writes down what a real server answers to the cases of the sandbox's object tests.

    KUBECONFIG=... python -m tests.cluster.golden [CASE ...]

Creates are dry runs; what an update needs is created for the moment in a namespace of its own.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
from collections.abc import Iterator
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

from sandbox.json import JSON
from sandbox.kinds import Resource
from tests.unit.sandbox.objects.cases import (
    GOLDEN,
    NAMESPACE,
    Case,
    all_cases,
    comparable,
)

CREATED = 201
GONE = 404


class Server:
    """The API server of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        document = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        cluster = document["clusters"][0]["cluster"]
        context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._connection = HTTPSConnection(urlsplit(cluster["server"]).netloc, context=context)
        self._token = document["users"][0]["user"]["token"]

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, JSON, list[str]]:
        """Return an answer's status, body and warnings."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = json.loads(answer.read())
        return answer.status, content, list(_warnings(answer))


def _warnings(answer: HTTPResponse) -> Iterator[str]:
    for header in answer.headers.get_all("Warning") or ():
        yield json.loads(header.split(" ", 2)[2])


def main() -> None:
    """Ask every case, or those that are named, and write the answers."""
    server = Server(Path(os.environ["KUBECONFIG"]))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    server.ask("POST", "/api/v1/namespaces", json.dumps(namespace).encode())
    chosen = set(sys.argv[1:])
    answers: dict[str, dict[str, JSON]] = {}
    for case in all_cases():
        kept = answers.setdefault(case.base, _written(case.base) if chosen else {})
        if not chosen or case.name in chosen:
            kept[case.name] = _answer(server, case)
    for base, found in answers.items():
        text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
        (GOLDEN / f"{base}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{sum(map(len, answers.values()))} answers in {GOLDEN}")


def _written(base: str) -> dict[str, JSON]:
    path = GOLDEN / f"{base}.json"
    found: dict[str, JSON] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def _answer(server: Server, case: Case) -> JSON:
    collection = _path(case.resource)
    query: dict[str, Any] = {"dryRun": "All", "fieldManager": "golden"}
    if case.validation:
        query["fieldValidation"] = case.validation
    if not case.is_update:
        return _told(
            *server.ask("POST", f"{collection}?{urlencode(query)}", json.dumps(case.body).encode())
        )
    while (answer := _update(server, case, collection, urlencode(query)))["status"] == GONE:
        pass
    return answer


def _update(server: Server, case: Case, collection: str, query: str) -> JSON:
    """Create what is updated, ask, and delete it again; 404 where the kubelet was faster."""
    status, stored, _ = server.ask("POST", collection, json.dumps(case.body).encode())
    if status != CREATED:
        raise SystemExit(f"{case.name}: {stored['message']}")
    path = f"{collection}/{stored['metadata']['name']}"
    target = f"{path}/{case.subresource}" if case.subresource else path
    try:
        return _put(server, case, path, f"{target}?{query}")
    finally:
        server.ask("DELETE", f"{path}?gracePeriodSeconds=0&propagationPolicy=Background")


def _put(server: Server, case: Case, path: str, target: str) -> JSON:
    """Update what is there, again where a controller was faster."""
    while True:
        _, stored, _ = server.ask("GET", path)
        if stored["kind"] == "Status":
            return {"status": GONE}
        body = json.dumps(case.changed(stored)).encode()
        status, answer, warnings = server.ask("PUT", target, body)
        if answer.get("reason") != "Conflict":
            return {"before": stored, **_told(status, answer, warnings)}


def _path(resource: Resource) -> str:
    prefix = f"/apis/{resource.group}" if resource.group else "/api"
    place = f"/namespaces/{NAMESPACE}" if resource.namespaced else ""
    return f"{prefix}/{resource.version}{place}/{resource.plural}"


def _told(status: int, body: JSON, warnings: list[str]) -> JSON:
    reply: JSON = {"status": status, **({"warnings": warnings} if warnings else {})}
    if body["kind"] != "Status":
        return {**reply, "object": comparable(body)}
    causes = body.get("details", {}).get("causes")
    return {**reply, "message": body["message"], **({"causes": causes} if causes else {})}


if __name__ == "__main__":
    main()
