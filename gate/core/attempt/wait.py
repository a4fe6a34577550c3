"""When an attempt waits for objects beside its workloads."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wait:
    """The wait of the way out for objects, monotonic seconds.

    `since` is when the present wait began, `ended_at` when the latest one before a write ended.
    """

    since: float = math.inf
    next_read_at: float = math.inf
    ended_at: float = -math.inf
