"""apps/v1 DaemonSet in a manifest: its row, and what the lint looks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.manifests.kinds.kind import POD_TEMPLATE, Rank, UpdateLimits, Workload, usual
from gate.manifests.kinds.rules import MIN_READY_SECONDS, MUTABLE_TAGS, READINESS_PROBES

DAEMON_SET: Final = replace(
    usual("apps/v1", "DaemonSet", "daemonsets", Rank.WORKLOADS, *POD_TEMPLATE),
    update_limits=UpdateLimits(
        instead="or apply it under another name, and delete this one once that serves"
    ),
    workload=Workload(rules=(MUTABLE_TAGS, READINESS_PROBES, MIN_READY_SECONDS)),
)
