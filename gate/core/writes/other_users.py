"""Before the way back deletes what this attempt created, it asks which other runs use it now.

Another run that applies the very same object changes nothing in it, so the object cannot show it.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.state import Attempt, Step
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.protocol.effects import FindUsers


def find_users(attempt: Attempt) -> Step:
    """Ask, once per leg, who uses what the queue deletes; the attempt unchanged otherwise."""
    created = _list_created(attempt)
    if not created or attempt.requests.users_asked_at >= attempt.course.leg_at:
        return attempt, ()
    asked = replace(attempt.requests, users_asked_at=attempt.now)
    attempt = replace(attempt, requests=asked)
    effect = FindUsers(attempt.requests.next_id, created)
    return attempt.with_effect(effect), (effect,)


def with_held(attempt: Attempt, held: FrozenMap[Ref, str]) -> Attempt:
    """Return the attempt that does not delete what others use: either run may have created it."""
    written = {
        ref: replace(one, is_created=Unknown(held[ref])) if ref in held else one
        for ref, one in attempt.ledger.written.items()
    }
    queue = tuple(
        write
        for write in attempt.writes.queue
        if write.verb is not Verb.DELETE or write.ref not in held
    )
    return replace(
        attempt,
        plan=replace(attempt.plan, held=FrozenMap({**attempt.plan.held, **held})),
        ledger=replace(attempt.ledger, written=FrozenMap(written)),
        writes=replace(attempt.writes, queue=queue),
    )


def _list_created(attempt: Attempt) -> FrozenMap[Ref, LiveObject]:
    """Return the live objects to be deleted, except for followed workloads, which are locked.

    Cluster-scoped objects are left out, too.
    """
    followed = {target.ref for target in attempt.plan.targets}
    refs = (write.ref for write in attempt.writes.queue if write.verb is Verb.DELETE)
    lives = ((ref, attempt.ledger.live.get(ref)) for ref in refs if ref not in followed)
    return FrozenMap({ref: live for ref, live in lives if live is not None and ref.namespace})
