"""Who owns the fields of an object: what we own of it, and how all owners are removed."""

from __future__ import annotations

from tests.bed.scene import OURS
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects

JSON_PATCH = "application/json-patch+json"


def whole(objects: Objects, resource: str, name: str) -> JSON:
    """Return what an object is, bookkeeping and status aside, with what we own of it."""
    live = objects.get(resource, name)
    metadata = live["metadata"]
    (ours,) = [
        entry["fieldsV1"]
        for entry in metadata["managedFields"]
        if (entry["manager"], entry["operation"]) == (OURS, "Apply")
    ]
    annotations = dict(metadata.get("annotations", {}))
    annotations.pop("deployment.kubernetes.io/revision", None)
    kept = {name: live[name] for name in live if name not in ("metadata", "status")}
    return {**kept, "annotations": annotations, "labels": metadata.get("labels"), "ours": ours}


def disown(objects: Objects, resource: str, name: str) -> None:
    """Remove all managed fields, as `kubectl patch` can."""
    nobody = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
    objects.patch(resource, name, nobody, JSON_PATCH)
    assert not objects.get(resource, name)["metadata"].get("managedFields")
