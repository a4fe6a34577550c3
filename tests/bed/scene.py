"""The scene of a test: its objects and programs, and a Deployment `web` that carries a secret."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from tests.bed.bed import Program
from tests.bed.checked_gate import CheckedGate, CheckedRun
from tests.bed.history import History
from tests.bed.invariants import CANARY, key_of
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Client, Objects
from tests.cluster.rollouts import DONE

APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
OURS = "rollout-gate"
ALL_AT_ONCE: JSON = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%"}}
"""A strategy that creates all new pods beside the old ones."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a test plays with; `folder` is where its programs run."""

    client: Client
    objects: Objects
    history: History
    gate: CheckedGate
    kubectl: Program
    folder: Path
    scheduler_name: str = ""

    def apply(self, *bodies: JSON, flags: Sequence[str] = ()) -> Result:
        """Apply objects with the gate, to the end, with a result document on stdout."""
        with self.applying(*bodies, flags=flags) as running:
            return running.wait()

    def applying(self, *bodies: JSON, flags: Sequence[str] = ()) -> CheckedRun:
        """Start to apply objects, as `apply` does."""
        path = self.manifest(*bodies)
        return self.gate.start("apply", "-f", path, *flags, "--output", "json")

    def manifest(self, *bodies: JSON) -> Path:
        """Write objects into a file and return its path."""
        path = self.folder / f"manifest-{sum(1 for _ in self.folder.iterdir())}.yaml"
        path.write_text(manifests.yaml_text(*map(self._scheduled, bodies)))
        return path

    def serve(self, *bodies: JSON) -> JSON:
        """Let objects run, as a run of the gate would have left them; return the first, live."""
        live = [self.apply_as(OURS, body) for body in bodies]
        keys = [key_of(body, self.objects.namespace) for body in bodies]
        done = [self.wait_done(key.resource, key.name) for key in keys if key.resource in DONE]
        return (done or live)[0]

    def wait_done(self, resource: str, name: str) -> JSON:
        """Return a workload as soon as its rollout is done."""
        return self.objects.wait_for(resource, name, DONE[resource])

    def apply_as(self, manager: str, body: JSON) -> JSON:
        """Apply an object under a field manager's name, by force; return what is live."""
        key = key_of(body, self.objects.namespace)
        path = f"{self.objects.path(key.resource, key.name)}?fieldManager={manager}&force=true"
        return self.client.json("PATCH", path, self._scheduled(body), APPLY_PATCH)

    def change_as(self, manager: str, patch: JSON, subresource: str = "") -> JSON:
        """Merge a patch into the Deployment `web` under a field manager's name."""
        path = self.objects.path("deployments", "web") + (f"/{subresource}" if subresource else "")
        return self.client.json("PATCH", f"{path}?fieldManager={manager}", patch, MERGE_PATCH)

    def change(self, body: JSON) -> JSON:
        """Replace the spec of a Deployment, as somebody who is not the gate."""
        name = body["metadata"]["name"]
        return self.objects.patch("deployments", name, {"spec": body["spec"]})

    def _scheduled(self, body: JSON) -> JSON:
        """Ask for the scripted kubelet where the cluster has other nodes."""
        if not self.scheduler_name or "template" not in body.get("spec", {}):
            return body
        asking = deepcopy(body)
        asking["spec"]["template"]["spec"]["schedulerName"] = self.scheduler_name
        return asking


def web(version: int | str = 1, /, **over: object) -> JSON:
    """Return a Deployment `web`: two pods, a deadline of 60 s, a secret in its environment.

    `over` replaces what `tests.cluster.manifests.deployment` is given.
    """
    name = over.get("name", "web")
    given: dict[str, object] = {
        "name": name,
        "image": f"shop/{name}:{version}",
        "replicas": 2,
        "progress_deadline_seconds": 60,
        "env": {"PASSWORD": CANARY},
    }
    return manifests.deployment(**{**given, **over})  # type: ignore[arg-type]


def crashing(version: int | str = 2, /) -> JSON:
    """Return a `web` one of whose two new pods crashes: evidence that dooms nothing, ever."""
    return web(version, behaviour="crash=0.1;only=1, ready=40", strategy=ALL_AT_ONCE)


def settings(value: str = "one") -> JSON:
    """Return a ConfigMap `settings`."""
    return manifests.config_map("settings", {"mode": value})


def secret(value: str = CANARY) -> JSON:
    """Return a Secret `keys` with one key."""
    metadata, data = {"name": "keys"}, {"key": value}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}


def service(port: int = 80) -> JSON:
    """Return a Service `web` in front of the Deployment."""
    spec = {"selector": {"app": "web"}, "ports": [{"port": port, "targetPort": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}


def autoscaler() -> JSON:
    """Return an HPA that targets `web`; nothing scales it but the test."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9}
    metadata, kind = {"name": "web"}, "HorizontalPodAutoscaler"
    return {"apiVersion": "autoscaling/v2", "kind": kind, "metadata": metadata, "spec": spec}


def tidying(version: int | str = 1) -> JSON:
    """Return a CronJob `tidy`: it has pods, and nothing of it rolls out."""
    containers = [{"name": "tidy", "image": f"shop/tidy:{version}"}]
    pods = {"spec": {"restartPolicy": "Never", "containers": containers}}
    spec = {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": pods}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tidy"},
        "spec": spec,
    }


def quota(hard: dict[str, str]) -> JSON:
    """Return a ResourceQuota `full`."""
    metadata, spec = {"name": "full"}, {"hard": hard}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}


def template_annotation(name: str, value: str) -> JSON:
    """Return a patch that sets an annotation of the pod template."""
    return {"spec": {"template": {"metadata": {"annotations": {name: value}}}}}
