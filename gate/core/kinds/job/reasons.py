"""The reasons that Jobs alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class JobReason(AnyReason):
    """Why a Job did not complete: it failed, pods of it did, or it is to have none."""

    JOB_FAILED = "JobFailed"
    POD_FAILED = "PodFailed"
    NO_PARALLELISM = "NoParallelism"

    @property
    def is_of_surroundings(self) -> bool:
        """Whether it asks for no pod, whatever its version."""
        return self is JobReason.NO_PARALLELISM
