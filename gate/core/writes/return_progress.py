"""How far a write of the way back is, by what was read last: done already, or still ours to do."""

from __future__ import annotations

from gate.core.attempt.parts import Retry
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Absent
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Write
from gate.core.writes.lost_response import (
    has_landed,
    has_landed_rewritten,
    has_landed_whole,
)
from gate.core.writes.order import answers_lost
from gate.core.writes.removed_owners import stands_unowned
from gate.core.writes.request import build_body
from gate.core.writes.returned_by_others import is_returned


def find_shown(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> LiveObject | None:
    """Return the object that shows, read after a try of a write back, that it is done, or None.

    A lost answer is not waited for again: every earlier request has an older `resourceVersion`,
    so that none of them can undo it. Nor is one that the server does not do, where somebody else
    has done the same.
    """
    if retry is None or head.verb is not Verb.APPLY:
        return None
    live, is_known = attempt.ledger.live.get(head.ref), head.ref in attempt.ledger.written
    if live is None or not is_known or not (retry.uncertain or retry.refused is not None):
        return None
    is_done = _has_landed_back(attempt, head, live) or is_returned(attempt, head, live)
    return live if is_done else None


def _has_landed_back(attempt: Attempt, head: PlannedWrite, live: LiveObject) -> bool:
    """Tell whether `live` is what a write back leaves, also where admission sets other values.

    Where the way out left the same template, only all that our manager owns can show it.
    """
    written = attempt.ledger.written.get(head.ref)
    if written is not None and live.uid != written.after.uid:
        return False  # It was deleted and made again since: whoever did that owns it.
    was_changed = written is None or not has_landed(head, written.after, trial=None)
    if was_changed and has_landed(head, live, trial=None):
        return True
    if _is_as_foreseen(attempt, head, live):
        return True
    sent = build_body(attempt, head, live)
    return sent is not None and has_landed_whole(head, sent, live)


def _is_as_foreseen(attempt: Attempt, head: PlannedWrite, live: LiveObject) -> bool:
    """Tell whether `live` is what the server makes of a write back, where that was tried.

    Who owns a field does not show it alone: another run of the gate writes under our manager's
    name, and may have set any value.
    """
    written, answer = attempt.ledger.written.get(head.ref), attempt.plan.find_returned(head.ref)
    if written is None or answer is None:
        return False
    return has_landed_rewritten(head, live, answer, way_out=written.after)


def find_trial(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> Write | None:
    """Return the restoration to try before its workload is called somebody else's, None for none.

    Its answer was lost: what is there may be that restoration, with what admission made of it.
    """
    live = attempt.ledger.live.get(head.ref)
    if retry is None or not retry.uncertain or retry.tried or retry.refused is not None:
        return None
    if live is None or live.workload is None or head.verb is not Verb.APPLY:
        return None
    body = build_body(attempt, head, live)
    if body is None:
        return None
    return Write(0, head.ref, head.verb, body, live.uid, None, head.field_manager)


def is_back(attempt: Attempt, head: PlannedWrite) -> bool:
    """Tell whether a write back is done already; sent again, it does nothing.

    A load balancer delivered the request twice and this is the answer to the second delivery, or
    its answer was lost and its owners are gone since: sent again, it owns its fields again.
    """
    live, written = attempt.ledger.live.get(head.ref), attempt.ledger.written.get(head.ref)
    if live is None or head.verb is not Verb.APPLY:
        return False
    if _has_landed_back(attempt, head, live):
        return True
    is_uncertain = head.ref in answers_lost(attempt)
    return is_uncertain and written is not None and stands_unowned(head, written, live)


def is_ours(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether what this attempt wrote to `ref` is still there, by all that is known.

    For a workload the pod template counts. Another object only has to exist: which of its
    fields others have changed is found out when the write is sent.
    """
    live, written = attempt.ledger.live.get(ref), attempt.ledger.written.get(ref)
    if live is None or written is None or live.uid != written.after.uid:
        return False
    rollout, snapshot = (
        attempt.workloads.followed_before.get(ref),
        attempt.workloads.snapshots.get(ref),
    )
    if rollout is None or live.workload is None:
        return True
    if snapshot is not None and isinstance(snapshot.workload, Absent):
        return False
    seen = [live.workload]
    if snapshot is not None and snapshot.live is not None:
        seen.append(snapshot.live)
    return all(one.uid == live.uid and not one.deleting and rollout.still_ours(one) for one in seen)
