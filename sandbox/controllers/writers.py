"""Whom the controllers are to the API: a user each, one field manager for all."""

from __future__ import annotations

from sandbox.api.api import Writer

MANAGER = "kube-controller-manager"


def _controller(name: str) -> Writer:
    return Writer(f"system:serviceaccount:kube-system:{name}", MANAGER)


DEPLOYMENTS = _controller("deployment-controller")
REPLICA_SETS = _controller("replicaset-controller")
GARBAGE = _controller("generic-garbage-collector")
NAMESPACES = _controller("namespace-controller")
QUOTAS = _controller("resourcequota-controller")
QUOTA_ADMISSION = Writer("system:apiserver", "kube-apiserver")
