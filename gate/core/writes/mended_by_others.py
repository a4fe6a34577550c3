"""What a way back gave up and others have returned since: it is back as if it had been written."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.state import Attempt
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.writes.restoration import with_dropped_now
from gate.core.writes.results import note_return
from gate.core.writes.returned_by_others import is_returned


def list_given_up(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects beside the workloads whose restoration was sent and given up."""
    followed = {target.ref for target in attempt.plan.targets}
    return tuple(
        ref
        for ref, refused in attempt.writes.refusals.items()
        if refused.write is not None
        and refused.write.verb is Verb.APPLY
        and ref in attempt.ledger.written
        and ref not in followed
    )


def with_mended(attempt: Attempt, live: LiveObject) -> Attempt:
    """Return the attempt in which an object that was given up is restored, if `live` shows it."""
    ref, refusals = live.ref, attempt.writes.refusals
    head = refusals[ref].write
    if head is None or not is_returned(attempt, head, live):
        return attempt
    seen = attempt.ledger.live.put(ref, live)
    attempt = replace(
        attempt,
        ledger=replace(attempt.ledger, live=seen),
        writes=replace(attempt.writes, refusals=refusals.drop(ref)),
    )
    attempt = with_dropped_now(attempt, head, live)
    return note_return(attempt, head, attempt.ledger.written[ref].after, live)
