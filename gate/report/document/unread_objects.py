"""What nobody read again at the end of an attempt that a signal ended, in words."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import is_workload
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome

_MOST_NAMED = 6


def describe_unread(attempt: Attempt) -> Iterator[str]:
    """Say of which objects only what was done to them is known, not what became of them since.

    A workload is none of them: it was watched until the signal.
    """
    if attempt.outcome is not Outcome.INTERRUPTED:
        return
    unread = [ref for ref in attempt.ledger.findings if _is_unread(attempt, ref)]
    if not unread:
        return
    names, more = [attempt.plan.name_of(ref) for ref in unread[:_MOST_NAMED]], unread[_MOST_NAMED:]
    were, them = ("were", "them") if unread[1:] else ("was", "it")
    named = ", ".join(names) + (f" and {len(more)} more" if more else "")
    yield (
        f"{named} {were} not read again after the last write of this run:"
        f" whether others have changed or deleted {them} since is not known"
    )


def _is_unread(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether this attempt did something to an object, and nobody looked at it at the end."""
    ledger = attempt.ledger
    written = ledger.written.get(ref)
    has_changed = written is not None and written.changed
    is_touched = has_changed or ref in ledger.restored or ref in ledger.deleted
    is_open = ledger.findings[ref].kind is FindingKind.UNREAD
    return is_open and is_touched and not is_workload(ref)
