"""What others have written back: an object that is as the way back would leave it, and by whom."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt.state import Attempt
from gate.core.model.body import Body, contains
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.replica_ownership import REPLICAS_PATH
from gate.core.ssa.field_set import Fields, select_changed, subtract, union
from gate.core.ssa.last_applied import without_last_applied
from gate.core.ssa.managed_fields import as_stored, managers_of, owned_fields


def is_returned(attempt: Attempt, head: PlannedWrite, live: LiveObject) -> bool:
    """Tell whether `live` has all that a write back sets, and what else is ours as it was to be.

    Whoever owns it, and if it was deleted and made again. Never for a workload: who writes one has
    taken it over, whatever stands in it.
    """
    wanted = _find_wanted(attempt, head.ref)
    if live.workload is not None or wanted is None:
        return False
    back, now = (without_last_applied(one.thaw()) for one in (head.body, live.body))
    if not contains(back, now):
        return False
    ours = owned_fields(live.thaw_managed_fields(), head.field_manager)
    beyond = select_changed(now, back, ours)
    return select_changed(now, wanted.thaw(), beyond) is None


def find_restorers(attempt: Attempt, ref: Ref) -> tuple[str, ...]:
    """Return who wrote back what our way back is to have restored: other managers alone own it.

    Nobody if our own write did, or if that cannot be told.
    """
    live, written = attempt.ledger.restored.get(ref), attempt.ledger.written.get(ref)
    after = written.after if written is not None else attempt.plan.trial(ref)
    manager = written.field_manager if written is not None else FIELD_MANAGER
    wanted = _find_wanted(attempt, ref)
    if live is None or live.workload is not None or after is None or wanted is None:
        return ()
    now, then, back = (one.thaw() for one in (live.body, after.body, wanted))
    ours = owned_fields(live.thaw_managed_fields(), manager)
    found: dict[str, None] = {}
    for name, fields in _iter_owners(live):
        changed = select_changed(now, then, subtract(fields, ours))
        if subtract(changed, select_changed(now, back, changed)) is not None:
            found[name] = None
    return tuple(found)


def find_new_owners(attempt: Attempt, ref: Ref) -> tuple[str, ...]:
    """Return who owns, since this attempt began, what it had applied and then restored.

    The next apply that changes such a field is refused unless it takes the field over; the number
    of replicas is left to whoever scales.
    """
    live, written = attempt.ledger.restored.get(ref), attempt.ledger.written.get(ref)
    after = written.after if written is not None else attempt.plan.trial(ref)
    manager = written.field_manager if written is not None else FIELD_MANAGER
    if live is None or after is None:
        return ()
    before = attempt.plan.before(ref)
    then = before.thaw_managed_fields() if before is not None else []
    applied = union(
        *(owned_fields(entries, manager) for entries in (after.thaw_managed_fields(), then))
    )
    had = managers_of(then, applied, manager)
    has = managers_of(live.thaw_managed_fields(), applied, manager)
    return tuple(
        name
        for name, paths in has.items()
        if set(paths) - {REPLICAS_PATH.lstrip("."), *had.get(name, ())}
    )


def describe_returned(attempt: Attempt, ref: Ref) -> str:
    """Say that others wrote back what was to be restored, "" if none did."""
    who = " and ".join(find_restorers(attempt, ref))
    as_wanted = "was to be" if ref in attempt.plan.target_set.members else "was before"
    return f"{attempt.plan.name_of(ref)} is as it {as_wanted}: {who} wrote that" if who else ""


def _find_wanted(attempt: Attempt, ref: Ref) -> Body | None:
    """Return what the way back returns an object to, None if that is nothing, or is not known."""
    before = attempt.plan.before(ref)
    return attempt.plan.target_set.members.get(ref) or (before.body if before is not None else None)


def _iter_owners(live: LiveObject) -> Iterator[tuple[str, Fields]]:
    """Yield what each manager owns of the object itself."""
    entries = live.thaw_managed_fields()
    for entry in entries:
        name, operation = str(entry.get("manager")), str(entry.get("operation"))
        fields = as_stored(owned_fields(entries, name, operation))
        if fields is not None:
            yield name, fields
