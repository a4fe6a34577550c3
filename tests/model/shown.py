"""What the API server shows of a model cluster: objects as JSON, and as the gate decodes them.

Decoded once for each shape; versions and generations are stamped on afterwards, since they are
many. A `LiveObject`'s body keeps those of the shape: nothing in the core looks at them there.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from gate.core.kinds.controller_revision import CONTROLLER_REVISION, ControllerRevision
from gate.core.kinds.deployment import objects as deployment_objects
from gate.core.kinds.deployment.objects import DEPLOYMENT, REPLICA_SET
from gate.core.kinds.stateful_set import objects as stateful_set_objects
from gate.core.kinds.stateful_set.objects import STATEFUL_SET
from gate.core.model import objects as core
from gate.core.model.live_object import LiveObject
from gate.core.rollout.observations import Kind
from gate.wire import decode
from tests.decoded import decode_pod, decode_replica_set
from tests.model.cluster import (
    CRASHING,
    GATE,
    OTHER,
    PATCHED,
    READY,
    Cluster,
    Pod,
    ReplicaSet,
    Template,
    name_of,
)

NAMESPACE = "shop"
NAME = "web"
WEB = deployment_objects.deployment_ref(NAMESPACE, NAME)
ORDERED_WEB = core.Ref(stateful_set_objects.API_VERSION, STATEFUL_SET, NAMESPACE, NAME)
REVISIONS = {"v0": 2, "v1": 1, "v2": 3, "v3": 4}
"""The revision of each image, marked or not: the core prints it and decides nothing by it."""
DEADLINE_SECONDS = 4
"""The gate's own clock runs out 5 s later (`gate.core.rollout.progress`), within each budget."""
_MANY = 1 << 16
TIME = "2026-11-21T12:00:00Z"
MANAGERS = {
    GATE: ("rollout-gate", "Apply"),
    OTHER: ("kubectl-edit", "Update"),
    PATCHED: ("rollout-gate", "Update"),
}
_CONTAINER = 'k:{"name":"web"}'

JSON = dict[str, Any]


# -- as JSON ---------------------------------------------------------------------------------------


def ref_of(cluster: Cluster) -> core.Ref:
    """Return the identity of the workload."""
    return ORDERED_WEB if cluster.ordered else WEB


def kind_of(cluster: Cluster) -> Kind:
    """Return the kind of the workload."""
    return STATEFUL_SET if cluster.ordered else DEPLOYMENT


def revision_kind_of(cluster: Cluster) -> Kind:
    """Return the kind of what keeps its revisions."""
    return CONTROLLER_REVISION if cluster.ordered else REPLICA_SET


def manifest(image: str, replicas: int | None, *, ordered: bool = False) -> JSON:
    """Return what the gate applies: the container's image, and how many pods where that is ours."""
    containers = [{"name": "web", "image": _path(image)}]
    template = {"metadata": {"labels": {"app": NAME}}, "spec": {"containers": containers}}
    spec: JSON = {"template": template}
    if replicas is not None:
        spec["replicas"] = replicas
    metadata = {"name": NAME, "namespace": NAMESPACE}
    kind = STATEFUL_SET if ordered else DEPLOYMENT
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def workload_json(cluster: Cluster) -> JSON:
    """Return the workload as a read returns it."""
    status = cluster.status
    spec: JSON = {
        "replicas": cluster.replicas,
        "selector": {"matchLabels": {"app": NAME}},
        "template": _template(cluster.template),
    }
    counted: JSON = {
        "observedGeneration": cluster.observed,
        "replicas": status.replicas,
        "updatedReplicas": status.updated,
        "readyReplicas": status.ready,
        "availableReplicas": status.ready,
    }
    if cluster.ordered:
        spec |= {"serviceName": NAME, "podManagementPolicy": "OrderedReady"}
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
        counted |= {"currentRevision": status.current, "updateRevision": status.update}
    else:
        spec["progressDeadlineSeconds"] = DEADLINE_SECONDS
        counted["conditions"] = _conditions(cluster)
        if cluster.paused:
            spec["paused"] = True
    metadata = {
        **_metadata(NAME, uid_of(cluster.uid), cluster.version),
        "generation": cluster.generation,
        "managedFields": _managed(cluster),
    }
    kind = {"apiVersion": "apps/v1", "kind": str(kind_of(cluster))}
    return {**kind, "metadata": metadata, "spec": spec, "status": counted}


def controller_revision_json(owner: int, one: ReplicaSet) -> JSON:
    """Return a revision of the StatefulSet, which keeps its template."""
    name = name_of(one.template)
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            **_metadata(name, f"{name}-of-{uid_of(owner)}", one.version),
            "ownerReferences": [_owner("StatefulSet", NAME, uid_of(owner))],
        },
        "data": {"spec": {"template": {**_template(one.template), "$patch": "replace"}}},
        "revision": REVISIONS[one.template.image],
    }


def replica_set_json(owner: int, one: ReplicaSet) -> JSON:
    """Return a ReplicaSet; it keeps its counters without any delay."""
    name, count = name_of(one.template), len(one.pods)
    metadata = {
        **_metadata(name, f"{name}-of-{uid_of(owner)}", one.version),
        "generation": 1,
        "annotations": {"deployment.kubernetes.io/revision": str(REVISIONS[one.template.image])},
        "ownerReferences": [_owner("Deployment", NAME, uid_of(owner))],
    }
    counted = {"replicas": count, "readyReplicas": one.ready, "availableReplicas": one.ready}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata,
        "spec": {"replicas": count, "template": _template(one.template)},
        "status": {"observedGeneration": 1, **counted},
    }


def ordered_pod_json(owner: int, template: Template, pod: Pod) -> JSON:
    """Return a pod of the StatefulSet: named by its place, and labelled with its revision."""
    found = pod_json(owner, template, pod)
    metadata = {
        **found["metadata"],
        "name": f"{NAME}-{pod.ordinal}",
        "labels": {"controller-revision-hash": name_of(template)},
        "ownerReferences": [_owner("StatefulSet", NAME, uid_of(owner))],
    }
    if pod.going:
        metadata |= {"deletionTimestamp": TIME, "deletionGracePeriodSeconds": 30}
    return {**found, "metadata": metadata}


def pod_json(owner: int, template: Template, pod: Pod) -> JSON:
    """Return a pod with its one container."""
    name = f"{name_of(template)}-{pod.serial}"
    ready = pod.phase == READY and not pod.going
    state: JSON = {"running": {"startedAt": TIME}}
    status: JSON = {"name": "web", "ready": ready, "restartCount": 0, "state": state}
    if pod.phase == CRASHING:
        ended = {"reason": "Error", "exitCode": 1, "finishedAt": TIME}
        status["restartCount"] = 3
        status["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
        status["lastState"] = {"terminated": ended}
    owned_by = f"{name_of(template)}-of-{uid_of(owner)}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **_metadata(name, pod_uid(owner, template, pod.serial), pod.version),
            "ownerReferences": [_owner("ReplicaSet", name_of(template), owned_by)],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [status],
        },
    }


def uid_of(number: int) -> str:
    """Return the uid of the Deployment that is the `number`th under its name."""
    return f"web-{number}"


def pod_uid(owner: int, template: Template, serial: int) -> str:
    """Return the uid of a pod."""
    return f"{name_of(template)}-{serial}-of-{uid_of(owner)}"


def _path(image: str) -> str:
    return f"shop/web:{image}"


def _metadata(name: str, uid: str, version: int) -> JSON:
    return {
        "name": name,
        "namespace": NAMESPACE,
        "uid": uid,
        "resourceVersion": str(version),
        "creationTimestamp": TIME,
    }


def _owner(kind: str, name: str, uid: str) -> JSON:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}


def _template(template: Template) -> JSON:
    metadata: JSON = {"labels": {"app": NAME}}
    if template.marked:
        metadata["annotations"] = {"kubectl.kubernetes.io/restartedAt": TIME}
    containers = [{"name": "web", "image": _path(template.image)}]
    return {"metadata": metadata, "spec": {"containers": containers}}


def _conditions(cluster: Cluster) -> list[JSON]:
    status = cluster.status
    available = {"type": "Available", "status": "True" if status.available else "False"}
    progressing = {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}
    if status.exceeded:
        progressing |= {"status": "False", "reason": "ProgressDeadlineExceeded"}
    return [available, progressing]


def _managed(cluster: Cluster) -> list[JSON]:
    """Return the managed fields: the template's image and labels, its annotation, replicas."""
    entries = []
    for owner, (manager, operation) in MANAGERS.items():
        marked = owner == OTHER and cluster.template.marked
        fields = _fields(cluster.image_by & owner, cluster.replicas_by & owner, marked)
        if cluster.paused_by & owner:
            fields = {**fields, "f:paused": {}}
        if fields:
            entries.append(
                {
                    "manager": manager,
                    "operation": operation,
                    "apiVersion": "apps/v1",
                    "time": TIME,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:spec": fields},
                }
            )
    return entries


def _fields(image: int, replicas: int, marked: bool) -> JSON:
    template: JSON = {}
    if image:
        container: JSON = {".": {}, "f:name": {}, "f:image": {}}
        template["f:spec"] = {"f:containers": {_CONTAINER: container}}
        template["f:metadata"] = {"f:labels": {"f:app": {}}}
    if marked:
        annotation: JSON = {"f:kubectl.kubernetes.io/restartedAt": {}}
        template["f:metadata"] = {**template.get("f:metadata", {}), "f:annotations": annotation}
    fields: JSON = {"f:template": template} if template else {}
    return {**fields, "f:replicas": {}} if replicas else fields


# -- as the gate decodes them ----------------------------------------------------------------------


@functools.lru_cache(maxsize=_MANY)
def live_object(cluster: Cluster) -> LiveObject:
    """Return the workload as a read of it returns it; there has to be one."""
    base = _live_shape(_shape(cluster))
    assert base.workload is not None
    version = str(cluster.version)
    live = replace(
        base.workload,
        resource_version=version,
        generation=cluster.generation,
        observed_generation=cluster.observed,
    )
    return replace(base, resource_version=version, workload=live)


def live_of(cluster: Cluster) -> LiveObject:
    """Return the same, whatever else is stored: the cache is asked for the workload alone."""
    return live_object(cluster._replace(sets=(), latest=0, made=0))


def workload(cluster: Cluster) -> core.Workload:
    """Return the workload as a watch shows it."""
    found = live_of(cluster).workload
    assert found is not None
    return found


def revisions(cluster: Cluster) -> tuple[core.Revision, ...]:
    """Return what keeps the versions."""
    shown = _controller_revision if cluster.ordered else _replica_set
    return tuple(shown(cluster.uid, one) for one in cluster.sets)


def pods(cluster: Cluster) -> tuple[core.Pod, ...]:
    """Return all pods."""
    return tuple(
        _pod(cluster.uid, one.template, pod, cluster.ordered)
        for one in cluster.sets
        for pod in one.pods
    )


def _shape(cluster: Cluster) -> Cluster:
    return cluster._replace(generation=0, observed=0, version=0)


@functools.lru_cache(maxsize=_MANY)
def _live_shape(cluster: Cluster) -> LiveObject:
    return decode.live_object(workload_json(cluster))


@functools.lru_cache(maxsize=_MANY)
def _replica_set(owner: int, one: ReplicaSet) -> deployment_objects.ReplicaSet:
    pods = tuple(Pod(0, pod.phase, 0) for pod in one.pods)
    shape = _set_shape(owner, ReplicaSet(one.template, 0, pods))
    return replace(shape, resource_version=str(one.version))


@functools.lru_cache(maxsize=_MANY)
def _set_shape(owner: int, one: ReplicaSet) -> deployment_objects.ReplicaSet:
    return decode_replica_set(replica_set_json(owner, one))


@functools.lru_cache(maxsize=_MANY)
def _controller_revision(owner: int, one: ReplicaSet) -> ControllerRevision:
    shape = _revision_shape(owner, ReplicaSet(one.template, 0))
    return replace(shape, resource_version=str(one.version))


@functools.lru_cache(maxsize=_MANY)
def _revision_shape(owner: int, one: ReplicaSet) -> ControllerRevision:
    found = decode.decode_watched(controller_revision_json(owner, one))
    assert isinstance(found, ControllerRevision)
    return found


@functools.lru_cache(maxsize=_MANY)
def _pod(owner: int, template: Template, pod: Pod, ordered: bool) -> core.Pod:
    shape = _pod_shape(owner, template, pod._replace(version=0), ordered)
    return replace(shape, resource_version=str(pod.version))


@functools.lru_cache(maxsize=_MANY)
def _pod_shape(owner: int, template: Template, pod: Pod, ordered: bool) -> core.Pod:
    shown = ordered_pod_json if ordered else pod_json
    return decode_pod(shown(owner, template, pod))
