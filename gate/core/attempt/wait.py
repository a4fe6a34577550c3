"""When an attempt waits for objects beside its workloads."""

from __future__ import annotations

import math

from gate.core.frozen import dataclass
from gate.core.model.objects import Ref


@dataclass(frozen=True, slots=True)
class Wait:
    """The wait of the way out for objects, monotonic seconds.

    `since` is when the present wait began, `ended_at` when the latest one before a write ended.
    `read` are the objects that were read since. `unserved_since` is when the server first answered
    that it does not serve what a write needs, although that is ready.
    """

    since: float = math.inf
    next_read_at: float = math.inf
    ended_at: float = -math.inf
    read: frozenset[Ref] = frozenset()
    unserved_since: float = math.inf
