"""What AWAITING, FOLLOWING and BAKING share: the regular full reads and the health checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from gate.core.attempt import check_runs
from gate.core.attempt.limits import ANSWER_SECONDS
from gate.core.attempt.state import Attempt, Step
from gate.core.checks.spec import During
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.reads import postpone_full_read, read_all


class WatchingState(StateBehaviour):
    """Reads everything again at intervals, and asks the checks of its phase."""

    phase: ClassVar[During]
    """Which checks ask in this state."""

    def ask(self, attempt: Attempt) -> Step:
        """Ask the full read that is due, otherwise the checks that are."""
        if attempt.now < attempt.requests.next_read_at:
            return check_runs.ask_due_checks(attempt, self.phase)
        attempt = postpone_full_read(attempt)
        departures = attempt.interference.departures
        return read_all(
            attempt, [ref for ref in attempt.workloads.rollouts if ref not in departures]
        )

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield the next read, the next check, the end of the bake window and the judge's times."""
        yield attempt.requests.next_read_at
        bake_ends_at = attempt.bake_ends_at  # Once: it looks at each workload's budget.
        yield bake_ends_at
        yield bake_ends_at + ANSWER_SECONDS
        yield check_runs.wake_at(attempt, self.phase)
        yield attempt.workloads.rulings.at(attempt.workloads.rollouts, attempt.now).wakes_at
