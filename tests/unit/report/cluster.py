"""A Deployment with its ReplicaSets and pods as the API server would show them, set by hand."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from gate.core.kinds.deployment.objects import Deployment as CoreDeployment
from gate.core.kinds.deployment.objects import ReplicaSet, deployment_ref
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import ClusterEvent, Pod, Ref
from gate.wire import decode
from tests.decoded import decode_deployment, decode_pod, decode_replica_set

CREATED = "2026-11-21T11:00:00Z"
ENDED = "2026-11-21T12:00:09Z"
_VERSIONS = itertools.count(1000)

WAITING_CRASH = {
    "ready": False,
    "restartCount": 3,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting"}},
    "lastState": {
        "terminated": {
            "exitCode": 1,
            "reason": "Error",
            "message": "panic: DATABASE_URL is not set",
            "finishedAt": ENDED,
        }
    },
}
WAITING_PULL = {
    "ready": False,
    "restartCount": 0,
    "state": {
        "waiting": {
            "reason": "ErrImagePull",
            "message": 'failed to pull image "shop/web:typo": shop/web:typo: not found',
        }
    },
}
RUNNING = {
    "ready": True,
    "restartCount": 0,
    "imageID": "shop/web@sha256:1111",
    "state": {"running": {}},
}
NOT_READY = {**RUNNING, "ready": False}


def version() -> str:
    """Return a resourceVersion that is later than all before."""
    return str(next(_VERSIONS))


def fields_of(value: Any) -> dict[str, Any]:
    """Return the FieldsV1 tree of an applied body."""
    if isinstance(value, Mapping):
        return {f"f:{key}": fields_of(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return {f'k:{{"name":"{item["name"]}"}}': {".": {}, **fields_of(item)} for item in value}
    return {}


def managed_by(manager: str, body: Mapping[str, Any], operation: str = "Apply") -> dict[str, Any]:
    """Return the entry of `managedFields` of a manager that set all of `body`."""
    owned = {key: value for key, value in body.items() if key in ("spec", "data")}
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": body["apiVersion"],
        "time": CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields_of(owned),
    }


def manifest(name: str, image: str, replicas: int = 4, namespace: str = "shop") -> dict[str, Any]:
    """Return what a user applies."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": 600,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
        },
    }


def config_map(name: str, value: str, namespace: str = "shop") -> dict[str, Any]:
    """Return a ConfigMap as a user applies it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"mode": value},
    }


def stored(body: Mapping[str, Any], uid: str, managers: list[dict[str, Any]]) -> LiveObject:
    """Return an object as the server stores it."""
    metadata = {
        **body["metadata"],
        "uid": uid,
        "resourceVersion": version(),
        "managedFields": managers,
    }
    return decode.live_object({**body, "metadata": metadata})


def _named(kind: str, name: str, uid: str, **metadata: Any) -> dict[str, Any]:
    """Return the head of an object of `apps/v1`, or of a Pod, as the server stores it."""
    version_of_api = "v1" if kind == "Pod" else "apps/v1"
    head = {"name": name, "namespace": "shop", "uid": uid, "resourceVersion": version()}
    return {"apiVersion": version_of_api, "kind": kind, "metadata": {**head, **metadata}}


def _revision(number: int) -> dict[str, str]:
    return {"deployment.kubernetes.io/revision": str(number)}


class Workload:
    """One Deployment, its ReplicaSets by image, their pods. Counts are set, not computed."""

    def __init__(self, name: str = "web", image: str = "shop/web:1", replicas: int = 4) -> None:
        """Begin with nothing in the cluster but the name."""
        self.name = name
        self.replicas = replicas
        self.ref: Ref = deployment_ref("shop", name)
        self.uid = f"uid-{name}"
        self.body = manifest(name, image, replicas)
        self.managers = [managed_by("rollout-gate", self.body)]
        self.generation = 1
        self.revision = 1
        self.status: dict[str, Any] = {}
        self.paused = False
        self.sets: dict[str, dict[str, Any]] = {}
        self.pods: dict[str, dict[str, Any]] = {}

    def deployment_json(self) -> dict[str, Any]:
        """Return the Deployment as the server shows it."""
        marks = {"annotations": _revision(self.revision), "managedFields": self.managers}
        spec = {**self.body["spec"], **({"paused": True} if self.paused else {})}
        head = _named("Deployment", self.name, self.uid, generation=self.generation, **marks)
        return {**head, "spec": spec, "status": self.status}

    def live(self) -> LiveObject:
        """Return the Deployment as a read returns it."""
        return decode.live_object(self.deployment_json())

    def deployment(self) -> CoreDeployment:
        """Return the Deployment as a watch shows it."""
        return decode_deployment(self.deployment_json())

    def counted(self, updated: int, available: int, total: int | None = None) -> None:
        """Set the counters, the generation being observed."""
        self.status = {
            "observedGeneration": self.generation,
            "replicas": self.replicas if total is None else total,
            "updatedReplicas": updated,
            "readyReplicas": available,
            "availableReplicas": available,
            "conditions": [
                {
                    "type": "Available",
                    "status": "True" if available else "False",
                    "reason": "MinimumReplicasAvailable",
                    "message": "Deployment has minimum availability.",
                }
            ],
        }

    def replica_set(self, image: str, revision: int, wanted: int, available: int) -> None:
        """Set a ReplicaSet and its counters."""
        name = f"{self.name}-{image.rsplit(':', 1)[-1]}"
        template = manifest(self.name, image)["spec"]["template"]
        labels = {**template["metadata"]["labels"], "pod-template-hash": name}
        marks = {"creationTimestamp": CREATED, "annotations": _revision(revision)}
        owner = [{"uid": self.uid, "controller": True}]
        self.sets[image] = {
            **_named("ReplicaSet", name, f"uid-{name}", ownerReferences=owner, **marks),
            "spec": {"replicas": wanted, "template": {**template, "metadata": {"labels": labels}}},
            "status": {
                "replicas": wanted,
                "readyReplicas": available,
                "availableReplicas": available,
            },
        }

    def pod(self, image: str, suffix: str, status: Mapping[str, Any], **more: Any) -> None:
        """Set a pod with one container; `more` goes into its status."""
        owner = self.sets[image]["metadata"]
        name = f"{owner['name']}-{suffix}"
        owners = [{"uid": owner["uid"], "controller": True}]
        ready = "True" if status.get("ready") else "False"
        self.pods[name] = {
            **_named("Pod", name, f"uid-{name}", ownerReferences=owners),
            "spec": {},
            "status": {
                "phase": "Running" if "running" in status.get("state", {}) else "Pending",
                "conditions": [{"type": "Ready", "status": ready}],
                "containerStatuses": [{"name": "web", "image": image, **status}],
                **more,
            },
        }

    def fill(self, image: str, revision: int, count: int) -> None:
        """Set a ReplicaSet all of whose pods are ready."""
        self.replica_set(image, revision, count, count)
        for index in range(count):
            self.pod(image, f"p{index}", RUNNING)

    def rolling(self, image: str, *statuses: Mapping[str, Any]) -> None:
        """Become a rollout half-way: two new pods wanted, with these statuses, beside three old."""
        self.revision = 2
        self.replica_set(f"shop/{self.name}:1", 1, 3, 3)
        self.replica_set(image, 2, 2, 0)
        for index, status in enumerate(statuses):
            self.pod(image, f"p{index}", status)
        self.counted(2, 3, 5)

    def drop(self, image: str, wanted: int = 0) -> None:
        """Take pods away from a ReplicaSet."""
        metadata = self.sets[image]["metadata"]
        for name in [name for name in self.pods if name.startswith(f"{metadata['name']}-")][
            wanted:
        ]:
            del self.pods[name]
        (revision,) = metadata["annotations"].values()
        self.replica_set(image, int(revision), wanted, wanted)

    def serving(self, image: str, revision: int) -> Workload:
        """Become a Deployment that is complete on `image`."""
        for other in list(self.sets):
            if other != image:
                self.drop(other)
        self.revision = revision
        self.fill(image, revision, self.replicas)
        self.counted(self.replicas, self.replicas)
        return self

    def core_sets(self) -> tuple[ReplicaSet, ...]:
        """Return the ReplicaSets."""
        return tuple(decode_replica_set(value) for value in self.sets.values())

    def core_pods(self) -> tuple[Pod, ...]:
        """Return the pods."""
        return tuple(decode_pod(value) for value in self.pods.values())

    def objects(self) -> tuple[CoreDeployment | ReplicaSet | Pod, ...]:
        """Return everything, as a watch shows it."""
        return (self.deployment(), *self.core_sets(), *self.core_pods())


def warning(workload: Workload, pod: str, reason: str, message: str, at: str) -> ClusterEvent:
    """Return a Warning event about a pod."""
    uid = f"uid-{pod}"
    found = decode.decode_watched(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": reason, "uid": f"{uid}-{reason}-{at}", "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "name": pod, "uid": uid},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "count": 1,
            "lastTimestamp": at,
        }
    )
    assert isinstance(found, ClusterEvent)
    assert workload.name in pod
    return found
