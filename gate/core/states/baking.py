"""BAKING: completion has to last for the policy's window; 0 s is legal and still passed through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt import check_conclusions, check_runs
from gate.core.attempt.awaited_objects import find_unready
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.checks.run import ConclusionKind
from gate.core.checks.spec import During
from gate.core.plan.leg import Leg
from gate.core.states.lines import Line
from gate.core.states.object_reads import is_being_rechecked, recheck_objects, start_rechecks
from gate.core.states.verdicts import (
    Verdicts,
    are_all_complete,
    has_blind_window,
    has_failed,
)
from gate.core.states.watching import WatchingState


class Baking(WatchingState):
    """Keeps judging until the window ends, something fails or is no longer as it should be."""

    phase = During.BAKE

    def enter(self, attempt: Attempt, _trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Start the window and its checks."""
        attempt = replace(attempt, course=replace(attempt.course, baked_since=attempt.now))
        attempt = check_runs.start_checks(start_rechecks(attempt), self.phase)
        alone = check_runs.describe_alone(attempt, self.phase)
        said = [attempt.say("check", line) for line in alone]
        seconds = check_runs.longest_window_seconds(attempt)
        if seconds > 0:
            is_fixed = seconds == attempt.plan.policy.budgets.bake_seconds
            line = f"complete; watching for {'' if is_fixed else 'at most '}another {seconds:.0f} s"
            said.append(attempt.say("baking", line))
        return attempt, tuple(said)

    def next_trigger(self, attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
        """Go on at the end of the window, once no check that decides is being measured."""
        if has_failed(attempt, verdicts):
            return Trigger.FAILED
        if not are_all_complete(attempt, verdicts) or find_unready(attempt):
            return Trigger.UNSETTLED
        if has_blind_window(attempt):
            return Trigger.UNSETTLED
        if attempt.now < attempt.bake_ends_at or check_conclusions.awaits(attempt):
            return None
        return None if is_being_rechecked(attempt) else Trigger.BAKED

    def ask(self, attempt: Attempt) -> Step:
        """Read the other objects again, otherwise what is due anyhow."""
        moved, asked = recheck_objects(attempt)
        return (moved, asked) if moved is not attempt else super().ask(attempt)

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield also when the other objects are read again."""
        yield from super().wake_times(attempt)
        yield attempt.requests.wait.next_read_at

    def describe_exit(
        self, attempt: Attempt, trigger: Trigger, _verdicts: Verdicts
    ) -> Iterator[Line]:
        """Say why a window is no use, or which checks did not pass, at its end on the way out."""
        if trigger is Trigger.UNSETTLED and has_blind_window(attempt):
            yield "refuted", "the controller manager is silent; watching once more when it acts"
        if trigger is not Trigger.BAKED or attempt.course.leg is not Leg.FORWARD:
            return
        for said in check_conclusions.conclusions(attempt):
            if said.kind is not ConclusionKind.PASS:
                yield "check", f"{said.check}: {said.kind}: {said.message}"
