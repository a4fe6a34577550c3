"""Whatever is sent, the door answers: random requests, most of them nearly right."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.json import JSON, copy_json
from sandbox.kinds import RESOURCES, Resource
from sandbox.serving.request import Answer, Stream
from tests.long import longer
from tests.unit.sandbox.objects.cases import all_cases
from tests.unit.sandbox.serving.client import Client

REQUESTS_OF_A_SEED = 500
JUNK: tuple[Any, ...] = (
    *(None, "", "!", "x" * 300, "\x00", "é\n", "\ud800", "10%", "1e99999999", "9" * 5000, "²"),
    *("2026-13-45T99:99:99Z", "9999-12-31T23:59:59.5-14:00", 0, -1, 1.5, 2**62, 2**70, True),
    *([], {}, [None], [{}], [[]], {"a": 1}, {"": None}, ["a", "a"], [{"name": "a"}] * 2),
)
RAW = (b"", b"null", b"[", b"\xff\xfe", b'{"a":1e999}', b'{"a":NaN}', b"a: &a [*a]", b"k8s\0\x0a")
DEEP = (b'{"metadata":' * 900, b'{"a":' * 300 + b"1" + b"}" * 300)
EXTRA = ("foo", "$patch", "$setElementOrder/containers", "$retainKeys", "finalizers", "status")
PATCHES = ("json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml")
METHODS = ("POST",) * 3 + ("PUT",) * 5 + ("PATCH",) * 6 + ("GET", "GET", "DELETE", "HEAD", "ODD")
QUERIES = (
    *("",) * 20,
    *("watch=1", "limit=1", "continue=eyJ2IjoieCJ9", f"resourceVersion={'9' * 5000}"),
    *("timeoutSeconds=²", "limit=٣", "labelSelector=a>²", "labelSelector=a in (b", "dryRun=All"),
    *("fieldSelector=status.phase!=x", "gracePeriodSeconds=4611686018427387904", "sinceTime=x"),
    *("sinceSeconds=4611686018427387904", "fieldValidation=Strict", "propagationPolicy=x"),
    *("resourceVersionMatch=Exact", "sendInitialEvents=true", "includeObject=x", "follow=1"),
)
ACCEPTS = ("", "", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io", ";;,q=x")


class Sender:
    """Sends one random request after the other; `statuses` are what came of them."""

    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._random = random.Random(seed)
        self._cases = all_cases()
        self._streams: list[Stream] = []
        self.statuses: Counter[int] = Counter()

    def fill(self) -> None:
        """Create one good object of each kind."""
        for case in self._cases:
            if case.name == case.base:
                body = {**case.body, "metadata": {"name": "x"}}
                self._client.ask("POST", self._path(case.resource), body)

    def send(self) -> None:
        """Send one, read what watches have told, and let time pass."""
        pick = self._random.choice
        resource, method = pick(RESOURCES), pick(METHODS)
        path = self._path(resource)
        if method != "POST" or self._random.random() < 0.1:
            path = f"{path}/x{pick(('', '', *(f'/{name}' for name in resource.subresources)))}"
        path = f"{path}?{pick(QUERIES)}"
        kind = "application/json"
        if method == "PATCH":
            kind, path = f"application/{pick(PATCHES)}", f"{path}&fieldManager=m"
        body = self._body(resource, kind)
        answer = self._client.ask(method, path, body, content_type=kind, accept=pick(ACCEPTS))
        self._keep(answer)
        self._client.pass_seconds(pick((0, 0, 0.1, 5)))

    def _keep(self, answer: Answer) -> None:
        self.statuses[answer.status] += 1
        if not isinstance(answer.body, bytes):
            self._streams.append(answer.body)
        for stream in self._streams:
            stream.take()
        if len(self._streams) > 5:
            self._streams.pop(0).close()

    def _path(self, resource: Resource) -> str:
        root = f"apis/{resource.group}" if resource.group else "api"
        place = "namespaces/default/" if resource.namespaced else ""
        return f"/{root}/{resource.version}/{place}{resource.plural}"

    def _body(self, resource: Resource, kind: str) -> bytes:
        chance = self._random.random()
        if chance < 0.05:
            return self._random.choice((*RAW, *DEEP))
        known = [case.body for case in self._cases if case.resource == resource]
        found = self._client.cluster.api.store.items(resource.key) or known
        body = copy_json(self._random.choice(found if chance < 0.5 else known))
        body["metadata"] = {**(body.get("metadata") or {}), "name": "x"}
        for name in ("resourceVersion", "namespace", "managedFields"):
            body["metadata"].pop(name, None)
        if kind.endswith("json-patch+json"):
            return json.dumps([self._operation(body)]).encode()
        self._spoil(body)
        return json.dumps(body).encode()

    def _operation(self, body: JSON) -> JSON:
        pick = self._random.choice
        path = "/".join(("", *map(str, pick(list(_paths(body))))))
        name = pick(("add", "remove", "replace", "move", "copy", "test", "odd"))
        return {"op": name, "path": path, "from": path, "value": pick(JUNK)}

    def _spoil(self, body: JSON) -> None:
        for _ in range(self._random.choice((0, 0, 1, 1, 2))):
            *way, last = self._random.choice(list(_paths(body)))
            at: Any = body
            for key in way:
                at = at[key]
            if isinstance(at, dict) and self._random.random() < 0.2:
                last = self._random.choice(EXTRA)
            at[last] = copy_json(self._random.choice(JUNK))


def _paths(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*above, key)
        if isinstance(part, dict | list):
            yield from _paths(part, (*above, key))


@pytest.mark.parametrize("seed", [0, *(longer(seed) for seed in range(1, 6))])
def test_any_request_is_answered(client: Client, seed: int) -> None:
    """No request raises, at once or in what it sets going; good ones are among them."""
    sender = Sender(client, seed)
    sender.fill()
    for _ in range(REQUESTS_OF_A_SEED):
        sender.send()
    assert sender.statuses.total() == REQUESTS_OF_A_SEED
    assert sender.statuses[200] + sender.statuses[201] > REQUESTS_OF_A_SEED // 10
