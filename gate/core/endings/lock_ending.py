"""How a Deployment ends where a lock of the attempt was taken: its own lock, or another one's."""

from __future__ import annotations

from gate.core.attempt.state import Attempt, Ending
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason


def lock_ending(attempt: Attempt, ref: Ref, lost: Ending) -> Ending:
    """End `ref` by whose lock was taken; `lost` is the ending of the Deployment it locks."""
    taken = _taken(attempt)
    if not taken or lock_of(ref.namespace, ref.name) in taken:
        return lost
    names = ", ".join(map(str, taken))
    message = CleanText(f"the lock of {names} was taken by {attempt.interference.lock_taker}")
    return Ending(Outcome.SUPERSEDED, Reason.SIBLING_LOCKED, message)


def _taken(attempt: Attempt) -> tuple[Lock, ...]:
    """Return the lost locks of Deployments that the attempt follows."""
    own = {lock_of(target.ref.namespace, target.ref.name) for target in attempt.plan.targets}
    return tuple(lock for lock in attempt.interference.locks_lost if lock in own)
