"""Whether the recovery of a dead gate's attempt was already the undo that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from gate.app.command_context import CommandContext
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import is_workload
from gate.core.model.objects import Ref
from gate.core.model.outcome import WELL, Outcome
from gate.core.plan.record import Record


def find_undo(context: CommandContext, ends: Sequence[Attempt], ref: Ref) -> Attempt | None:
    """Return the last recovered attempt whose end is the undo of a workload; announce each.

    If a dead gate had rolled out, resumed or restarted a version, an undo means that version. Once
    the recovery took it back, a further undo would return to the version before it. The same holds
    if the dead gate's command was an undo and the recovery completed it. It does not hold for an
    undo that the recovery took back: what that comes back to is still to be undone.
    """
    found = None
    for ended in ends:
        resumed = ended.plan.resumed
        if resumed is None or not _has_undone(ended, resumed.record, ref):
            continue
        note = f"{ref}: what an earlier attempt had left is undone; it goes back no further"
        if resumed.record.command == "undo":
            note = f"{ref}: the undo that an earlier run began is complete; it goes back no further"
        context.console.note("undo", note)
        found = ended
    return found


def _has_undone(ended: Attempt, record: Record, ref: Ref) -> bool:
    """Tell whether a recovery took back what a dead gate rolled out, or completed its undo."""
    if record.command == "undo":
        is_changed = any(kept.ref == ref and kept.changes for kept in record.objects)
        return is_changed and ended.outcome in WELL
    is_taken_back = ended.outcome is Outcome.ROLLED_BACK and _is_back(ended, ref)
    return record.command in ("apply", "resume", "restart") and is_taken_back


def _is_back(ended: Attempt, ref: Ref) -> bool:
    """Tell whether a recovery has restored a workload, or only the configuration beside it."""
    ending, restored = ended.result.endings.get(ref), ended.ledger.restored
    if ref in restored:
        return ending is not None and ending.outcome is Outcome.ROLLED_BACK
    return ending is not None and bool(restored) and not any(is_workload(one) for one in restored)
