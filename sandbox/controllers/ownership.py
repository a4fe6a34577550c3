"""Who owns an object: controller references, and the names by which controllers write."""

from __future__ import annotations

from sandbox.api.api import Writer
from sandbox.json import JSON
from sandbox.storage.store import Key

MANAGER = "kube-controller-manager"


def _controller(name: str) -> Writer:
    return Writer(f"system:serviceaccount:kube-system:{name}", MANAGER)


DEPLOYMENTS = _controller("deployment-controller")
REPLICA_SETS = _controller("replicaset-controller")
STATEFUL_SETS = _controller("statefulset-controller")
DAEMON_SETS = _controller("daemon-set-controller")
JOBS = _controller("job-controller")
DISRUPTIONS = _controller("disruption-controller")
NODES = _controller("node-controller")
POD_GARBAGE = _controller("pod-garbage-collector")
CLAIMS = _controller("persistent-volume-binder")
FINISHED = _controller("ttl-after-finished-controller")
GARBAGE = _controller("generic-garbage-collector")
NAMESPACES = _controller("namespace-controller")
QUOTAS = _controller("resourcequota-controller")
QUOTA_ADMISSION = Writer("system:apiserver", "kube-apiserver")


def key_of(resource: str, body: JSON) -> Key:
    """Return where an object is."""
    metadata = body["metadata"]
    return Key(resource, metadata.get("namespace", ""), metadata["name"])


def controller_of(body: JSON | None) -> JSON | None:
    """Return the owner reference that is marked as the controller's."""
    references = ((body or {}).get("metadata") or {}).get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def controller_uid(body: JSON | None) -> str | None:
    """Return the uid of the controller."""
    reference = controller_of(body)
    return reference["uid"] if reference else None


def controller_reference(owner: JSON) -> JSON:
    """Return the reference that makes `owner` the controller of an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
