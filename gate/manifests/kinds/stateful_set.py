"""apps/v1 StatefulSet in a manifest: its row, and what the lint looks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.manifests.kinds.kind import POD_TEMPLATE, Rank, UpdateLimits, Workload, usual
from gate.manifests.kinds.rules import (
    MIN_READY_SECONDS,
    MUTABLE_TAGS,
    READINESS_PROBES,
    SEVERAL_REPLICAS,
)

STATEFUL_SET: Final = replace(
    usual("apps/v1", "StatefulSet", "statefulsets", Rank.WORKLOADS, *POD_TEMPLATE),
    update_limits=UpdateLimits(
        fixed_fields=("serviceName", "selector", "volumeClaimTemplates", "podManagementPolicy"),
        instead="or delete it first, which leaves its pods alone with --cascade=orphan",
    ),
    workload=Workload(rules=(MUTABLE_TAGS, READINESS_PROBES, MIN_READY_SECONDS, SEVERAL_REPLICAS)),
)
