"""apps/v1 StatefulSet and its ControllerRevisions."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.stateful_set.objects import STATEFUL_SET
from gate.kube.kinds.controller_revision import CONTROLLER_REVISION
from gate.kube.kinds.kind import WatchedKind, WorkloadResources
from gate.kube.kinds.pod import LOGS, POD
from gate.kube.kinds.resource import Resource

STATEFUL_SETS: Final = Resource("apps", "v1", "StatefulSet", "statefulsets")

WORKLOAD: Final = WorkloadResources(
    watched=WatchedKind(STATEFUL_SET, STATEFUL_SETS),
    children=(CONTROLLER_REVISION, POD),
    rights=(LOGS,),
    can_be_blocked=True,
    short_name="sts",
)
