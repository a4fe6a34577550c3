"""A way back on which nothing moves until a person acts: to wait for its budget would be no use."""

from __future__ import annotations

import math

from gate.core.model.objects import Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import BlockedPods, Policy
from gate.core.rollout.snapshot import Snapshot

DEAD_END_SECONDS = 10.0
"""How long nothing has moved before a way back that only a person can go on with is given up."""


def dead_end_at(snapshot: Snapshot, last_clock: float) -> float:
    """Return when a way back may be at a dead end, infinite on the way out."""
    return last_clock + DEAD_END_SECONDS if snapshot.taken_back else math.inf


def find_dead_end(
    snapshot: Snapshot, live: Workload, policy: Policy, last_clock: float, clock: float
) -> Cause | None:
    """Return the pod of the failed version at which a way back ends, None if it may go on.

    All others are as they should be, the controller leaves this one, and neither may the gate
    replace it. `last_clock` is when something last moved, `clock` the time now, both by the clock
    of `Blindness`.
    """
    if clock < dead_end_at(snapshot, last_clock):
        return None
    kind = snapshot.kind
    limits = kind.fail_fast(policy.fail_fast)
    blocking = kind.find_blocking_pod(snapshot, live, limits)
    if blocking is None or not blocking.is_last:
        return None
    if not blocking.obstacle and policy.response.blocked_pods is not BlockedPods.NEVER:
        return None
    faults = kind.faults(snapshot, live, limits)
    return next((one.cause() for one in faults if one.reason is Reason.BLOCKED_BY_POD), None)
