"""Which write of the queue is decided next: one after another, or several objects in parallel.

An attempt has `retry` and `uncertain` only for the write at the head of its queue. After a signal
time is short and several writes are under way: then the object that an answer is about is brought
to the head, and what is known of the previous head is set aside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.core.attempt.parts import Undecided
from gate.core.attempt.state import Attempt
from gate.core.model.body import FrozenMap
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Read, Write

_DATA: Final = (("v1", "ConfigMap"), ("v1", "Secret"))


def with_at_head(attempt: Attempt, ref: Ref) -> Attempt:
    """Return the attempt whose queue begins with the writes to `ref`, if it has any."""
    queue = attempt.writes.queue
    if not queue or queue[0].ref == ref:
        return attempt
    first = tuple(write for write in queue if write.ref == ref)
    if not first:
        return attempt
    others = tuple(write for write in queue if write.ref != ref)
    aside, undecided = (
        attempt.writes.set_aside,
        Undecided(attempt.writes.retry, attempt.writes.uncertain),
    )
    if undecided != Undecided():
        aside = aside.put(queue[0].ref, undecided)
    known = aside.get(ref, Undecided())
    return replace(
        attempt,
        writes=replace(
            attempt.writes,
            queue=(*first, *others),
            retry=known.retry,
            uncertain=known.uncertain,
            set_aside=aside.drop(ref),
        ),
    )


def sendable(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects whose next write may be decided now, in order.

    After a signal, objects of one kind go back in parallel. Configuration comes before the
    workloads; deletions come after them, one by one.
    """
    if not attempt.writes.queue:
        return ()
    if attempt.course.leg is Leg.FORWARD or attempt.interference.signal_number is None:
        return () if attempt.asks else (attempt.writes.queue[0].ref,)
    busy = {
        effect.ref
        for effect in attempt.requests.outstanding.values()
        if isinstance(effect, Read | Write)
    }
    return tuple(
        ref for ref in dict.fromkeys(_first_in_line(attempt.writes.queue)) if ref not in busy
    )


def answers_lost(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects whose last write may or may not have taken effect."""
    aside = tuple(ref for ref, known in attempt.writes.set_aside.items() if known.uncertain)
    if not attempt.writes.uncertain or not attempt.writes.queue:
        return aside
    return (attempt.writes.queue[0].ref, *aside)


def without_writes(attempt: Attempt) -> Attempt:
    """Send nothing more and await no answer; what is in doubt stays so without its queue."""
    lost = {ref: Undecided(uncertain=True) for ref in answers_lost(attempt)}
    attempt = without_requests(attempt)
    set_aside = FrozenMap({**lost, **attempt.writes.set_aside})
    writes = replace(attempt.writes, queue=(), retry=None, uncertain=False, set_aside=set_aside)
    return replace(attempt, writes=writes)


def without_requests(attempt: Attempt) -> Attempt:
    """Await no answer any more; a write without one is uncertain, and the report names it."""
    unanswered = {
        effect.ref: Undecided(uncertain=True)
        for effect in attempt.requests.outstanding.values()
        if isinstance(effect, Write)
    }
    set_aside = FrozenMap({**attempt.writes.set_aside, **unanswered})
    return replace(
        attempt,
        writes=replace(attempt.writes, set_aside=set_aside),
        requests=replace(attempt.requests, outstanding=FrozenMap()),
    )


def _first_in_line(queue: tuple[PlannedWrite, ...]) -> Iterator[Ref]:
    """Yield the objects at the front of the queue that need not wait for each other."""
    first = queue[0]
    yield first.ref
    if first.verb is Verb.DELETE:
        return
    for write in queue[1:]:
        if write.verb is Verb.DELETE or _batch(write.ref) != _batch(first.ref):
            return
        yield write.ref


def _batch(ref: Ref) -> tuple[str, str]:
    """Return a key that is the same for objects which do not depend on each other.

    It is their kind; ConfigMaps and Secrets only hold data and count as one. A custom resource
    may need its definition, and any object its namespace.
    """
    kind = (ref.api_version, ref.kind)
    return _DATA[0] if kind in _DATA else kind
