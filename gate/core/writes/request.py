"""The request of a planned write: its body for the live object, and its preconditions."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.parts import Rejection
from gate.core.attempt.state import Attempt, Step
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.replica_ownership import (
    REPLICAS_PATH,
    autoscaled_body,
    with_live_replicas,
)
from gate.core.protocol.effects import Write
from gate.core.writes.results import has_written_back, was_scaled
from gate.core.writes.take_over import take_over_now


def send(attempt: Attempt, head: PlannedWrite) -> Step:
    """Send a planned write for the live object; skip it if nothing of it is left to send."""
    live = attempt.ledger.live.get(head.ref)
    body = build_body(attempt, head, live)
    if body is None:
        return attempt.past_head(), ()
    return send_body(attempt, head, body)


def send_body(attempt: Attempt, head: PlannedWrite, body: Body) -> Step:
    """Send `body`, on the condition that the object is still as the attempt last saw it."""
    live = attempt.ledger.live.get(head.ref)
    write = Write(
        effect_id=attempt.requests.next_id,
        ref=head.ref,
        verb=head.verb,
        body=body,
        uid=live.uid if live is not None else None,
        resource_version=live.resource_version if live is not None else None,
        field_manager=head.field_manager,
        force=head.force,
        leg=attempt.course.leg,
    )
    attempt = _history_begun(
        replace(attempt, writes=replace(attempt.writes, retry=None)), head.ref
    ).with_effect(write)
    if attempt.writes.first_sent_at is None:
        attempt = replace(
            attempt,
            writes=replace(attempt.writes, first_sent_at=attempt.now),
            course=replace(attempt.course, leg_at=attempt.now),
            interference=replace(attempt.interference, suspended_seconds=0.0),
        )
    if attempt.course.leg is Leg.BACK and not has_written_back(attempt):
        # An earlier one was not done, as far as a read showed: this one may be the first.
        attempt = replace(attempt, writes=replace(attempt.writes, rollback_written_at=attempt.now))
    return attempt, (write,)


def is_for_live_number(head: PlannedWrite, rejection: Rejection) -> bool:
    """Tell whether a write was refused for its live number of replicas alone.

    Somebody may have scaled the workload since it was read.
    """
    return head.scaler.keeps_live and rejection.paths == (REPLICAS_PATH,)


def is_refused_still(attempt: Attempt, head: PlannedWrite, rejection: Rejection) -> bool:
    """Tell whether a refusal stands after the read that followed it.

    It does not where it was for the live number of replicas, and the request for what is live now
    is another: that field is left to whoever scaled it.
    """
    if not is_for_live_number(head, rejection):
        return True
    return build_body(attempt, head, attempt.ledger.live.get(head.ref)) == rejection.body


def _history_begun(attempt: Attempt, ref: Ref) -> Attempt:
    """Count restarts from here: the answer may come late, or never although the write was done."""
    snapshot = attempt.workloads.snapshots.get(ref)
    if snapshot is None or snapshot.written:
        return attempt
    return replace(
        attempt,
        workloads=replace(
            attempt.workloads,
            snapshots=attempt.workloads.snapshots.put(ref, snapshot.begin(attempt.now)),
        ),
    )


def build_body(attempt: Attempt, head: PlannedWrite, live: LiveObject | None) -> Body | None:
    """Return the body to send for the live object, None if nothing is left to send."""
    if live is None:
        return head.body
    if head.scaler.keeps_live and head.verb is Verb.APPLY:
        return Body.of(autoscaled_body(head.body.thaw(), live))
    if head.verb is Verb.APPLY and was_scaled(attempt, live):
        return Body.of(with_live_replicas(head.body.thaw(), live))
    if head.verb is Verb.TAKE_OVER:
        written = attempt.ledger.written.get(head.ref)
        after = written.after if written is not None else None
        return take_over_now(head, attempt.plan.before(head.ref), after, live)
    return head.body
