"""A Deployment in a report: ReplicaSets keep its versions."""

from __future__ import annotations

from typing import Final

from gate.report.kinds.kind import WorkloadKind

DEPLOYMENT: Final = WorkloadKind("Deployment", version="ReplicaSet", parts="replicasets,pods")
