"""Which writes of the queue are decided next: several objects of one kind in parallel.

An attempt has `retry` and `uncertain` only for the write at the head of its queue. While several
writes are under way, the object that an answer is about is brought to the head, and what is known
of the previous head is set aside.

The server sets the pace. A leg begins with one write, and each that is answered makes room for one
more, up to `MOST_AT_ONCE`. While the answer to a write is lost, nothing else is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from gate.core.attempt.state import Attempt, Undecided
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Read, Write

MOST_AT_ONCE: Final = 8
"""How many writes are under way at most, except after a signal. A server that fails is asked for
ten things at once (`gate.kube.pace`), so that none of these waits."""
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

    Objects of one kind are written in parallel. Configuration comes before the Deployments;
    deletions come after them, one by one. After a signal time is short: all of a kind go back at
    once.
    """
    if not attempt.writes.queue or _is_stopped(attempt):
        return ()
    busy = {
        effect.ref
        for effect in attempt.requests.outstanding.values()
        if isinstance(effect, Read | Write)
    }
    if attempt.interference.signal_number is not None:
        everything = dict.fromkeys(_first_in_line(attempt.writes.queue))
        return tuple(ref for ref in everything if ref not in busy)
    if len(busy) >= _most_at_once(attempt):
        return ()
    lost = losses_to_read(attempt)
    in_line = lost or dict.fromkeys(islice(_first_in_line(attempt.writes.queue), 2 * MOST_AT_ONCE))
    return tuple(ref for ref in in_line if ref not in busy)


def sends_no_more(attempt: Attempt) -> bool:
    """Tell whether the way out is over once it is known what of it was written."""
    is_over = attempt.writes.rejection is not None or attempt.interference.signal_number is not None
    return attempt.course.leg is Leg.FORWARD and is_over


def _is_stopped(attempt: Attempt) -> bool:
    """Tell whether nothing may be written any more: the attempt ends with the answers it awaits."""
    interference = attempt.interference
    return interference.lock_lost is not None or interference.contact.refusal is not None


def _most_at_once(attempt: Attempt) -> int:
    """Return how many writes may be under way, by the number that this leg saw answered."""
    ledger = attempt.ledger
    if attempt.course.leg is Leg.FORWARD:
        answered = len(ledger.written)
    else:
        answered = len(ledger.restored) + len(ledger.patched) + len(ledger.deleted)
    return min(1 + answered, MOST_AT_ONCE)


def losses_to_read(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects that a write with a lost answer was sent to and that are to be read."""
    writes = attempt.writes
    undecided = dict(writes.set_aside.items())
    if writes.queue:
        undecided = {writes.queue[0].ref: Undecided(writes.retry), **undecided}
    return tuple(
        ref for ref, one in undecided.items() if one.retry is not None and one.retry.uncertain
    )


def answers_lost(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects whose next write follows one with a lost answer."""
    aside = tuple(ref for ref, known in attempt.writes.set_aside.items() if known.uncertain)
    if not attempt.writes.uncertain or not attempt.writes.queue:
        return aside
    return (attempt.writes.queue[0].ref, *aside)


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
