"""StatefulSets, DaemonSets, Jobs and what stands beside them, as a team would write them.

The pods' behaviour is an argument, as in `tests.cluster.manifests`; `spec` goes into the
workload's spec and outweighs what is made here.
"""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.kubelet import behaviour as behaviours
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import container


def template(name: str, image: str, behaviour: str = "", **pod: object) -> JSON:
    """Return a pod template of one container `name`; `pod` goes into the pod's spec."""
    behaviours.parse(behaviour)
    metadata: JSON = {"labels": {"app": name}}
    if behaviour:
        metadata["annotations"] = {behaviours.ANNOTATION: behaviour}
    return {"metadata": metadata, "spec": {"containers": [container(name, image)], **pod}}


def stateful_set(
    name: str = "db",
    *,
    image: str = "shop/db:1",
    replicas: int = 3,
    behaviour: str = "",
    partition: int | None = None,
    pod: Mapping[str, object] | None = None,
    **spec: object,
) -> JSON:
    """Return a StatefulSet of one container."""
    body: JSON = {
        "serviceName": name,
        "replicas": replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": template(name, image, behaviour, **(pod or {})),
    }
    if partition is not None:
        body["updateStrategy"] = {
            "type": "RollingUpdate",
            "rollingUpdate": {"partition": partition},
        }
    return _apps("StatefulSet", name, body | spec)


def daemon_set(
    name: str = "agent",
    *,
    image: str = "shop/agent:1",
    behaviour: str = "",
    pool: str = "",
    tolerates_all: bool = False,
    **spec: object,
) -> JSON:
    """Return a DaemonSet of one container, on the nodes of `pool` (`tests.bed.nodes`).

    What `tolerates_all` is wanted on nodes that are not ready or dead, too; other DaemonSets are
    not, by the taint of these nodes (`NoSchedule`), though a pod that is there stays.
    """
    pod: JSON = {}
    if pool:
        toleration = {"operator": "Exists"} | ({} if tolerates_all else {"key": POOL})
        pod = {"nodeSelector": {POOL: pool}, "tolerations": [toleration]}
    body: JSON = {
        "selector": {"matchLabels": {"app": name}},
        "template": template(name, image, behaviour, **pod),
    }
    return _apps("DaemonSet", name, body | spec)


def job(
    name: str = "migrate",
    *,
    image: str = "shop/migrate:1",
    behaviour: str = "complete",
    annotations: Mapping[str, str] | None = None,
    **spec: object,
) -> JSON:
    """Return a Job of one container that is never restarted; by default it ends well."""
    metadata: JSON = {"name": name}
    if annotations:
        metadata["annotations"] = dict(annotations)
    body = {"template": template(name, image, behaviour, restartPolicy="Never")} | spec
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": body}


def disruption_budget(name: str = "db", **spec: object) -> JSON:
    """Return a PodDisruptionBudget for the pods of a workload, as in `minAvailable=3`."""
    body = {"selector": {"matchLabels": {"app": name}}, **spec}
    kind = "PodDisruptionBudget"
    return {"apiVersion": "policy/v1", "kind": kind, "metadata": {"name": name}, "spec": body}


POOL = "rollout-gate.test/pool"
"""Label and taint of the nodes that are one test's."""


def _apps(kind: str, name: str, spec: JSON) -> JSON:
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
