"""The objects of one namespace, for setting a scene and for looking at what became of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol
from urllib.parse import urlencode

from tests.cluster.kubelet.api import JSON, MERGE_PATCH, WATCH_IDLE_SECONDS, ApiError
from tests.cluster.lateness import be_late

WAIT_SECONDS = 30.0

_GROUPS = {
    "/api/v1": (
        "configmaps",
        "endpoints",
        "events",
        "persistentvolumeclaims",
        "pods",
        "resourcequotas",
        "secrets",
        "services",
    ),
    "/apis/apps/v1": (
        "controllerrevisions",
        "daemonsets",
        "deployments",
        "replicasets",
        "statefulsets",
    ),
    "/apis/autoscaling/v2": ("horizontalpodautoscalers",),
    "/apis/batch/v1": ("cronjobs", "jobs"),
    "/apis/coordination.k8s.io/v1": ("leases",),
    "/apis/networking.k8s.io/v1": ("ingresses", "networkpolicies"),
    "/apis/policy/v1": ("poddisruptionbudgets",),
    "/apis/rbac.authorization.k8s.io/v1": ("rolebindings", "roles"),
}
_PREFIXES = {resource: prefix for prefix, names in _GROUPS.items() for resource in names}
_CLUSTER_SCOPED = {
    "apiservices": "/apis/apiregistration.k8s.io/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
    "namespaces": "/api/v1",
    "nodes": "/api/v1",
    "persistentvolumes": "/api/v1",
}


class Client(Protocol):
    """One user's way to an API server, as `tests.cluster.kubelet.api.Api` has it."""

    def json(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> JSON:
        """Send one request and return the object of the answer; `ApiError` from 400 on."""
        answer: JSON = json.loads(self.text(method, path, body, content_type))
        return answer

    def text(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> str:
        """Send one request and return the answer's text."""

    def lines(
        self, path: str, idle_seconds: float = WATCH_IDLE_SECONDS
    ) -> AbstractContextManager[Iterator[bytes]]:
        """Open a watch; silence of `idle_seconds` raises `TimeoutError`."""


class Objects:
    """Reads and writes as the administrator; resources by their plural, as in `deployments`.

    Errors are those of `Api.json`. Cluster-scoped resources are there too, whatever the namespace.
    """

    def __init__(self, api: Client, namespace: str) -> None:
        self.namespace = namespace
        self._api = api

    def get(self, resource: str, name: str) -> JSON:
        """Return one object."""
        return self._api.json("GET", self.path(resource, name))

    def find(self, resource: str, name: str) -> JSON | None:
        """Return one object, or None where the server says that it does not exist."""
        try:
            return self.get(resource, name)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list_all(self, resource: str, labels: str = "") -> list[JSON]:
        """Return the objects of a resource that match a label selector."""
        query = f"?{urlencode({'labelSelector': labels})}" if labels else ""
        items: list[JSON] = self._api.json("GET", self.path(resource) + query)["items"]
        return items

    def create(self, resource: str, body: JSON) -> JSON:
        """Create an object and return what the server made of it."""
        return self._api.json("POST", self.path(resource), body)

    def bind(self, user: str, rules: Sequence[JSON]) -> None:
        """Give a user a Role and a RoleBinding of its name, with these rules."""
        self.create("roles", {"metadata": {"name": user}, "rules": [*rules]})
        group = "rbac.authorization.k8s.io"
        reference = {"apiGroup": group, "kind": "Role", "name": user}
        subjects = [{"apiGroup": group, "kind": "User", "name": user}]
        binding = {"metadata": {"name": user}, "roleRef": reference, "subjects": subjects}
        self.create("rolebindings", binding)

    def patch(
        self,
        resource: str,
        name: str,
        body: JSON | Sequence[JSON],
        content_type: str = MERGE_PATCH,
        subresource: str = "",
        query: str = "",
    ) -> JSON:
        """Patch an object and return what the server made of it; `query` begins with "?"."""
        path = self.path(resource, name) + (f"/{subresource}" if subresource else "") + query
        content = body if isinstance(body, dict) else [*body]
        return self._api.json("PATCH", path, content, content_type)

    def delete(self, resource: str, name: str, propagation: str = "Background") -> None:
        """Delete an object; its dependants follow in the background, or stay with `Orphan`."""
        self._api.json("DELETE", self.path(resource, name), {"propagationPolicy": propagation})

    def wait(
        self,
        resource: str,
        holds: Callable[[list[JSON]], bool],
        timeout_seconds: float = WAIT_SECONDS,
        since: str = "",
    ) -> list[JSON]:
        """Return the objects of a resource as soon as `holds(objects)`; every change is looked at.

        It begins with what is there now, or with `since` (a resourceVersion): then with what has
        changed after it. Raises `TimeoutError` with what there was in the end.
        """
        objects: dict[str, JSON] = {}
        if not since:
            listed = self._api.json("GET", self.path(resource))
            objects = {item["metadata"]["uid"]: item for item in listed["items"]}
            since = listed["metadata"]["resourceVersion"]
        if holds([*objects.values()]):
            return [*objects.values()]
        try:
            for event in self._events(resource, since, timeout_seconds):
                _fold(objects, event)
                if holds([*objects.values()]):
                    be_late()
                    return [*objects.values()]
        except TimeoutError:
            pass
        raise TimeoutError(
            f"{resource} of {self.namespace} are not as waited for after {timeout_seconds} s:"
            f" {json.dumps([*objects.values()], indent=1)}"
        )

    def _events(self, resource: str, since: str, timeout_seconds: float) -> Iterator[JSON]:
        """Watch for `timeout_seconds`; the server ends it, and where it hangs the socket does."""
        seconds = math.ceil(timeout_seconds)
        query = urlencode({"watch": 1, "resourceVersion": since, "timeoutSeconds": seconds})
        with self._api.lines(f"{self.path(resource)}?{query}", seconds + 1) as lines:
            for line in lines:
                yield json.loads(line)

    def wait_for(
        self,
        resource: str,
        name: str,
        holds: Callable[[JSON], bool],
        timeout_seconds: float = WAIT_SECONDS,
    ) -> JSON:
        """Return one object as soon as it exists and `holds(object)`."""

        def named_holds(objects: list[JSON]) -> bool:
            return any(holds(item) for item in objects if item["metadata"]["name"] == name)

        objects = self.wait(resource, named_holds, timeout_seconds)
        return next(item for item in objects if item["metadata"]["name"] == name)

    def wait_complete(self, name: str, timeout_seconds: float = WAIT_SECONDS) -> JSON:
        """Return a Deployment as soon as its rollout is complete."""
        return self.wait_for("deployments", name, is_complete, timeout_seconds)

    def path(self, resource: str, name: str = "") -> str:
        """Return the path of a collection or of one object."""
        if resource in _CLUSTER_SCOPED:
            collection = f"{_CLUSTER_SCOPED[resource]}/{resource}"
        else:
            collection = f"{_PREFIXES[resource]}/namespaces/{self.namespace}/{resource}"
        return f"{collection}/{name}" if name else collection


def _fold(objects: dict[str, JSON], event: JSON) -> None:
    item = event["object"]
    if event["type"] == "ERROR":
        raise ApiError(item.get("code", 0), item.get("message", ""))
    uid = item["metadata"]["uid"]
    if event["type"] == "DELETED":
        objects.pop(uid, None)
    else:
        objects[uid] = item


def is_complete(deployment: JSON) -> bool:
    """Whether the controller has seen the Deployment as it is, and every pod is new and available.

    Written from the API's documentation, apart from the gate, whose verdicts it checks.
    """
    wanted, status = deployment["spec"]["replicas"], deployment.get("status", {})
    counters = ("replicas", "updatedReplicas", "availableReplicas")
    return status.get("observedGeneration", 0) >= deployment["metadata"]["generation"] and all(
        status.get(counter, 0) == wanted for counter in counters
    )


def is_ready(pod: JSON) -> bool:
    """Whether a pod's Ready condition is true."""
    return condition(pod, "Ready").get("status") == "True"


def condition(item: JSON, name: str) -> dict[str, Any]:
    """Return a condition of any object's status, empty where it has none of that type."""
    conditions = item.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == name), {})
