"""The reads of objects that are awaited: those that are not ready yet, one by one, paced."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt.awaited_objects import find_awaited, find_rechecked
from gate.core.attempt.state import Attempt, Step
from gate.core.model.objects import Ref
from gate.core.states.reads import read_all

OBJECT_READ_SECONDS = 2.0
"""The time between two reads of an object that is awaited."""
SPACING_SECONDS = 0.25
"""The least time that each object takes up, so that many are read no faster than a few."""


FIRST_READ_SECONDS = 2.0
"""How long after the first write objects that were changed are read at the end: controllers have
to see them, and to write a status."""


def start_wait(attempt: Attempt) -> Attempt:
    """Return the attempt whose wait for objects begins now, or goes on after an interruption."""
    wait, read_at = attempt.requests.wait, attempt.now
    written = (attempt.ledger.written.get(ref) for ref in find_awaited(attempt))
    if not attempt.writes.queue and any(one is not None and one.changed for one in written):
        read_at = max(read_at, attempt.course.leg_at + FIRST_READ_SECONDS)
    if math.isinf(wait.since):
        wait = replace(wait, since=attempt.now, read=frozenset())
    wait = replace(wait, next_read_at=read_at)
    return replace(attempt, requests=replace(attempt.requests, wait=wait))


def with_read(attempt: Attempt, ref: Ref) -> Attempt:
    """Return the attempt that has read an object since it waits."""
    wait = attempt.requests.wait
    wait = replace(wait, read=wait.read | {ref})
    return replace(attempt, requests=replace(attempt.requests, wait=wait))


def end_wait(attempt: Attempt) -> Attempt:
    """Return the attempt whose wait is over."""
    wait = replace(attempt.requests.wait, since=math.inf, ended_at=attempt.now)
    return replace(attempt, requests=replace(attempt.requests, wait=wait))


def read_objects(attempt: Attempt) -> Step:
    """Read what is awaited, if it is time; else return the attempt unchanged."""
    wait = attempt.requests.wait
    awaited = find_awaited(attempt)
    if not awaited or attempt.now < wait.next_read_at:
        return attempt, ()
    pause = max(OBJECT_READ_SECONDS, SPACING_SECONDS * len(awaited))
    wait = replace(wait, next_read_at=attempt.now + pause)
    attempt = replace(attempt, requests=replace(attempt.requests, wait=wait))
    return read_all(attempt, awaited, whole_rollout=False)


def start_rechecks(attempt: Attempt) -> Attempt:
    """Return the attempt at the start of a window in which objects have to stay ready."""
    next_read_at = attempt.now + attempt.plan.policy.budgets.read_interval_seconds
    wait = replace(attempt.requests.wait, next_read_at=next_read_at)
    return replace(attempt, requests=replace(attempt.requests, wait=wait))


def recheck_objects(attempt: Attempt) -> Step:
    """Read the objects again that have to stay ready, if it is time; else the attempt unchanged.

    Whatever is found not to be ready has its whole budget from then on.
    """
    refs = find_rechecked(attempt)
    if not refs or not _is_recheck_due(attempt) or attempt.awaits_read(refs):
        return attempt, ()
    attempt = start_rechecks(attempt)
    wait = replace(attempt.requests.wait, since=attempt.now)
    attempt = replace(attempt, requests=replace(attempt.requests, wait=wait))
    return read_all(attempt, refs, whole_rollout=False)


def is_being_rechecked(attempt: Attempt) -> bool:
    """Tell whether the objects are not read yet as they are at the end of the window."""
    refs = find_rechecked(attempt)
    return bool(refs) and (_is_recheck_due(attempt) or attempt.awaits_read(refs))


def _is_recheck_due(attempt: Attempt) -> bool:
    """Tell whether the interval is over, or the window ends and no read was asked since."""
    wait, ends_at = attempt.requests.wait, attempt.bake_ends_at
    is_read_at_end = ends_at <= wait.since <= attempt.now
    return attempt.now >= wait.next_read_at or (attempt.now >= ends_at and not is_read_at_end)


def object_read_times(attempt: Attempt) -> Iterator[float]:
    """Yield when awaited objects are read next, and when their budget ends."""
    yield attempt.requests.wait.next_read_at
    yield attempt.objects_end_at
