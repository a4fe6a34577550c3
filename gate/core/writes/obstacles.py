"""Why a write of the way out is not sent: the budget has ended, or its object has changed.

The preflight decided by what it read; after a conflict or a lost answer the object is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gate.core.attempt.parts import Rejection, Retry
from gate.core.attempt.state import Attempt
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.replica_ownership import REPLICAS_PATH
from gate.core.plan.rollback_plan import content
from gate.core.ssa import field_set, managed_fields
from gate.core.writes.additions import is_left
from gate.core.writes.lost_response import has_landed
from gate.core.writes.recreation import find_before

DELETED_MEANWHILE: Final = CleanText("it was deleted since it was read, and is not created again")
"""What a write says that finds its object gone, or another one of its name."""


def is_done(attempt: Attempt, head: PlannedWrite, live: LiveObject) -> bool:
    """Tell whether an apply is already done, by this attempt or an earlier one that was killed."""
    return head.verb is Verb.APPLY and has_landed(head, live, attempt.plan.trial(head.ref))


def why_not_written(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> Rejection | None:
    """Return what forbids the write: the end of its budget, or a change since it was decided.

    For what was written already and is written again, its own rollout shows whether it is ours.
    """
    if attempt.now >= attempt.leg_ends_at:
        return out_of_time(attempt, head.ref)
    if retry is None or head.ref in attempt.ledger.written:
        return None
    live, before = attempt.ledger.live.get(head.ref), find_before(attempt, head.ref)
    if before is None:
        return _made_meanwhile(attempt, head, live, retry)
    if live is not None and live.uid == before.uid and is_done(attempt, head, live):
        return None
    return _changed_meanwhile(attempt, head, live, retry)


def out_of_time(attempt: Attempt, ref: Ref) -> Rejection:
    """Return that the budget has ended before a write, with what the server answered to it."""
    doubt = attempt.requests.doubts.get(ref)
    why = f": {doubt.describe()}" if doubt is not None and doubt.answer else ""
    text = CleanText(f"it could not be written within the budget{why}")
    return Rejection(ref, Reason.TIMEOUT, text)


def give_up_on_errors(attempt: Attempt, head: PlannedWrite) -> Rejection:
    """Return that the server answered a write of the way back with errors until its budget ended.

    Nothing is wrong with the write: the same server may do it later. Of one that restores nothing
    it is said elsewhere what it was to do.
    """
    rejection = replace(out_of_time(attempt, head.ref), reason=Reason.UNREACHABLE)
    doubt = attempt.requests.doubts.get(head.ref)
    if doubt is None or head.verb not in (Verb.DELETE, Verb.MERGE):
        return rejection
    return replace(rejection, message=CleanText(f"the budget ended: {doubt.describe()}"))


def _made_meanwhile(
    attempt: Attempt, head: PlannedWrite, live: LiveObject | None, retry: Retry
) -> Rejection | None:
    """Refuse to overwrite what somebody created since; after a lost answer it may be our own."""
    if live is None:
        return None
    managed = live.thaw_managed_fields()
    is_ours = (
        retry.uncertain and managed_fields.owned_fields(managed, head.field_manager) is not None
    )
    trial = attempt.plan.trial(head.ref)
    if (is_done(attempt, head, live) or is_ours) and not _would_remove(head, live, trial):
        return None
    return Rejection(head.ref, Reason.CONFLICT, CleanText("somebody created it meanwhile"))


def _would_remove(head: PlannedWrite, live: LiveObject, trial: LiveObject | None) -> bool:
    """Tell whether an apply would remove what another run of the gate has applied.

    Server-side apply removes what its manager owns and the body leaves out.
    """
    if trial is None:
        return False
    now, then = (
        managed_fields.owned_fields(one.thaw_managed_fields(), head.field_manager)
        for one in (live, trial)
    )
    return bool(field_set.subtract(now, then)) if now is not None else False


def _changed_meanwhile(
    attempt: Attempt, head: PlannedWrite, live: LiveObject | None, retry: Retry
) -> Rejection | None:
    """Refuse to overwrite a change that somebody made since the preflight.

    After a lost answer the change may be our own: the same apply is sent again, which does
    nothing if it was done, and fails if another manager owns a field now. Changes of metadata, and
    of replicas that a manager owns, are left to the server's own conflicts. What the write leaves
    as it is (`is_left`), as others' keys of a ConfigMap, is no such change.
    """
    before = find_before(attempt, head.ref)
    if before is None or live is None or live.uid != before.uid:
        return Rejection(head.ref, Reason.DELETED, DELETED_MEANWHILE)
    if head.over_any_change:
        return None
    if _would_undo_scaling(head, before, live):
        text = CleanText("somebody scaled it since it was read")
        return Rejection(head.ref, Reason.CONFLICT, text, (REPLICAS_PATH,))
    if retry.uncertain or substance(live) == substance(before):
        return None
    if is_left(attempt, head.ref):
        return None
    return Rejection(head.ref, Reason.CONFLICT, CleanText("somebody changed it since it was read"))


def _would_undo_scaling(head: PlannedWrite, before: LiveObject, live: LiveObject) -> bool:
    """Tell whether the write would revert somebody's scaling without a conflict.

    After `kubectl scale --replicas=0` no manager owns the number, so the server sees none.
    """
    if before.workload is None or live.workload is None or head.force or head.scaler.keeps_live:
        return False
    wanted = (head.body.thaw().get("spec") or {}).get("replicas")
    if wanted is None or live.workload.replicas in (wanted, before.workload.replicas):
        return False
    return not managed_fields.owners_of(live.thaw_managed_fields(), ("spec", "replicas"))


def substance(live: LiveObject) -> dict[str, Any]:
    """Return what matters of an object: all but status, metadata and the number of replicas."""
    value = content(live.body)
    value.pop("metadata", None)
    spec = value.get("spec")
    if live.workload is not None and isinstance(spec, Mapping):
        value["spec"] = {key: entry for key, entry in spec.items() if key != "replicas"}
    return value
