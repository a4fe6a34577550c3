"""Which nodes a DaemonSet's pods are for, and those pods.

Rules of `pkg/controller/daemon/util` and of `NodeShouldRunDaemonPod`. Node affinity is read as far
as label selectors go; other predicates of a scheduler are not asked.
"""

from __future__ import annotations

from sandbox.controllers.pods import from_template
from sandbox.json import JSON
from sandbox.objects.placement import fits, is_tolerated

HASH_LABEL = "controller-revision-hash"
GENERATION_LABEL = "pod-template-generation"
GENERATION = "deprecated.daemonset.template.generation"

_NO_EXECUTE, _NO_SCHEDULE = "NoExecute", "NoSchedule"
_TOLERATED = (
    ("not-ready", _NO_EXECUTE),
    ("unreachable", _NO_EXECUTE),
    ("disk-pressure", _NO_SCHEDULE),
    ("memory-pressure", _NO_SCHEDULE),
    ("pid-pressure", _NO_SCHEDULE),
    ("unschedulable", _NO_SCHEDULE),
)
"""What every daemon pod tolerates, of `node.kubernetes.io/`."""


def is_wanted(daemon_set: JSON, node: JSON) -> tuple[bool, bool]:
    """Say whether a pod is to run on a node, and whether one that does may go on."""
    spec = daemon_set["spec"]["template"]["spec"]
    name = spec.get("nodeName")
    if (name and name != node["metadata"]["name"]) or not fits(spec, node):
        return False, False
    tolerations = _tolerations(spec)
    left = {
        taint["effect"]
        for taint in node["spec"].get("taints") or ()
        if not is_tolerated(taint, tolerations)
    }
    return not left & {_NO_EXECUTE, _NO_SCHEDULE}, _NO_EXECUTE not in left


def _tolerations(spec: JSON) -> list[JSON]:
    """Return what its pods tolerate: of one key and effect, the controller's own goes before."""
    of_host = [("network-unavailable", _NO_SCHEDULE)] if spec.get("hostNetwork") else []
    own = [
        {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
        for name, effect in (*_TOLERATED, *of_host)
    ]
    same = {(each["key"], each["effect"]) for each in own}
    given = spec.get("tolerations") or ()
    kept = [each for each in given if (each.get("key"), each.get("effect")) not in same]
    return [*kept, *own]


def new_pod(daemon_set: JSON, node: str, revision_hash: str) -> JSON:
    """Return the pod to create for a node: only the scheduler gives it that node."""
    pod = from_template(daemon_set, daemon_set["spec"]["template"])
    labels = {**pod["metadata"].get("labels", {}), HASH_LABEL: revision_hash}
    if generation := _generation(daemon_set):
        labels[GENERATION_LABEL] = generation
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{"matchFields": [field]}]
    affinity = pod["spec"].get("affinity") or {}
    of_nodes = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
    }
    pod["metadata"]["labels"] = labels
    pod["spec"] = {
        **pod["spec"],
        "affinity": {**affinity, "nodeAffinity": of_nodes},
        "tolerations": _tolerations(pod["spec"]),
    }
    return pod


def is_updated(daemon_set: JSON, pod: JSON, revision_hash: str) -> bool:
    """Say whether a pod is of the DaemonSet's template as it is now."""
    wanted = _generation(daemon_set)
    labels = pod["metadata"].get("labels") or {}
    is_same = bool(wanted) and labels.get(GENERATION_LABEL) == wanted
    return is_same or labels.get(HASH_LABEL) == revision_hash


def _generation(daemon_set: JSON) -> str:
    return str((daemon_set["metadata"].get("annotations") or {}).get(GENERATION, ""))


def in_order(pods: list[JSON]) -> list[JSON]:
    """Return the pods of a node: those that have it already first, the oldest first."""
    return sorted(
        pods,
        key=lambda pod: (
            not pod["spec"].get("nodeName"),
            pod["metadata"]["creationTimestamp"],
            pod["metadata"]["name"],
        ),
    )
