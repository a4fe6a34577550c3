"""How a workload ends if a lock of the attempt was taken: its own, or another's."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import has_way_back
from gate.core.model.body import FrozenMap
from gate.core.model.lock import lock_of
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason

SERVING: Final = (Outcome.VERIFIED, Outcome.APPLIED, Outcome.ROLLED_BACK)
"""The outcomes that promise something of what runs now."""


def with_lost_lock(attempt: Attempt) -> Attempt:
    """Return the attempt, superseded if a lock turns out to be lost after a verdict without doubt.

    Whoever took it may have changed what runs since the last look. A failure that was seen stays
    one, and what has run to its end has.
    """
    lost, whole = attempt.interference.lock_lost, attempt.result.ending
    if lost is None or whole is None or whole.outcome not in SERVING:
        return attempt
    endings = FrozenMap(
        (ref, lock_ending(attempt, ref, lost) if promises_to_run(ref, one) else one)
        for ref, one in attempt.result.endings.items()
    )
    result = replace(attempt.result, endings=endings, ending=lost, judged=lost)
    return replace(attempt, result=result)


def promises_to_run(ref: Ref, ending: Ending) -> bool:
    """Tell whether an ending says of a workload what runs now: what ran to its end has."""
    return has_way_back(ref) and ending.outcome in SERVING


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
