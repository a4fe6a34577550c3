"""A bed for the controllers: an API in virtual time, and pods that become ready by themselves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sandbox.api.api import (
    Api,
    DeleteOptions,
    Key,
    Patch,
    PatchType,
    Propagation,
    Writer,
)
from sandbox.cluster import Controllers
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.storage.store import Change, ChangeType
from sandbox.times import Timers

STARTED = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE = "shop"
TEAM = Writer("team", "kubectl")
NODE = Writer("system:node:rig", "kubelet")

BIND_SECONDS = 0.004
READY_SECONDS = 0.1
END_SECONDS = 0.05


class StubKubelet:
    """Binds each pod; its template's annotation `ready` says after how long it is ready, if ever.

    `never` lets it run without being ready. A pod that is deleted ends a little later.
    """

    def __init__(self, api: Api, timers: Timers) -> None:
        self._api = api
        self._timers = timers
        self._ending: set[str] = set()
        self.end_seconds = END_SECONDS
        api.store.listen("pods", self._hear)

    def _hear(self, change: Change) -> None:
        if change.type is ChangeType.ADDED:
            self._timers.call_later(BIND_SECONDS, lambda: self._bind(change.key))
        elif change.after is not None and "deletionTimestamp" in change.after["metadata"]:
            uid = change.after["metadata"]["uid"]
            if uid not in self._ending:
                self._ending.add(uid)
                self._timers.call_later(self.end_seconds, lambda: self._remove(change.key))

    def _bind(self, key: Key) -> None:
        pod = self._api.store.get(key)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        self._api.bind(key, pod["metadata"]["uid"], "rig-0", NODE)
        asked = (pod["metadata"].get("annotations") or {}).get("ready", READY_SECONDS)
        if asked == "never":
            self._timers.call_later(READY_SECONDS, lambda: self.report(key, ready=False))
        else:
            self._timers.call_later(float(asked), lambda: self.report(key, ready=True))

    def report(self, key: Key, *, ready: bool, phase: str = "Running") -> None:
        """Write a pod's status."""
        pod = self._api.store.get(key)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        condition = {
            "type": "Ready",
            "status": "True" if ready else "False",
            "lastProbeTime": None,
            "lastTransitionTime": self._timers.wall(),
        }
        status = {**pod["status"], "phase": phase, "conditions": [condition]}
        self._api.update(key, {**pod, "status": status}, NODE, subresource="status")

    def _remove(self, key: Key) -> None:
        if self._api.store.get(key) is not None:
            self._api.delete(key, NODE, DeleteOptions(grace_seconds=0))


class Bed:
    """One namespace, its controllers, and what a watch of the Deployment `web` sees."""

    def __init__(self) -> None:
        self.timers = Timers(STARTED)
        self.api = Api(self.timers)
        self.controllers = Controllers(self.api, self.timers)
        self.controllers.start()
        self.kubelet = StubKubelet(self.api, self.timers)
        self.seen: list[JSON] = []
        self.api.store.listen("deployments.apps", self._see)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.api.create("namespaces", "", namespace, TEAM)

    def _see(self, change: Change) -> None:
        if change.after is not None:
            self.seen.append(change.after)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.timers.run_due(self.timers.now() + seconds)

    def run_until(self, done: Callable[[], object], *, seconds: float = 60.0) -> float:
        """Let time pass until something holds; return when. It has to come within `seconds`."""
        end = self.timers.now() + seconds
        while not done():
            at = self.timers.due_at()
            assert at <= end, "it never came"
            self.timers.run_due(at)
        return self.timers.now()

    def deploy(self, body: JSON) -> JSON:
        """Create a Deployment and let it settle."""
        created = self.api.create("deployments.apps", NAMESPACE, body, TEAM)
        self.run(5.0)
        return created

    def patch(self, changes: JSON, name: str = "web") -> JSON:
        """Merge a patch into a Deployment."""
        key = self.key("deployments.apps", name)
        return self.api.patch(key, Patch(PatchType.MERGE, changes), TEAM)

    def delete(self, resource: str, name: str, policy: Propagation | None = None) -> None:
        """Delete an object as a person would."""
        self.api.delete(self.key(resource, name), TEAM, DeleteOptions(propagation=policy))

    def limit(self, **hard: str) -> None:
        """Create the quota `full`; `count_x` stands for `count/x`."""
        limits = {name.replace("_", "/", 1): amount for name, amount in hard.items()}
        body = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "full"},
            "spec": {"hard": limits},
        }
        self.api.create("resourcequotas", NAMESPACE, body, TEAM)
        self.run(1.0)

    def set_image(self, image: str, ready: str | None = None) -> JSON:
        """Change the template, as a new version does; `ready` is what its pods do."""
        template = {
            "metadata": {"annotations": {"ready": ready}},
            "spec": {"containers": [{"name": "web", "image": image}]},
        }
        return self.patch({"spec": {"template": template}})

    def key(self, resource: str, name: str) -> Key:
        """Return where an object of the namespace is."""
        return Key(resource, NAMESPACE, name)

    def get(self, resource: str, name: str) -> JSON:
        """Return an object as it is stored."""
        return self.api.get(self.key(resource, name))

    @property
    def deployment(self) -> JSON:
        """The Deployment `web`."""
        return self.get("deployments.apps", "web")

    @property
    def replica_sets(self) -> list[JSON]:
        """All ReplicaSets, by revision."""
        found = self.api.store.items("replicasets.apps", NAMESPACE)
        return sorted(found, key=lambda body: int(revision_of(body)))

    @property
    def pods(self) -> list[JSON]:
        """All pods."""
        return self.api.store.items("pods", NAMESPACE)

    @property
    def events(self) -> list[tuple[str, str]]:
        """Reason and message of every event, by time."""
        found = self.api.store.items("events", NAMESPACE)
        found.sort(key=lambda body: int(body["metadata"]["resourceVersion"]))
        return [(body["reason"], body["message"]) for body in found]

    def refuse(self, resource: str, error: ApiError) -> None:
        """Have creates of a resource refused from now on, until `allow`."""

        def hook(admission: Any) -> None:
            if admission.resource.key == resource and admission.before is None:
                raise error

        self.api.admissions.insert(0, hook)

    def allow(self) -> None:
        """End what `refuse` began."""
        self.api.admissions.pop(0)

    def progress(self) -> list[tuple[object, ...]]:
        """Return each step of generations and conditions that the watch saw, once."""
        steps: list[tuple[object, ...]] = []
        for body in self.seen:
            step = (generations(body), conditions(body))
            if not steps or steps[-1] != step:
                steps.append(step)
        return steps


def generations(body: JSON) -> tuple[int, int]:
    """Return the generation and the observed one."""
    return body["metadata"]["generation"], body.get("status", {}).get("observedGeneration", 0)


def conditions(body: JSON) -> tuple[tuple[str, str, str], ...]:
    """Return type, status and reason of each condition, in their order."""
    found = body.get("status", {}).get("conditions", [])
    return tuple((each["type"], each["status"], each["reason"]) for each in found)


def condition(body: JSON, kind: str) -> JSON:
    """Return one condition."""
    found = [each for each in body["status"]["conditions"] if each["type"] == kind]
    assert found, f"no condition {kind}"
    return dict(found[0])


def revision_of(body: JSON) -> str:
    """Return the revision of a Deployment or a ReplicaSet."""
    return str(body["metadata"]["annotations"]["deployment.kubernetes.io/revision"])


def web(replicas: int = 4, image: str = "shop/web:1", **spec: Any) -> JSON:
    """Return the Deployment `web`; `ready` is its pods' annotation, the rest goes into its spec."""
    ready = spec.pop("ready", None)
    metadata: JSON = {"labels": {"app": "web"}}
    if ready is not None:
        metadata["annotations"] = {"ready": ready}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": metadata,
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
            **spec,
        },
    }


def replica_set(replicas: int = 2, **spec: object) -> JSON:
    """Return a ReplicaSet that nobody owns."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "alone"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "alone"}},
            "template": {
                "metadata": {"labels": {"app": "alone", "tier": "web"}, "annotations": {"a": "b"}},
                "spec": {"containers": [{"name": "web", "image": "shop/web:1"}]},
            },
            **spec,
        },
    }
