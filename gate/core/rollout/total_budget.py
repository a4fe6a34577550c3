"""How long one leg may take for a workload, whatever its controller's deadline says."""

from __future__ import annotations

from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class TotalBudget:
    """A number of seconds, infinite for no limit, from a monotonic time on.

    Of several workloads it begins for all at the first write.
    """

    seconds: float
    begins_at: float

    def ends_at(self, longer_by_seconds: float = 0.0) -> float:
        """Return when it ends, monotonic seconds; a bake window makes it longer."""
        return self.begins_at + self.seconds + longer_by_seconds
