"""The kinds of Kubernetes: which are usual in a deployment, their scope and order of application.

The usual kinds are those that the built-in ClusterRole `edit` lets a developer write: they run and
configure workloads and widen nobody's rights. Two of its kinds are left out because they steer
others, Lease (the gate's own lock is one) and Event. Everything else needs `--allow-kind`: access
rights and webhooks, limits that administrators set, traffic to chosen addresses (EndpointSlice,
which `edit` lost over CVE-2021-25740), cluster-scoped kinds, custom kinds.
"""

from __future__ import annotations

from typing import Final

from gate.manifests.kinds import daemon_set, deployment, job, stateful_set
from gate.manifests.kinds.kind import POD_TEMPLATE, Kind, Rank, usual
from gate.manifests.kinds.others import KINDS_WITHOUT_PODS

KINDS: Final = (
    usual("v1", "Pod", "pods", Rank.WORKLOADS, "spec"),
    usual("v1", "ReplicationController", "replicationcontrollers", Rank.WORKLOADS, *POD_TEMPLATE),
    daemon_set.DAEMON_SET,
    deployment.DEPLOYMENT,
    usual("apps/v1", "ReplicaSet", "replicasets", Rank.WORKLOADS, *POD_TEMPLATE),
    stateful_set.STATEFUL_SET,
    job.JOB,
    job.CRON_JOB,
    *KINDS_WITHOUT_PODS,
)
"""Whoever adds a workload kind puts its module's row in place of the one here.

Compared with `kubectl api-resources` and the role `edit` of Kubernetes v1.36."""

SCALED_BY_DEFAULT: Final = deployment.DEPLOYMENT
"""What a KEDA ScaledObject scales that names no kind (keda.sh/v1alpha1 ScaleTarget)."""

_BY_GROUP_AND_NAME: Final = {(kind.group, kind.name): kind for kind in KINDS}


def find(group: str, name: str) -> Kind | None:
    """Return the row of a kind in `KINDS`, None for custom ones."""
    return _BY_GROUP_AND_NAME.get((group, name))


def namesakes(name: str) -> tuple[Kind, ...]:
    """Return the rows of that name in any group: `Deployment` was once in `extensions`."""
    return tuple(kind for kind in KINDS if kind.name == name)
