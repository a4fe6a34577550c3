"""The reasons that Jobs alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class JobReason(AnyReason):
    """Why a Job did not complete: it failed, or pods of it did while it went on."""

    JOB_FAILED = "JobFailed"
    POD_FAILED = "PodFailed"
