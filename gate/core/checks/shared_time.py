"""For how long both versions of a comparison have served: what it lacks where it is undecided."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServedTime:
    """From the look before the first that saw events of a version to the last that did."""

    from_at: float = math.inf
    to_at: float = -math.inf

    def plus(self, since: float, at: float) -> ServedTime:
        """Return it with one look more that saw events, which came since the look before."""
        return ServedTime(min(self.from_at, since), at)


@dataclass(frozen=True, slots=True)
class SharedTime:
    """When each version served, as its counters show; times are those of the looks.

    What lies between counts as served: looks between two scrapes see nothing.
    """

    new: ServedTime = field(default_factory=ServedTime)
    old: ServedTime = field(default_factory=ServedTime)
    looked_at: float = -math.inf

    def after_look(self, at: float, *, new: bool, old: bool) -> SharedTime:
        """Return it after a look that saw events of these versions."""
        since = self.looked_at
        return SharedTime(
            self.new.plus(since, at) if new else self.new,
            self.old.plus(since, at) if old else self.old,
            at,
        )

    @property
    def seconds(self) -> float:
        """For how long both served, 0.0 for never."""
        until = min(self.new.to_at, self.old.to_at)
        return max(0.0, until - max(self.new.from_at, self.old.from_at))
