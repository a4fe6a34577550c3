"""What the kind's strategy and the built-in admission plugins set on the way in.

On a create: tolerations, priority and quality class of a Pod, the labels of a Namespace and a Job,
a Service's addresses, a claim's finalizer, a node's first taint. Only what a body lacks is set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from sandbox.failure import forbidden
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.prepare.services import kept_service, prepared_service
from sandbox.objects.quantity import parse_quantity

TOLERATED_SECONDS = 300
UNREACHABLE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The PriorityClasses that every cluster has; the number of any other is not known."""

_SIDES = ("limits", "requests")
_COMPUTE = ("cpu", "memory")


def prepared_pod(pod: JSON) -> JSON:
    """Return a Pod with its tolerations, priority, phase and quality class."""
    spec = {**pod["spec"], "tolerations": _tolerations(pod["spec"].get("tolerations", []))}
    _set_priority(pod["metadata"].get("name", ""), spec)
    status = {**pod["status"], "phase": "Pending", "qosClass": quality_class(spec)}
    return {**pod, "spec": spec, "status": status}


def _tolerations(given: list[JSON]) -> list[JSON]:
    """Add what the DefaultTolerationSeconds plugin adds, unless it is tolerated anyway."""
    effect, found = "NoExecute", list(given)
    for taint in UNREACHABLE_TAINTS:
        if not any(
            each.get("key", "") in {"", taint} and each.get("effect", "") in {"", effect}
            for each in given
        ):
            row = {"key": taint, "operator": "Exists", "effect": effect}
            found.append({**row, "tolerationSeconds": TOLERATED_SECONDS})
    return found


def _set_priority(name: str, spec: JSON) -> None:
    """Set what the Priority plugin sets; 403 where it refuses.

    A class that only some clusters have is taken as it is sent.
    """
    wanted, given = spec.get("priorityClassName", ""), spec.get("priority")
    is_known = not wanted or wanted in PRIORITIES
    priority = PRIORITIES.get(wanted, 0) if is_known or given is None else given
    if given is not None and given != priority:
        says = (
            f"the integer value of priority ({given}) must not be provided in pod spec; priority"
            f" admission controller computed {priority} from the given PriorityClass name"
        )
        raise forbidden("pods", "", name, says)
    spec["priority"] = priority
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")


def quality_class(spec: JSON) -> str:
    """Return the class by which a node under pressure chooses: `status.qosClass`."""
    containers = [*(spec.get("containers") or ()), *spec.get("initContainers", ())]
    sides = [_amounts(each["resources"], side) for each in containers for side in _SIDES]
    if not any(sides):
        return "BestEffort"
    limits, requests = sides[0::2], sides[1::2]
    guaranteed = all(len(each) == len(_COMPUTE) for each in limits) and limits == requests
    return "Guaranteed" if guaranteed else "Burstable"


def _amounts(resources: JSON, side: str) -> dict[str, int]:
    entries: Mapping[str, str] = resources.get(side, {})
    amounts = {name: parse_quantity(entries[name]).nanos for name in _COMPUTE if name in entries}
    return {name: nanos for name, nanos in amounts.items() if nanos}


_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_UID_LABEL = "batch.kubernetes.io/controller-uid"


def prepared_for_create(resource: Resource, body: JSON, taken: Collection[str] = ()) -> JSON:
    """Return a defaulted body with what creation adds; `body` may share parts with it.

    `taken` are the cluster IPs and node ports in use (`10.96.0.7`, `30001`), for Services.
    `metadata` has its uid, as a Job's labels need it. Raises `ApiError` 403 where admission
    refuses (a priority that is not that of its class).
    """
    prepare = _CREATES.get(resource.key)
    if resource.key == "services":
        return prepared_service(body, taken)
    return prepare(body) if prepare else body


def prepared_for_update(
    resource: Resource, old: JSON, new: JSON, subresource: str = "", taken: Collection[str] = ()
) -> JSON:
    """Return `new` with what an update that does not say otherwise keeps of `old`.

    A Service keeps its addresses and node ports (`taken` as in `prepared_for_create`, for one that
    becomes a NodePort), a Pod's status its quality class, a Namespace its finalizers.
    """
    if resource.key == "services" and not subresource:
        return kept_service(old, new, taken)
    if resource.key == "daemonsets.apps":
        return _kept_daemon_set(old, new)
    if resource.key == "statefulsets.apps":
        return _without_max_unavailable(new)
    if resource.key == "namespaces" and subresource != "finalize":
        return {**new, "spec": old["spec"]}
    if resource.key == "pods" and subresource == "status":
        quality = old.get("status", {}).get("qosClass")
        if quality and not new["status"].get("qosClass"):
            return {**new, "status": {**new["status"], "qosClass": quality}}
    return new


def _namespace(namespace: JSON) -> JSON:
    finalizers = namespace["spec"].get("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers = [*finalizers, "kubernetes"]
    metadata = namespace["metadata"]
    labels = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": metadata.get("name", "")}
    return {
        **namespace,
        "metadata": {**metadata, "labels": labels},
        "spec": {**namespace["spec"], "finalizers": finalizers},
    }


def _node(node: JSON) -> JSON:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    taints = node["spec"].get("taints", [])
    if any({**each, **taint} == each for each in taints):
        return node
    return {**node, "spec": {**node["spec"], "taints": [*taints, taint]}}


def _claim(claim: JSON) -> JSON:
    metadata = claim["metadata"]
    finalizers = [*metadata.get("finalizers", []), "kubernetes.io/pvc-protection"]
    return {**claim, "metadata": {**metadata, "finalizers": finalizers}}


def _job(job: JSON) -> JSON:
    """Generate the selector from the uid, unless the Job brings its own.

    A Job whose labels are those of its template by default (one map) gets the marks too.
    """
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return job
    uid, name = metadata.get("uid", ""), metadata.get("name", "")
    marks = {
        _UID_LABEL: uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = spec["template"]
    given = template["metadata"].get("labels")
    labels = {**(given or {}), **marks}
    if given is not None and metadata.get("labels") is given:
        metadata = {**metadata, "labels": labels}
    template = {**template, "metadata": {**template["metadata"], "labels": labels}}
    spec = {**spec, "template": template, "selector": {"matchLabels": {_UID_LABEL: uid}}}
    return {**job, "metadata": metadata, "spec": spec}


def _with_template_generation(daemon_set: JSON, generation: int) -> JSON:
    """Write the generation of the template, which the server keeps in an annotation."""
    metadata = daemon_set["metadata"]
    annotations = {**metadata.get("annotations", {}), _TEMPLATE_GENERATION: str(generation)}
    return {**daemon_set, "metadata": {**metadata, "annotations": annotations}}


def _without_max_unavailable(stateful_set: JSON) -> JSON:
    """Drop what counts with the gate MaxUnavailableStatefulSet alone, which is off in v1.36."""
    spec = stateful_set["spec"]
    rolling = spec["updateStrategy"].get("rollingUpdate") or {}
    if "maxUnavailable" not in rolling:
        return stateful_set
    kept = {name: value for name, value in rolling.items() if name != "maxUnavailable"}
    strategy = {**spec["updateStrategy"], "rollingUpdate": kept}
    return {**stateful_set, "spec": {**spec, "updateStrategy": strategy}}


def _kept_daemon_set(old: JSON, new: JSON) -> JSON:
    annotations = old["metadata"].get("annotations", {})
    generation = int(annotations.get(_TEMPLATE_GENERATION, 0))
    changed = old["spec"]["template"] != new["spec"]["template"]
    return _with_template_generation(new, generation + changed)


_CREATES: Mapping[str, Callable[[JSON], JSON]] = {
    "pods": prepared_pod,
    "namespaces": _namespace,
    "nodes": _node,
    "persistentvolumeclaims": _claim,
    "statefulsets.apps": _without_max_unavailable,
    "daemonsets.apps": partial(_with_template_generation, generation=1),
    "jobs.batch": _job,
}
