"""One attempt: the only value that writes and ends. All of its behaviour is in `step`.

`step` folds the event, then asks the state for one trigger at a time and enters the state that the
table names, until no trigger is left. Time comes in with each event.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace

from gate.core.attempt import limits
from gate.core.attempt.parts import (
    AttemptResult,
    Course,
    Health,
    Interference,
    Ledger,
    Requests,
    Undecided,
    Workloads,
    Writes,
)
from gate.core.attempt.transitions import State
from gate.core.checks.spec import During
from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.core.model.outcome import EXIT_CODES, Outcome
from gate.core.plan.leg import Leg, leg_timeout
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce, Asking, Effect, Read, Write

SIGNAL_BASE = 128


@dataclass(frozen=True, slots=True)
class Attempt:
    """The value of one attempt; build it with `begin`, change it with `step` alone."""

    plan: Plan
    now: float
    course: Course
    requests: Requests = field(default_factory=Requests)
    workloads: Workloads = field(default_factory=Workloads)
    ledger: Ledger = field(default_factory=Ledger)
    writes: Writes = field(default_factory=Writes)
    health: Health = field(default_factory=Health)
    interference: Interference = field(default_factory=Interference)
    result: AttemptResult = field(default_factory=AttemptResult)

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to do."""
        return self.course.state is State.ENDED

    @property
    def outcome(self) -> Outcome:
        """The outcome of the whole, by its worst workload; internal error before the end."""
        ending = self.result.ending
        return ending.outcome if ending is not None else Outcome.INTERNAL_ERROR

    @property
    def exit_code(self) -> int:
        """The process's exit code."""
        if self.outcome is Outcome.INTERRUPTED:
            return SIGNAL_BASE + (self.interference.signal_number or 0)
        return EXIT_CODES[self.outcome]

    @property
    def asks(self) -> bool:
        """Whether an answer is awaited."""
        return bool(self.requests.outstanding)

    def awaits(self, kind: type[Asking]) -> bool:
        """Tell whether an effect of that kind awaits its answer."""
        return any(isinstance(effect, kind) for effect in self.requests.outstanding.values())

    def awaits_read(self, refs: Collection[Ref]) -> bool:
        """Tell whether a read of any of `refs` awaits its answer."""
        waiting = self.requests.outstanding.values()
        return any(isinstance(effect, Read) and effect.ref in refs for effect in waiting)

    @property
    def may_have_written(self) -> bool:
        """Whether anything was written, or may have been because an answer is still missing."""
        return self.writes.first_write_at is not None or self.awaits(Write)

    @property
    def bake_seconds(self) -> float:
        """The longest that completion has to last; a rollback is not baked."""
        is_out = self.course.leg is Leg.FORWARD
        return self.plan.policy.budgets.longest_bake_seconds if is_out else 0.0

    @property
    def followed_from(self) -> float:
        """When the budget of a workload that is followed from now on begins, monotonic seconds.

        A chosen budget is one for the whole leg; `auto` begins again after a wait for a workload.
        """
        if leg_timeout(self.plan.policy, self.course.leg) is not None:
            return self._budget_from
        return max(self._budget_from, self.requests.wait.ended_at)

    @property
    def _budget_from(self) -> float:
        """When the budget of the leg would have begun if the gate had never stood still."""
        return self.course.leg_at + self.interference.suspended_seconds

    @property
    def leg_ends_at(self) -> float:
        """When the leg's budget ends, monotonic seconds."""
        return self._budgets_end_at() + self.bake_seconds

    def _budgets_end_at(self) -> float:
        leg_at, rollouts = self.course.leg_at, self.workloads.rollouts.values()
        budgets = [one.budget for one in rollouts]
        # Each step asks, of perhaps hundreds: a call of `max` for each takes twice as long.
        ends = [
            (one.begins_at if one.begins_at > leg_at else leg_at) + one.seconds  # noqa: FURB136
            for one in budgets
        ]
        chosen = leg_timeout(self.plan.policy, self.course.leg)
        if chosen is None and (not ends or self.requests.wait.ended_at > self.course.leg_at):
            # What is written after a wait is followed only once its writes are answered.
            ends.append(self.followed_from + limits.UNFOLLOWED_SECONDS)
        return max(ends) if ends else self._budget_from + (chosen or 0.0)

    @property
    def objects_end_at(self) -> float:
        """When the present wait for objects ends, monotonic seconds."""
        return min(
            self.requests.wait.since + self.plan.policy.object_wait.seconds, self.leg_ends_at
        )

    @property
    def gives_up_at(self) -> float:
        """When the attempt stops waiting for anything, monotonic seconds."""
        return self.leg_ends_at + self.overtime_seconds

    @property
    def overtime_seconds(self) -> float:
        """How long answers are awaited after the leg's budget, less what the way out has used."""
        late = 0.0
        if self.course.leg is Leg.BACK:
            late = max(0.0, self.course.leg_at - self.course.forward_ended_at)
        return limits.OVERTIME_SECONDS - late

    @property
    def bake_ends_at(self) -> float:
        """When completion has lasted long enough, or the budget ends, monotonic seconds.

        The window is extended to `evidence_seconds` only while checks want to measure more, and
        with `bake_early` it ends once they have all they need.
        """
        if self.course.leg is Leg.BACK:
            return self.course.baked_since
        budgets, runs = self.plan.policy.budgets, self.health.checks.values()
        deciding = [run for run in runs if run.check.decides and run.check.runs_in(During.BAKE)]
        enough = all(run.settled for run in deciding)
        seconds = budgets.bake_seconds if enough else self.bake_seconds
        if budgets.bake_early and deciding and enough:
            seconds = 0.0
        return min(self.course.baked_since + seconds, self.leg_ends_at)

    @property
    def answers_overdue(self) -> bool:
        """Whether the end of the bake window no longer waits for measurements."""
        return self.now >= self.bake_ends_at + limits.ANSWER_SECONDS

    def past_head(self) -> Attempt:
        """Return the attempt without the write at the head of the queue."""
        queue, aside = self.writes.queue[1:], self.writes.set_aside
        known = aside.get(queue[0].ref, Undecided()) if queue else Undecided()
        aside = aside.drop(queue[0].ref) if queue else aside
        writes = replace(self.writes, queue=queue, set_aside=aside)
        writes = replace(writes, retry=known.retry, uncertain=known.uncertain)
        doubts = self.requests.doubts.drop(self.writes.queue[0].ref)
        return replace(self, writes=writes, requests=replace(self.requests, doubts=doubts))

    def with_effect(self, effect: Asking) -> Attempt:
        """Return the attempt waiting for the answer to `effect`, whose id is `next_id`."""
        return replace(
            self,
            requests=replace(
                self.requests,
                outstanding=self.requests.outstanding.put(effect.effect_id, effect),
                next_id=self.requests.next_id + 1,
            ),
        )

    def say(self, event: str, message: str) -> Announce:
        """Return a line of the timeline at the present time."""
        return Announce(self.now, event, message)


Step = tuple[Attempt, tuple[Effect, ...]]
