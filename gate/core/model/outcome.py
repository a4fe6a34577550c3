"""The closed sets that a pipeline branches on: outcomes, their exit codes, reasons."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final


class Outcome(enum.StrEnum):
    """What runs in the cluster at the end; "Exit codes" in the contract."""

    VERIFIED = "verified"
    APPLIED = "applied"
    INTERNAL_ERROR = "internal-error"
    USAGE = "usage"
    REFUSED = "refused"
    ROLLED_BACK = "rolled-back"
    ROLLBACK_FAILED = "rollback-failed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    SUPERSEDED = "superseded"
    LOST_CONTACT = "lost-contact"
    INTERRUPTED = "interrupted"
    OBSERVED = "observed"


EXIT_CODES: dict[Outcome, int] = {
    Outcome.VERIFIED: 0,
    Outcome.APPLIED: 0,
    Outcome.OBSERVED: 0,
    Outcome.INTERNAL_ERROR: 1,
    Outcome.USAGE: 2,
    Outcome.REFUSED: 3,
    Outcome.ROLLED_BACK: 4,
    Outcome.ROLLBACK_FAILED: 5,
    Outcome.FAILED: 6,
    Outcome.INCONCLUSIVE: 7,
    Outcome.SUPERSEDED: 8,
    Outcome.LOST_CONTACT: 9,
}
"""Interrupted is missing: its code is 128 plus the number of the signal."""

WELL: Final = (Outcome.VERIFIED, Outcome.APPLIED)
"""The outcomes of what is as it was asked for, whether or not anything showed it to work."""

WITHOUT_A_FAILURE: Final = frozenset(
    {Outcome.VERIFIED, Outcome.APPLIED, Outcome.ROLLED_BACK, Outcome.SUPERSEDED}
)
"""The outcomes that are no failure beside a verified workload of the same attempt."""

_WORST_FIRST = (
    Outcome.INTERNAL_ERROR,
    Outcome.ROLLBACK_FAILED,
    Outcome.LOST_CONTACT,
    Outcome.INTERRUPTED,
    Outcome.FAILED,
    Outcome.USAGE,
    Outcome.REFUSED,
    Outcome.SUPERSEDED,
    Outcome.ROLLED_BACK,
    Outcome.INCONCLUSIVE,
    Outcome.OBSERVED,
    Outcome.APPLIED,
    Outcome.VERIFIED,
)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the joint outcome of several workloads or attempts; of none it is verified."""
    return min(outcomes, key=_WORST_FIRST.index, default=Outcome.VERIFIED)


class AnyReason(enum.StrEnum):
    """The rule that decided, or what was wrong underneath; stable CamelCase.

    A closed set: `Reason` has what all kinds of workload share, and each kind brings what it alone
    gives (`WorkloadKind.reasons`).
    """

    @property
    def is_of_surroundings(self) -> bool:
        """Whether it keeps any version from starting, or a run from seeing it."""
        return False


class Reason(AnyReason):
    """The reasons that do not depend on the kind of a workload."""

    COMPLETE = "Complete"
    NO_CHANGE = "NoChange"
    DRY_RUN = "DryRun"
    VACUOUS = "Vacuous"
    NO_ROLLOUT = "NoRollout"
    PROGRESSING = "Progressing"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    TIMEOUT = "Timeout"
    CRASH_LOOP = "CrashLoop"
    OUT_OF_MEMORY = "OutOfMemory"
    IMAGE_PULL = "ImagePull"
    CONTAINER_CONFIG = "ContainerConfig"
    READINESS_LOST = "ReadinessLost"
    AVAILABILITY_LOST = "AvailabilityLost"
    NOT_READY = "NotReady"
    NOT_STARTED = "NotStarted"
    UNSCHEDULABLE = "Unschedulable"
    POD_CREATE_DENIED = "PodCreateDenied"
    BLOCKED_BY_POD = "BlockedByPod"
    BLOCKED_BY_FINALIZER = "BlockedByFinalizer"
    BLOCKED_BY_TERMINATION = "BlockedByTermination"
    CONTROLLER_NOT_OBSERVING = "ControllerNotObserving"
    OBJECT_NOT_READY = "ObjectNotReady"
    SIBLING_FAILED = "SiblingFailed"
    CHECK_FAILED = "CheckFailed"
    CHECK_INCONCLUSIVE = "CheckInconclusive"
    CHECK_ERROR = "CheckError"
    SUPERSEDED = "Superseded"
    DELETED = "Deleted"
    SCALED_TO_ZERO = "ScaledToZero"
    PAUSED = "Paused"
    CONFLICT = "Conflict"
    REJECTED = "Rejected"
    APPLY_REJECTED = "ApplyRejected"
    LOCKED = "Locked"
    SIBLING_LOCKED = "SiblingLocked"
    FORBIDDEN = "Forbidden"
    UNAUTHORIZED = "Unauthorized"
    UNREACHABLE = "Unreachable"
    NOT_FOUND = "NotFound"
    INTERRUPTED = "Interrupted"
    GITOPS_MANAGED = "GitOpsManaged"
    GITOPS_REVERTED = "GitOpsReverted"
    PROTECTED = "Protected"
    NO_BASELINE = "NoBaseline"
    NOT_RESTORED = "NotRestored"
    IRREVERSIBLE = "Irreversible"
    SET_INCOMPLETE = "SetIncomplete"
    USAGE = "Usage"
    INTERNAL_ERROR = "InternalError"

    @property
    def is_of_surroundings(self) -> bool:
        """Whether it is a quota, a policy, a lack of room, what is in the way or the server."""
        return self in _OF_SURROUNDINGS


_OF_SURROUNDINGS: Final = frozenset(
    {
        Reason.POD_CREATE_DENIED,
        Reason.UNSCHEDULABLE,
        Reason.BLOCKED_BY_POD,
        Reason.BLOCKED_BY_FINALIZER,
        Reason.BLOCKED_BY_TERMINATION,
        Reason.CONTROLLER_NOT_OBSERVING,
        Reason.UNREACHABLE,
    }
)

MORE_TELLING: Final = (
    Reason.OUT_OF_MEMORY,
    Reason.CRASH_LOOP,
    Reason.IMAGE_PULL,
    Reason.CONTAINER_CONFIG,
    Reason.POD_CREATE_DENIED,
    Reason.BLOCKED_BY_POD,
)
"""What may be wrong underneath, in the order in which a reader sees it, before what a kind of
workload gives."""

LESS_TELLING: Final = (
    Reason.UNSCHEDULABLE,
    Reason.READINESS_LOST,
    Reason.AVAILABILITY_LOST,
    Reason.CONTROLLER_NOT_OBSERVING,
    Reason.CONFLICT,
    Reason.UNREACHABLE,
    Reason.NOT_READY,
    Reason.BLOCKED_BY_FINALIZER,
    Reason.BLOCKED_BY_TERMINATION,
    Reason.NOT_STARTED,
)
"""What comes after that, in the same order.

A pod that is being deleted and has not gone excuses a version of which no container has run.
"""


ON_THEIR_WAY: Final = (Reason.NOT_READY, Reason.NOT_STARTED)
"""What is so of every pod until it is ready: no trouble by itself."""

UNPROVEN: Final = (Reason.VACUOUS, Reason.NO_ROLLOUT)
"""The reasons of completion with which no pod has shown the version to work."""


def outcome_of(reason: AnyReason) -> Outcome:
    """Return the outcome of what is complete: where nothing rolls, the version does not run."""
    return Outcome.APPLIED if reason is Reason.NO_ROLLOUT else Outcome.VERIFIED


TAKEN_OVER: Final = (Reason.SUPERSEDED, Reason.SCALED_TO_ZERO)
"""What somebody else did to a workload that is still there; managed fields may say who."""

LOCK_REASONS: Final = (Reason.LOCKED, Reason.SIBLING_LOCKED)
"""Endings that say nothing about what runs: whoever took the lock may not have written anything."""
