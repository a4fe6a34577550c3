"""A Job in a report: it is its own only version."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.job.reasons import JobReason
from gate.report.kinds.kind import WorkloadWords

_FAILED: Final = JobReason.JOB_FAILED

JOB: Final = WorkloadWords(
    "Job",
    version="Job",
    parts="pods",
    steps={
        _FAILED: (
            "read the log of its pod and mend what it says; what the Job did until then stays",
            "",
        )
    },
)
