"""AWAITING: what was written has to be ready before the next write, or before the end.

Before a write that is what it needs (`states.needs`); once all workloads are complete it is every
other object (`attempt.awaited_objects`).
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt import check_runs
from gate.core.attempt.awaited_objects import find_unready, readiness_of
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.checks.spec import During
from gate.core.model.fact import Unknown
from gate.core.plan.phases import Phase
from gate.core.protocol.effects import Effect, Read
from gate.core.protocol.events import ReadBack
from gate.core.states import unblocking
from gate.core.states.lines import Line, describe_rejection
from gate.core.states.needs import find_failed_needs, find_hopeless, find_unmet
from gate.core.states.object_reads import (
    object_read_times,
    read_objects,
    start_wait,
    with_read,
)
from gate.core.states.read_answers import Facts
from gate.core.states.reads import schedule_full_read
from gate.core.states.rollback_start import is_failure_to_take_back
from gate.core.states.verdicts import Verdicts, are_all_complete, has_failed
from gate.core.states.watching import WatchingState
from gate.core.states.writing import answer_rejection
from gate.core.writes.way_out import given_up


class Awaiting(WatchingState):
    """Watches what is written already until nothing is missing any more.

    The way out ends here if something that is needed fails, or is not ready within its budget.
    """

    phase = During.ROLLOUT
    has_writes_ahead = True

    def enter(self, attempt: Attempt, _trigger: Trigger, verdicts: Verdicts) -> Step:
        """Say what is awaited; the checks start once all but the last phase is written."""
        attempt = schedule_full_read(start_wait(attempt))
        queue = attempt.writes.queue
        if queue and attempt.plan.phase_of(queue[0].ref) is Phase.AFTER:
            attempt = check_runs.start_checks(attempt, self.phase)
        line = _describe_wait(attempt, verdicts)
        effects: tuple[Effect, ...] = (attempt.say("awaiting", line),) if line else ()
        return attempt, effects

    def next_trigger(self, attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
        """Go on once nothing is missing, or end the way out."""
        if attempt.writes.rejection is not None:
            return answer_rejection(attempt)
        if attempt.now < attempt.requests.not_before:
            return None
        if not attempt.writes.queue:
            return _follow_on(attempt, verdicts)
        if unblocking.holds_failure(attempt, verdicts):
            return None
        if is_failure_to_take_back(attempt, verdicts) or find_failed_needs(attempt, verdicts):
            return Trigger.FAILED
        return None if find_unmet(attempt, verdicts) else Trigger.READY

    def ask(self, attempt: Attempt) -> Step:
        """Give up what can no longer be written; else read what is awaited, and all the rest.

        A workload that others wait for may have a pod in its way.
        """
        rejection = find_hopeless(attempt)
        if rejection is not None:
            return given_up(attempt, rejection), ()
        freed, effects = unblocking.ask_to_remove(attempt)
        if freed is not attempt:
            return freed, effects
        moved, effects = read_objects(attempt)
        return (moved, effects) if moved is not attempt else super().ask(attempt)

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield the next reads, the end of the objects' budget, and the judge's times."""
        yield from super().wake_times(attempt)
        yield from unblocking.wake_times(attempt)
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

    def fold_read(self, attempt: Attempt, effect: Read, answer: ReadBack) -> tuple[Attempt, Facts]:
        """Take in an object; what could not be read is still to be read."""
        attempt, facts = super().fold_read(attempt, effect, answer)
        if isinstance(answer.fact, Unknown):
            return attempt, facts
        return with_read(attempt, effect.ref), facts


def _follow_on(attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
    """Return what follows the wait for all objects, whose workloads are judged all the while."""
    if has_failed(attempt, verdicts):
        return Trigger.FAILED
    if not are_all_complete(attempt, verdicts):
        return Trigger.UNSETTLED
    return None if find_unready(attempt) else Trigger.COMPLETE


def _describe_wait(attempt: Attempt, verdicts: Verdicts) -> str:
    """Say what is missing, and for what; "" if objects only have to be read once more."""
    name, queue = attempt.plan.name_of, attempt.writes.queue
    if queue:
        return (
            f"{name(queue[0].ref)} waits for {', '.join(map(name, find_unmet(attempt, verdicts)))}"
        )
    unready = ((ref, readiness_of(attempt, ref)) for ref in find_unready(attempt))
    said = [f"{name(ref)} ({found.why})" for ref, found in unready if found.is_waited_for]
    return f"waiting for {', '.join(said)}" if said else ""
