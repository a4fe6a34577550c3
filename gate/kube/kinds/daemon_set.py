"""apps/v1 DaemonSet, its ControllerRevisions, and the nodes that it runs on."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.daemon_set.objects import DAEMON_SET
from gate.kube.kinds.controller_revision import CONTROLLER_REVISION
from gate.kube.kinds.kind import WatchedKind, WorkloadResources
from gate.kube.kinds.node import NODE
from gate.kube.kinds.pod import LOGS, POD
from gate.kube.kinds.resource import Resource

DAEMON_SETS: Final = Resource("apps", "v1", "DaemonSet", "daemonsets")

WORKLOAD: Final = WorkloadResources(
    watched=WatchedKind(DAEMON_SET, DAEMON_SETS),
    children=(CONTROLLER_REVISION, POD),
    rights=(LOGS,),
    surroundings=(NODE,),
    short_name="ds",
)
