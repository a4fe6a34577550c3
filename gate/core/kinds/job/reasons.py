"""The reasons that Jobs alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class JobReason(AnyReason):
    """How a Job ended that did not complete."""

    JOB_FAILED = "JobFailed"
