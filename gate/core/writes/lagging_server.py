"""A write that an API server does not know yet, although what it needs is ready.

Of several servers each hears of a new definition, or namespace, by a watch of its own: for some
seconds another one than that which said so may answer 404.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gate.core.attempt.limits import RETRY_SECONDS
from gate.core.attempt.state import Attempt

LAG_SECONDS = 10.0
"""For how long a 404 is repeated."""


def is_lagging(attempt: Attempt) -> bool:
    """Tell whether a 404 to the write at the head of the queue is to be repeated.

    A write of the way back needs nothing.
    """
    head = attempt.writes.queue[0]
    needs = [ref for ref in head.needs if attempt.plan.phase_of(ref) is None]
    if not needs:
        return False
    since = min(attempt.requests.wait.unserved_since, attempt.now)
    return attempt.now < min(since + LAG_SECONDS, attempt.leg_ends_at)


def repeat_later(attempt: Attempt) -> Attempt:
    """Return the attempt that sends the write again in a moment."""
    wait = attempt.requests.wait
    wait = replace(wait, unserved_since=min(wait.unserved_since, attempt.now))
    later = attempt.now + RETRY_SECONDS
    return replace(attempt, requests=replace(attempt.requests, wait=wait, not_before=later))


def with_served(attempt: Attempt) -> Attempt:
    """Return the attempt whose latest write was done: the next one has its own time."""
    wait = attempt.requests.wait
    if math.isinf(wait.unserved_since):
        return attempt
    wait = replace(wait, unserved_since=math.inf)
    return replace(attempt, requests=replace(attempt.requests, wait=wait))
