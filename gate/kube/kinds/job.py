"""batch/v1 Job; it has no revisions but itself."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.job.objects import JOB
from gate.kube.kinds.kind import WatchedKind, WorkloadResources
from gate.kube.kinds.pod import LOGS, POD
from gate.kube.resource import Resource

JOBS: Final = Resource("batch", "v1", "Job", "jobs")

WORKLOAD: Final = WorkloadResources(
    watched=WatchedKind(JOB, JOBS),
    children=(POD,),
    rights=(LOGS,),
)
