"""When a workload of each kind has come to its end, by the API's documentation.

Written apart from the gate, whose verdicts it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects, condition, is_complete, is_ready

REVISION_LABEL = "controller-revision-hash"


def is_observed(item: JSON) -> bool:
    """Whether the controller has seen a workload as it is."""
    seen: int = item.get("status", {}).get("observedGeneration", 0)
    return seen >= int(item["metadata"]["generation"])


def is_settled(stateful_set: JSON) -> bool:
    """Whether a StatefulSet has all its pods, available, and those updated that are to be."""
    spec, status = stateful_set["spec"], stateful_set.get("status", {})
    wanted = spec["replicas"]
    if not is_observed(stateful_set) or any(
        status.get(counter, 0) != wanted for counter in ("replicas", "availableReplicas")
    ):
        return False
    if spec["updateStrategy"]["type"] == "OnDelete":
        return True
    partition = spec["updateStrategy"].get("rollingUpdate", {}).get("partition", 0)
    is_whole = partition > 0 or status["currentRevision"] == status["updateRevision"]
    return bool(is_whole and status.get("updatedReplicas", 0) >= wanted - partition)


def is_everywhere(daemon_set: JSON) -> bool:
    """Whether each node that a DaemonSet wants has an available pod, a new one if it updates."""
    status = daemon_set.get("status", {})
    counters = ["numberAvailable", "updatedNumberScheduled"]
    if daemon_set["spec"]["updateStrategy"]["type"] == "OnDelete":
        counters.pop()
    wanted = status.get("desiredNumberScheduled", 0)
    return is_observed(daemon_set) and all(status.get(each, 0) == wanted for each in counters)


def has_completed(job: JSON) -> bool:
    """Whether a Job has ended well, or is not to begin."""
    return bool(job["spec"].get("suspend") or condition(job, "Complete").get("status") == "True")


DONE: Mapping[str, Callable[[JSON], bool]] = {
    "deployments": is_complete,
    "statefulsets": is_settled,
    "daemonsets": is_everywhere,
    "jobs": has_completed,
}
"""By the plural of each kind that is rolled out: whether one of it is done."""


def unfinished(objects: Objects, resource: str, live: JSON) -> str:
    """Return what is missing for a workload to be done, "" where nothing is.

    Of a DaemonSet the nodes that are not ready are left out, of a StatefulSet the pods below the
    partition that only their finalizers keep.
    """
    if resource == "statefulsets":
        live = _without_held(objects, live)
    if DONE[resource](live):
        return "" if resource != "deployments" else _unserved(objects, live)
    if resource == "daemonsets" and is_observed(live):
        return _lagging(objects, live)
    return f"its status is {live.get('status')}"


def _without_held(objects: Objects, live: JSON) -> JSON:
    """Return a StatefulSet as if the pods were available that are held below its partition."""
    partition = live["spec"]["updateStrategy"].get("rollingUpdate", {}).get("partition", 0)
    names = [f"{live['metadata']['name']}-{ordinal}" for ordinal in range(partition)]
    found = (objects.find("pods", name) for name in names)
    held = sum(
        bool(pod["metadata"].get("deletionTimestamp") and pod["metadata"].get("finalizers"))
        for pod in found
        if pod is not None
    )
    status, wanted = live.get("status", {}), live["spec"]["replicas"]
    available = status.get("availableReplicas", 0)
    return {**live, "status": {**status, "availableReplicas": min(wanted, available + held)}}


def _unserved(objects: Objects, live: JSON) -> str:
    """Ask for a ReplicaSet of a Deployment that has its template and all its pods."""
    template = _without_hash(live["spec"]["template"])
    replicas = live["spec"]["replicas"]
    is_served = any(
        is_owned(each, live)
        and _without_hash(each["spec"]["template"]) == template
        and each["status"].get("availableReplicas") == replicas
        for each in objects.list_all("replicasets")
    )
    return "" if is_served or not replicas else "no ReplicaSet has its template and all its pods"


def _without_hash(template: JSON) -> JSON:
    metadata = template["metadata"]
    labels = {k: v for k, v in metadata.get("labels", {}).items() if k != "pod-template-hash"}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _lagging(objects: Objects, live: JSON) -> str:
    """Ask of each pod on a node that is ready to be new and ready."""
    owned = [each for each in objects.list_all("controllerrevisions") if is_owned(each, live)]
    newest = max(owned, key=lambda each: int(each["revision"]))["metadata"]["labels"]
    nodes = {node["metadata"]["name"] for node in objects.list_all("nodes") if is_ready(node)}
    for pod in objects.list_all("pods"):
        if is_owned(pod, live) and pod["spec"].get("nodeName") in nodes:
            is_new = pod["metadata"]["labels"][REVISION_LABEL] == newest[REVISION_LABEL]
            if not (is_new and is_ready(pod)):
                return f"{pod['metadata']['name']}, on a ready node, is not new and ready"
    return ""


def is_owned(item: JSON, owner: JSON) -> bool:
    """Whether an object belongs to another one."""
    references = item["metadata"].get("ownerReferences", [])
    return any(each["uid"] == owner["metadata"]["uid"] for each in references)
