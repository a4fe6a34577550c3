"""A way back on which nothing moves until a person acts: to wait for its budget would be no use."""

from __future__ import annotations

from gate.core.model.objects import Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import BlockedPods, Policy
from gate.core.rollout.snapshot import Snapshot

DEAD_END_SECONDS = 10.0
"""How long nothing has moved before a way back that only a person can go on with is given up."""


def find_dead_end(
    snapshot: Snapshot, live: Workload, policy: Policy, last_clock: float, clock: float
) -> Cause | None:
    """Return the pod at which a way back ends, None if it may go on.

    All others are as they should be, the controller leaves this one, and neither may the gate
    replace it. It is of the version that is taken back, or it cannot recover. `last_clock` is when
    something last moved, `clock` the time now, both by the clock of `Blindness`.
    """
    if clock < last_clock + DEAD_END_SECONDS:
        return None
    kind = snapshot.kind
    limits = kind.fail_fast(policy.fail_fast)
    blocking = kind.find_blocking_pod(snapshot, live, limits)
    if blocking is None or not blocking.is_last:
        return None
    trouble = blocking.trouble
    if not blocking.is_taken_back and (trouble is None or clock < trouble.ripe_at):
        return None
    if not blocking.obstacle and policy.response.blocked_pods is not BlockedPods.NEVER:
        return None
    faults = kind.faults(snapshot, live, limits)
    return next((one.cause() for one in faults if one.reason is Reason.BLOCKED_BY_POD), None)
