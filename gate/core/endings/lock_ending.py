"""How a workload ends if a lock of the attempt was taken: its own, or another's."""

from __future__ import annotations

from gate.core.attempt.state import Attempt, Ending
from gate.core.model.lock import lock_of
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason


def lock_ending(attempt: Attempt, ref: Ref, lost: Ending) -> Ending:
    """Return the ending of `ref`: `lost` if its own lock was taken, else that of a sibling.

    Without known locks every workload ends as `lost`.
    """
    taken = _list_taken_locks(attempt)
    if not taken or ref in taken:
        return lost
    names = ", ".join(map(attempt.plan.name_of, taken))
    message = CleanText(f"the lock of {names} was taken by {attempt.interference.lock_taker}")
    return Ending(Outcome.SUPERSEDED, Reason.SIBLING_LOCKED, message)


def _list_taken_locks(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the followed workloads whose locks the attempt lost."""
    by_lock = {lock_of(one.ref): one.ref for one in attempt.plan.targets}
    return tuple(by_lock[lock] for lock in attempt.interference.locks_lost if lock in by_lock)
