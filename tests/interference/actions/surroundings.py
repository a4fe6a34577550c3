"""What happens to pods, ReplicaSets, nodes and quotas, and to the control plane."""

from __future__ import annotations

import random

from tests.bed.scene import quota
from tests.cluster.kubelet.api import JSON
from tests.interference.actions.table import action
from tests.interference.stage import Stage

# -- pods, ReplicaSets, nodes, quotas --------------------------------------------------------------


def _pods(stage: Stage) -> list[JSON]:
    return [
        pod
        for pod in stage.objects.list_all("pods", "app=web")
        if "deletionTimestamp" not in pod["metadata"]
    ]


@action()
def pod_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete a pod."""
    stage.objects.delete("pods", chance.choice(_pods(stage))["metadata"]["name"])


@action()
def pod_evicted(stage: Stage, chance: random.Random) -> None:
    """Evict a pod, as a drain does."""
    name = chance.choice(_pods(stage))["metadata"]["name"]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    stage.api.json("POST", f"{stage.objects.path('pods', name)}/eviction", body)


def _replica_sets(stage: Stage) -> list[JSON]:
    found = stage.objects.list_all("replicasets", "app=web")
    return sorted(found, key=lambda each: str(each["metadata"]["creationTimestamp"]))


@action()
def new_replica_set_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the newest ReplicaSet, which the controller makes again."""
    stage.objects.delete("replicasets", _replica_sets(stage)[-1]["metadata"]["name"])


@action()
def old_replica_set_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the oldest ReplicaSet."""
    stage.objects.delete("replicasets", _replica_sets(stage)[0]["metadata"]["name"])


@action(is_global=True)
def node_cordoned(stage: Stage, chance: random.Random) -> None:
    """Cordon the node."""
    stage.patch("nodes", "rig-0", {"spec": {"unschedulable": True}})


@action(is_global=True)
def node_not_ready(stage: Stage, chance: random.Random) -> None:
    """Let the node be not ready."""
    status = {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]}
    stage.patch("nodes", "rig-0", {"status": status}, subresource="status")


@action(ends=[4, 5], may_fail=True)
def quota_created(stage: Stage, chance: random.Random) -> None:
    """Leave no room for another pod."""
    stage.objects.create("resourcequotas", quota({"pods": "0"}))


# -- the control plane -----------------------------------------------------------------------------


@action(is_global=True)
def api_server_held(stage: Stage, chance: random.Random) -> None:
    """Hold the API server still for two seconds."""
    stage.hold("api", 2.0)


@action(is_global=True)
def controllers_held(stage: Stage, chance: random.Random) -> None:
    """Hold the controller manager still for five seconds."""
    stage.hold("controllers", 5.0)
