"""Whether a version is at fault, or was kept from starting by its surroundings."""

from __future__ import annotations

from gate.core.model.outcome import Reason
from gate.report.kinds import registry
from gate.report.schema.result import WorkloadResult

_OUTSIDE = registry.HINDRANCES.union(
    {
        Reason.POD_CREATE_DENIED,
        Reason.UNSCHEDULABLE,
        Reason.CONTROLLER_NOT_OBSERVING,
    }
)
"""What keeps any version from starting: a quota, a policy, a lack of room, the control plane."""
_OF_THE_VERSION = registry.FAILURES.union(
    {
        Reason.CRASH_LOOP,
        Reason.OUT_OF_MEMORY,
        Reason.READINESS_LOST,
        Reason.AVAILABILITY_LOST,
        Reason.CHECK_FAILED,
        Reason.IMAGE_PULL,
        Reason.CONTAINER_CONFIG,
        Reason.NOT_READY,
    }
)


def verb_of(workload: WorkloadResult) -> str:
    """Say whether a version failed or did not complete: one that could not start may be good.

    One that was complete, but for an object beside it, did neither.
    """
    if workload["reason"] == Reason.OBJECT_NOT_READY:
        return "was not verified"
    own = [c["reason"] for c in workload["causes"] if c["reason"] != Reason.SIBLING_FAILED]
    underneath = {workload["reason"], *own[:1]}
    if underneath & _OUTSIDE or not underneath & _OF_THE_VERSION:
        return "did not complete"
    return "failed"
