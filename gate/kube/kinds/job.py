"""batch/v1 Job; it has no revisions but itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gate.core.kinds.job.objects import JOB
from gate.kube.kinds.kind import WatchedKind, WorkloadResources, spec_selector
from gate.kube.kinds.pod import LOGS, POD
from gate.kube.kinds.resource import Resource

_NAME_LABEL: Final = "batch.kubernetes.io/job-name"
"""On all pods of a Job whose selector the server made (batch/v1, `generateSelector`)."""


def _select_pods(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the labels of a Job's pods by its name: its selector has its uid, unknown before."""
    if (body.get("spec") or {}).get("manualSelector"):
        return spec_selector(body)
    return {"matchLabels": {_NAME_LABEL: body["metadata"]["name"]}}


JOBS: Final = Resource("batch", "v1", "Job", "jobs")

WORKLOAD: Final = WorkloadResources(
    watched=WatchedKind(JOB, JOBS),
    children=(POD,),
    rights=(LOGS,),
    selector=_select_pods,
)
