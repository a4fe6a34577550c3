"""A bed for the controllers: an API in virtual time, and pods that do as they are asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sandbox.api.api import Api, DeleteOptions, Key, Patch, PatchType, Propagation, Writer
from sandbox.cluster import Controllers
from sandbox.json import JSON
from sandbox.kubelet.behaviour import ANNOTATION
from sandbox.kubelet.container import Pace
from sandbox.kubelet.kubelet import Kubelet
from sandbox.times import Names, Timers

STARTED = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE = "shop"
TEAM = Writer("team", "kubectl")
NODE = Writer("system:node:rig", "kubelet")


class Bed:
    """One namespace with its controllers and its kubelet."""

    def __init__(self) -> None:
        self.timers = Timers(STARTED)
        self.api = Api(self.timers)
        self.controllers = Controllers(self.api)
        self.controllers.start()
        self.kubelet = Kubelet(self.api, self.timers, Names(1), pace=Pace.SHORT)
        self.kubelet.start()
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.api.create("namespaces", "", namespace, TEAM)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.timers.run_due(self.timers.now() + seconds)

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

    def set_image(self, image: str, asked: str | None = None) -> JSON:
        """Change the template, as a new version does; `asked` is what its pods do."""
        template = {
            "metadata": {"annotations": {ANNOTATION: asked}},
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


def generations(body: JSON) -> tuple[int, int]:
    """Return the generation and the observed one."""
    return body["metadata"]["generation"], body.get("status", {}).get("observedGeneration", 0)


def condition(body: JSON, kind: str) -> JSON:
    """Return one condition."""
    found = [each for each in body["status"]["conditions"] if each["type"] == kind]
    assert found, f"no condition {kind}"
    return dict(found[0])


def revision_of(body: JSON) -> str:
    """Return the revision of a Deployment or a ReplicaSet."""
    return str(body["metadata"]["annotations"]["deployment.kubernetes.io/revision"])


def web(replicas: int = 4, image: str = "shop/web:1", **spec: Any) -> JSON:
    """Return the Deployment `web`; `asked` is what its pods do, the rest goes into its spec."""
    asked = spec.pop("asked", None)
    metadata: JSON = {"labels": {"app": "web"}}
    if asked is not None:
        metadata["annotations"] = {ANNOTATION: asked}
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
