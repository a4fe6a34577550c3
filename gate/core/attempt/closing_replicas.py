"""What the history remembers of the number of replicas that an attempt leaves to a workload."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.record import Record
from gate.core.plan.replica_ownership import Scaler
from gate.core.rollout.policy import OnFailure, OnFirstFailure
from gate.core.ssa.managed_fields import owners_of
from gate.core.versions.known_replicas import ClosingReplicas


def find_replicas(attempt: Attempt, record: Record, ref: Ref) -> ClosingReplicas:
    """Return what the end of an attempt says of the replicas of one workload."""
    back, written = attempt.ledger.restored.get(ref), attempt.ledger.written.get(ref)
    left = back if back is not None or written is None else written.after
    return ClosingReplicas(
        applied=_find_applied(record, ref) if back is None else None,
        scaled_down=_is_scaled_down(attempt, ref),
        others=_find_others(attempt, ref, left) if left is not None else None,
    )


def is_empty(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload was seen last to want 0 replicas."""
    rollout = attempt.workloads.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    return live is not None and live.replicas == 0


def _find_applied(record: Record, ref: Ref) -> int | None:
    """Return the replicas that were applied because the manifest asks for them, None for none."""
    kept = next((one for one in record.objects if one.ref == ref), None)
    if record.command != "apply" or kept is None or kept.scaler.keeps_live:
        return None
    if isinstance(kept.expected, Body):
        named = kept.expected.thaw().get("spec", {}).get("replicas")
        return named if isinstance(named, int) else None
    if kept.expected is None or kept.expected.workload is None:
        return None
    is_ours = FIELD_MANAGER in _find_managers(kept.expected)
    return kept.expected.workload.replicas if is_ours else None


def _is_scaled_down(attempt: Attempt, ref: Ref) -> bool | None:
    """Return `ClosingReplicas.scaled_down`, of a first version that failed."""
    policy, written = attempt.plan.policy, attempt.ledger.written.get(ref)
    if ref in attempt.ledger.patched:
        scales = policy.response.on_first_failure is OnFirstFailure.SCALE_TO_ZERO
        return scales and policy.response.on_failure is not OnFailure.PAUSE
    before = written.before if written is not None else None
    was_empty = before is not None and _replicas_of(before) == 0
    return None if was_empty and is_empty(attempt, ref) else False


def _find_others(attempt: Attempt, ref: Ref, left: LiveObject) -> int | None:
    """Return the number of somebody else that this attempt has made ours alone, None for none.

    Ours is what we alone owned before, and what the manifest asked for.
    """
    before, written = attempt.plan.before(ref), attempt.ledger.written.get(ref)
    if before is None or _find_managers(left) != {FIELD_MANAGER}:
        return None
    ours = {_replicas_of(before)} if _find_managers(before) == {FIELD_MANAGER} else set()
    if written is not None and written.scaler is Scaler.MANIFEST:
        ours.add(_replicas_of(written.after))
    number = _replicas_of(left)
    return None if number in ours else number


def _replicas_of(live: LiveObject) -> int | None:
    return live.workload.replicas if live.workload is not None else None


def _find_managers(live: LiveObject) -> set[str]:
    """Return the managers that own the number of replicas."""
    owners = owners_of(live.thaw_managed_fields(), ("spec", "replicas"))
    return {manager for manager, _ in owners}
