"""The limits of one attempt as values; the contract has the defaults in "Failing"."""

from __future__ import annotations

import enum
from dataclasses import field
from typing import Final

from gate.core.checks.spec import Check, OnInconclusive
from gate.core.frozen import dataclass
from gate.core.model.int_or_percent import Share

DEFAULT_OBJECT_WAIT_SECONDS: Final = 300.0
DEFAULT_PROGRESS_DEADLINE_SECONDS: Final = 600.0
"""The default of `progressDeadlineSeconds` of a Deployment (apps/v1), for kinds without it."""


class OnFailure(enum.StrEnum):
    """What a failed verdict does to a workload that has a baseline."""

    ROLLBACK = "rollback"
    PAUSE = "pause"
    KEEP = "keep"


class OnFirstFailure(enum.StrEnum):
    """What a failed verdict does to a workload that has none."""

    KEEP = "keep"
    SCALE_TO_ZERO = "scale-to-zero"
    DELETE = "delete"


class WaitFor(enum.StrEnum):
    """What besides the workloads has to be ready before an attempt is complete."""

    ALL = "all"
    WORKLOADS = "workloads"


class OnInterrupt(enum.StrEnum):
    """What a signal does; `AUTO` rolls back if anything of the new version has failed."""

    AUTO = "auto"
    ROLLBACK = "rollback"
    KEEP = "keep"


class OnDelete(enum.StrEnum):
    """What is waited for where the strategy `OnDelete` leaves old pods to whoever deletes them."""

    REPORT = "report"
    WAIT = "wait"


class BlockedPods(enum.StrEnum):
    """What is done to a pod at which a controller stops, so that it can be replaced."""

    EVICT = "evict"
    DELETE = "delete"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class FailFast:
    """Graces in seconds and counts after which a pod is doomed; None switches a class off.

    Registries and operators recover in minutes, a name that is not valid never does: so each
    class has a grace of its own.
    """

    image_invalid_seconds: float | None = 0.0
    image_refused_seconds: float | None = 30.0
    image_unclear_seconds: float | None = 300.0
    container_config_seconds: float | None = 120.0
    crash_restarts: int | None = 3
    readiness_losses: int | None = 3
    denied_by_policy_seconds: float | None = 15.0
    denied_by_webhook_seconds: float | None = 120.0
    denied_by_quota_seconds: float | None = 120.0
    replica_set_create_seconds: float | None = 15.0


@dataclass(frozen=True, slots=True)
class ObjectWait:
    """Whether objects that are no workloads have to be ready, and how long they may take.

    `seconds` count each time that some are waited for. What a write needs is waited for anyhow.
    """

    wait_for: WaitFor = WaitFor.WORKLOADS
    seconds: float = DEFAULT_OBJECT_WAIT_SECONDS


@dataclass(frozen=True, slots=True)
class Budgets:
    """How long an attempt may take, in seconds; None is `auto`.

    `progress_deadline_seconds` is how long nothing may move in a workload whose controller has no
    deadline of its own. `evidence_seconds` is how long the bake window may last if that is longer
    than `bake_seconds`: until every check that decides has all its measurements. With `bake_early`
    the window ends as soon as they have.
    """

    timeout_seconds: float | None = None
    rollback_timeout_seconds: float | None = None
    progress_deadline_seconds: float = DEFAULT_PROGRESS_DEADLINE_SECONDS
    bake_seconds: float = 0.0
    evidence_seconds: float = 0.0
    read_interval_seconds: float = 30.0
    bake_early: bool = False

    @property
    def longest_bake_seconds(self) -> float:
        """How long the bake window may last at most."""
        return max(self.bake_seconds, self.evidence_seconds)


@dataclass(frozen=True, slots=True)
class Requirement:
    """How much of a rollout has to be there before it is complete.

    `require` is None for all pods, "min-available" being spelled by `require_min_available`.
    `require_all_nodes` is whether nodes that are not ready count where each one runs a pod.
    """

    tolerate: Share | None = None
    require: Share | None = None
    require_min_available: bool = False
    wait_for_termination: bool = False
    require_all_nodes: bool = False
    on_delete: OnDelete = OnDelete.REPORT

    @property
    def enough(self) -> str:
        """Why less than all pods may be enough, as the end of a sentence; "" if it may not."""
        is_part = self.require is not None or self.require_min_available
        return ", enough for --require" if is_part else ""


@dataclass(frozen=True, slots=True)
class Response:
    """What the gate does about a failure, a doubt, a signal, and what others own.

    `takes_back_parts` is whether a half-done apply is rolled back whatever `on_failure` says: an
    age limit forbids it.
    """

    on_failure: OnFailure = OnFailure.ROLLBACK
    on_first_failure: OnFirstFailure = OnFirstFailure.KEEP
    on_interrupt: OnInterrupt = OnInterrupt.AUTO
    on_inconclusive: OnInconclusive = OnInconclusive.KEEP
    blocked_pods: BlockedPods = BlockedPods.EVICT
    prune_created: bool = False
    force_conflicts: bool = False
    takes_back_parts: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that decides besides the cluster itself."""

    budgets: Budgets = field(default_factory=Budgets)
    requirement: Requirement = field(default_factory=Requirement)
    response: Response = field(default_factory=Response)
    fail_fast: FailFast = field(default_factory=FailFast)
    checks: tuple[Check, ...] = ()
    object_wait: ObjectWait = field(default_factory=ObjectWait)
    observe: bool = False


def amount(share: Share | None, total: int, default: int) -> int:
    """Return how many of `total` pods a share is, rounded up; `default` if there is none."""
    return default if share is None else share.of(total, round_up=True)
