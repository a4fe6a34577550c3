"""AWAITING: the next write of the way out needs what was written before it (`states.needs`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt import health_checks
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.checks.spec import During
from gate.core.plan.phases import Phase
from gate.core.states.lines import Line, describe_rejection
from gate.core.states.needs import find_failed_needs, find_hopeless, find_unmet
from gate.core.states.object_reads import object_read_times, read_objects, start_wait
from gate.core.states.rollback_start import is_failure_to_take_back
from gate.core.states.verdicts import Verdicts
from gate.core.states.watching import WatchingState
from gate.core.states.writing import answer_rejection
from gate.core.writes.way_out import given_up


class Awaiting(WatchingState):
    """Watches what is written already until the next write has all that it needs.

    The way out ends here if one of these fails, or is not ready within its budget.
    """

    phase = During.ROLLOUT
    has_writes_ahead = True

    def enter(self, attempt: Attempt, _trigger: Trigger, verdicts: Verdicts) -> Step:
        """Say what is awaited; the checks start once all but the last phase is written."""
        head = attempt.writes.queue[0]
        names = ", ".join(map(attempt.plan.name_of, find_unmet(attempt, verdicts)))
        line = attempt.say("awaiting", f"{attempt.plan.name_of(head.ref)} waits for {names}")
        attempt = start_wait(attempt)
        next_read_at = attempt.now + attempt.read_interval_seconds
        attempt = replace(attempt, requests=replace(attempt.requests, next_read_at=next_read_at))
        if attempt.plan.phase_of(head.ref) is Phase.AFTER:
            attempt = health_checks.start_checks(attempt, self.phase)
        return attempt, (line,)

    def next_trigger(self, attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
        """Go on with the writes once nothing is missing, or end the way out."""
        if attempt.writes.rejection is not None:
            return answer_rejection(attempt)
        if attempt.now < attempt.requests.not_before:
            return None
        if is_failure_to_take_back(attempt, verdicts) or find_failed_needs(attempt, verdicts):
            return Trigger.FAILED
        return None if find_unmet(attempt, verdicts) else Trigger.READY

    def ask(self, attempt: Attempt) -> Step:
        """Give up what can no longer be written; else read what is awaited, and all the rest."""
        rejection = find_hopeless(attempt)
        if rejection is not None:
            return given_up(attempt, rejection), ()
        moved, effects = read_objects(attempt)
        return (moved, effects) if moved is not attempt else super().ask(attempt)

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield the next reads, the end of the objects' budget, and the judge's times."""
        yield from super().wake_times(attempt)
        yield from object_read_times(attempt)

    def describe_exit(
        self, attempt: Attempt, trigger: Trigger, _verdicts: Verdicts
    ) -> Iterator[Line]:
        """Say what ends the attempt before the next write."""
        if trigger is Trigger.REJECTED:
            yield from describe_rejection(attempt)

    def can_read_aside(self, _attempt: Attempt) -> bool:
        """Tell that no write is delayed: the next one waits anyhow."""
        return True
