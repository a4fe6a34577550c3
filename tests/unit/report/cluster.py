"""A Deployment with its ReplicaSets and pods as the API server would show them, set by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
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

    @property
    def image(self) -> str:
        """The image that the Deployment asks for."""
        found: str = self.body["spec"]["template"]["spec"]["containers"][0]["image"]
        return found

    def deployment_json(self) -> dict[str, Any]:
        """Return the Deployment as the server shows it."""
        spec = {**self.body["spec"], **({"paused": True} if self.paused else {})}
        return {
            **self.body,
            "metadata": {
                **self.body["metadata"],
                "uid": self.uid,
                "resourceVersion": version(),
                "generation": self.generation,
                "annotations": {"deployment.kubernetes.io/revision": str(self.revision)},
                "managedFields": self.managers,
            },
            "spec": spec,
            "status": self.status,
        }

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
        self.sets[image] = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": name,
                "namespace": "shop",
                "uid": f"uid-{name}",
                "resourceVersion": version(),
                "creationTimestamp": CREATED,
                "annotations": {"deployment.kubernetes.io/revision": str(revision)},
                "ownerReferences": [{"uid": self.uid, "controller": True}],
            },
            "spec": {
                "replicas": wanted,
                "template": {**template, "metadata": {"labels": labels}},
            },
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
        ready = bool(status.get("ready"))
        self.pods[name] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "shop",
                "uid": f"uid-{name}",
                "resourceVersion": version(),
                "ownerReferences": [{"uid": owner["uid"], "controller": True}],
            },
            "spec": {},
            "status": {
                "phase": "Running" if "running" in status.get("state", {}) else "Pending",
                "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
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
        prefix = f"{self.sets[image]['metadata']['name']}-"
        for name in [name for name in self.pods if name.startswith(prefix)][wanted:]:
            del self.pods[name]
        revision = int(
            self.sets[image]["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
        )
        self.replica_set(image, revision, wanted, wanted)

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

    def objects(self) -> Iterator[CoreDeployment | ReplicaSet | Pod]:
        """Iterate everything, as a watch shows it."""
        yield self.deployment()
        yield from self.core_sets()
        yield from self.core_pods()


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
