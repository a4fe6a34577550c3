"""What the Deployment controller and the kubelets make of a Deployment, all at once.

How the pods of a version fare stands in its image: `shop/web:crash`, `shop/web:pending` (never
ready), `shop/web:half` (but the first of them), `shop/web:unseen` (the controller does not look),
anything else serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sandbox.face import copy_json

JSON = dict[str, Any]
REVISION = "deployment.kubernetes.io/revision"
CREATED = "2026-11-21T11:00:00Z"
RUNNING = {"ready": True, "restartCount": 0, "state": {"running": {}}}
WAITING = {"ready": False, "restartCount": 0, "state": {"running": {}}}
CRASHING = {
    "ready": False,
    "restartCount": 3,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off restarting"}},
    "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": CREATED}},
}


Fate = Callable[[JSON], str]
"""Says how the pods of a template fare."""


def by_image(template: JSON) -> str:
    """Read a fate from the image's tag, as far as its first hyphen."""
    image = template["spec"]["containers"][0]["image"]
    return str(image.rpartition(":")[2]).partition("-")[0]


def reconciled(
    deployment: JSON, sets: list[JSON], fate_of: Fate
) -> tuple[JSON, list[JSON], list[JSON]]:
    """Return the Deployment with its status, its ReplicaSets and their pods as they are then."""
    specs = {rs["metadata"]["uid"]: rs["spec"] for rs in sets}
    live, sets = copy_json(deployment), copy_json(sets)
    fate = fate_of(live["spec"]["template"])
    if fate == "unseen":
        return live, sets, list(_pods(sets, fate_of))
    if live["spec"].get("paused"):
        live["status"] = {**live.get("status", {}), "observedGeneration": _generation(live)}
        return live, sets, list(_pods(sets, fate_of))
    current = _current(live, sets)
    wanted = live["spec"]["replicas"]
    if fate in ("crash", "pending"):
        serving = [rs for rs in sets if rs is not current and rs["spec"]["replicas"]]
        _count(current, min(1, wanted) if serving else wanted, 0)
    else:
        for rs in sets:
            there = wanted if rs is current else 0
            _count(rs, there, min(1, there) if fate == "half" else there)
    for rs in sets:
        rs["status"]["observedGeneration"] = _next_generation(rs, specs.get(rs["metadata"]["uid"]))
    live["metadata"].setdefault("annotations", {})[REVISION] = _revision(current)
    live["status"] = _status(live, current, sets)
    return live, sets, list(_pods(sets, fate_of))


def _current(live: JSON, sets: list[JSON]) -> JSON:
    """Find the ReplicaSet of the template or make one; it has the highest revision."""
    template = live["spec"]["template"]
    found = next((rs for rs in sets if _without_hash(rs) == template), None)
    newest = max((int(_revision(rs)) for rs in sets), default=0)
    if found is None:
        found = _replica_set(live, len(sets) + 1)
        sets.append(found)
    if found["metadata"]["annotations"].get(REVISION) != str(newest):
        found["metadata"]["annotations"][REVISION] = str(newest + 1)
    for replica_set in sets:
        replica_set["spec"]["minReadySeconds"] = live["spec"].get("minReadySeconds", 0)
    return found


def _without_hash(replica_set: JSON) -> JSON:
    template: JSON = copy_json(replica_set["spec"]["template"])
    template["metadata"]["labels"].pop("pod-template-hash")
    return template


def _revision(thing: JSON) -> str:
    return str(thing["metadata"]["annotations"][REVISION])


def _generation(live: JSON) -> int:
    return int(live["metadata"]["generation"])


def _next_generation(replica_set: JSON, spec_before: JSON | None) -> int:
    """Return the generation that the server gives it when it is kept."""
    before: int = replica_set["metadata"].get("generation", 0)
    return before + int(replica_set["spec"] != spec_before)


def _replica_set(live: JSON, number: int) -> JSON:
    template = copy_json(live["spec"]["template"])
    template["metadata"]["labels"]["pod-template-hash"] = f"hash{number}"
    metadata = live["metadata"]
    cause = metadata.get("annotations", {}).get("kubernetes.io/change-cause")
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name']}-hash{number}",
            "namespace": metadata["namespace"],
            "uid": f"{metadata['uid']}-hash{number}",
            "labels": template["metadata"]["labels"],
            "annotations": {"kubernetes.io/change-cause": cause} if cause else {},
            "creationTimestamp": CREATED,
            "ownerReferences": [{"uid": metadata["uid"], "controller": True}],
        },
        "spec": {"replicas": 0, "template": template},
        "status": {},
    }


def _count(replica_set: JSON, wanted: int, available: int) -> None:
    replica_set["spec"]["replicas"] = wanted
    replica_set["status"] = {
        "replicas": wanted,
        "readyReplicas": available,
        "availableReplicas": available,
    }


def _status(live: JSON, current: JSON, sets: list[JSON]) -> JSON:
    def total(key: str) -> int:
        return sum(int(rs["status"].get(key, 0)) for rs in sets)

    serves = total("availableReplicas") >= live["spec"]["replicas"]
    return {
        "observedGeneration": _generation(live),
        "replicas": total("replicas"),
        "updatedReplicas": current["status"]["replicas"],
        "readyReplicas": total("readyReplicas"),
        "availableReplicas": total("availableReplicas"),
        "conditions": [
            {"type": "Available", "status": str(serves), "reason": "Minimum", "message": ""},
            {"type": "Progressing", "status": "True", "reason": "Updated", "message": ""},
        ],
    }


def _pods(sets: list[JSON], fate_of: Fate) -> Iterator[JSON]:
    for replica_set in sets:
        metadata = replica_set["metadata"]
        fate = fate_of(replica_set["spec"]["template"])
        for number in range(replica_set["spec"]["replicas"]):
            later = WAITING if number else RUNNING
            state = {"crash": CRASHING, "pending": WAITING, "half": later}.get(fate, RUNNING)
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": f"{metadata['name']}-{number}",
                    "namespace": metadata["namespace"],
                    "uid": f"{metadata['uid']}-{number}",
                    "labels": metadata["labels"],
                    "ownerReferences": [{"uid": metadata["uid"], "controller": True}],
                },
                "spec": {},
                "status": {
                    "phase": "Running",
                    "conditions": [{"type": "Ready", "status": str(state["ready"])}],
                    "containerStatuses": [{"name": "web", "image": "shop/web", **state}],
                },
            }
