"""The judge: of what is known of a rollout, its verdict at a time, which may change.

It has no effects and no end: deadline conditions clear, complete pods crash while baking.
`Rollout.ruling` has the rules in the order in which they decide; their sources are in the
contract's "Done", "Taking over" and "Failing". What depends on the kind of workload, it asks of
`WorkloadKind`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gate.core.frozen import dataclass
from gate.core.model.fact import Absent
from gate.core.model.objects import CleanText, Workload
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.applied import Applied
from gate.core.rollout.causes import Cause, order_causes, sum_up_troubles
from gate.core.rollout.dead_end import DEAD_END_SECONDS, find_dead_end
from gate.core.rollout.deadlines import (
    condition_believed_at,
    condition_exceeded,
    no_progress,
    total_over,
)
from gate.core.rollout.lost_availability import Availability
from gate.core.rollout.observed_rollout import ObservedRollout
from gate.core.rollout.policy import amount
from gate.core.rollout.progress import stalled_at
from gate.core.rollout.verdict import Verdict, VerdictKind

__all__ = ["Applied", "Rollout", "Verdict", "VerdictKind"]


@dataclass(frozen=True, slots=True)
class Rollout(ObservedRollout):
    """One workload on its way to `applied`, and what the rules say of it."""

    @property
    def ends_at(self) -> float:
        """When the total budget ends, monotonic seconds."""
        bake_seconds = self.policy.budgets.longest_bake_seconds if self.settled else 0.0
        return self.budget.ends_at(bake_seconds)

    @property
    def deadline_seconds(self) -> float:
        """How long nothing may move before that is a failure, infinite for no limit."""
        live = self.snapshot.live
        return math.inf if live is None else self._deadline_seconds(live)

    def verdict(self, now: float) -> Verdict:
        """Return the verdict at `now`; progressing if no rule decides."""
        ruled = self.ruling(now)
        if ruled is not None:
            return ruled
        live = self.snapshot.live
        said = f"the {self.ref.kind} could not be read yet"
        if live is not None:
            said = self.count(live) + self.snapshot.kind.describe_lag(self.snapshot, live)
        reason = Reason.PROGRESSING
        return Verdict(VerdictKind.PROGRESSING, reason, CleanText(said), self.causes(now))

    def ruling(self, now: float) -> Verdict | None:
        """Return the verdict of the first rule that applies, None while none does."""
        live = self.snapshot.live
        if live is None:
            deleted = Verdict.of_superseded(Reason.DELETED, f"the {self.ref.kind} was deleted")
            return deleted if isinstance(self.snapshot.workload, Absent) else None
        return (
            self.applied.find_departure(live, has_ended=self.kind.has_ended(live))
            or self._judge_pause(live, now)
            or self._fail_for(self._fatal(live, now), now)
            or self._complete(live)
            or self._find_dead_end(live, now)
            or self._fail_for(self._availability_lost(now), now)
            or self._fail_for(self._late(live, now), now, is_over=True)
        )

    def wake_at(self, now: float) -> float:
        """Return the next time after `now` at which the verdict may change without an event."""
        return min((at for at in self._times(now) if at > now), default=math.inf)

    def causes(self, now: float, *, is_over: bool = False) -> tuple[Cause, ...]:
        """Return what is wrong now, most telling first; `is_over`: a clock has ended."""
        of_pods = sum_up_troubles(self.troubles.values(), self.new.count)
        faults = self.hindrances.faults
        if not (of_pods or faults or self.blindness.has_begun(now)):
            return ()
        hindering = (fault.cause() for fault in faults if is_over or not fault.is_usual)
        unseen = self._unseen(now) if self.blindness.has_begun(now) else ()
        return order_causes((*of_pods, *hindering, *unseen))

    def _unseen(self, now: float) -> Iterator[Cause]:
        clocks = now, self.applied.at, self.progress.last_at, self.deadline_seconds
        return self.blindness.causes(*clocks, is_over=now >= self.ends_at)

    def _deadline_seconds(self, live: Workload) -> float:
        return self.snapshot.kind.deadline_seconds(live, self.policy)

    def _busy_until(self, live: Workload) -> float:
        return self.snapshot.kind.busy_until(self.snapshot, live)

    def count(self, live: Workload) -> str:
        """Return in words how many of its pods are available."""
        which = self.applied.which_pods if self.deadline_decides else "old"
        return self.snapshot.kind.describe_counts(self.snapshot, live, which)

    def is_complete(self, live: Workload) -> bool:
        """Tell whether the strict predicate holds: our generation is observed, and all is there."""
        return self._completion(live) is not None

    def _completion(self, live: Workload) -> AnyReason | None:
        if not self._is_observed(live):
            return None
        return self.snapshot.kind.completion(self.snapshot, live, self.policy)

    @property
    def is_emptied(self) -> bool:
        """Whether no pod of it is wanted any more, though some were to be."""
        live = self.snapshot.live
        return live is not None and self.applied.is_emptied(live)

    def is_held(self) -> bool:
        """Tell whether the controller knows of a pause: it scales nothing while it lasts."""
        live = self.snapshot.live
        return live is not None and live.paused and self._is_observed(live)

    def _judge_pause(self, live: Workload, now: float) -> Verdict | None:
        """Return that a pause holds it or, in the end, failed it; what is complete is not held."""
        if not live.paused or (
            self.is_complete(live) and self.snapshot.kind.is_rolled_out(self.snapshot, live)
        ):
            return None
        kind = VerdictKind.FAILED if now >= self.ends_at else VerdictKind.HELD
        said = CleanText(f"the {self.ref.kind} is {self.kind.pause_word}")
        return Verdict(kind, Reason.PAUSED, said, self.causes(now))

    def _fatal(self, live: Workload, now: float) -> Cause | None:
        """Return what is fatal without a deadline; unobserved, only faults that show early."""
        clock, observed = self.blindness.clock(now), self._is_observed(live)
        if observed:
            tolerated = amount(self.policy.requirement.tolerate, live.replicas, 0)
            of_pods = self.new.fatal(self.snapshot, clock, tolerated)
            if of_pods is not None:
                return of_pods
        return self.hindrances.fatal(self.progress.last_clock, clock, observed=observed)

    def _complete(self, live: Workload) -> Verdict | None:
        reason = self._completion(live)
        if reason is None or reason is Reason.VACUOUS:
            return None if reason is None else self.applied.judge_empty(live)
        if reason is Reason.COMPLETE and not self.applied.spec_changed:
            reason = Reason.NO_CHANGE
        rolls = reason in (Reason.COMPLETE, Reason.NO_CHANGE)
        is_part = rolls and not self.kind.is_rolled_out(self.snapshot, live)
        enough = self.policy.requirement.enough if is_part else ""
        return Verdict(VerdictKind.COMPLETE, reason, CleanText(f"{self.count(live)}{enough}"))

    def _find_dead_end(self, live: Workload, now: float) -> Verdict | None:
        if self.deadline_decides or not self._is_observed(live):
            return None
        clocks = self.progress.last_clock, self.blindness.clock(now)
        return find_dead_end(self.snapshot, live, self.policy, self.causes(now), *clocks)

    def _availability_lost(self, now: float) -> Cause | None:
        """Return that a complete version no longer serves; a rollback has only its total."""
        availability = self._availability()
        return None if availability is None else availability.find_loss(self.blindness.clock(now))

    def _availability(self) -> Availability | None:
        live = self.snapshot.live
        if live is None or not (self.settled and self.deadline_decides):
            return None
        return Availability.of(self.new_pods(), self._deadline_seconds(live))

    def _late(self, live: Workload, now: float) -> Cause | None:
        """Return what the clocks say, the controller's own first; a rollback has only its total."""
        stalled = None
        if self.deadline_decides:
            seconds, busy_until = self._deadline_seconds(live), self._busy_until(live)
            stalled = self._find_exceeded_deadline(live, now) or no_progress(
                live, seconds, self.progress, self.blindness, now, busy_until
            )
        if stalled is not None or now < self.ends_at:
            return stalled
        clock = self.blindness.clock(now)
        over = total_over(self._deadline_seconds(live), self.progress, self.budget.seconds, clock)
        count = self.count(live) + self.snapshot.kind.describe_lag(self.snapshot, live)
        return replace(over, message=CleanText(f"{over.message}: {count}"))

    def _find_exceeded_deadline(self, live: Workload, now: float) -> Cause | None:
        """Return the controller's deadline condition as a cause, if it can be believed now."""
        condition = self.snapshot.kind.exceeded_deadline(live) if self._is_observed(live) else None
        if condition is None or not self.blindness.condition_stands(now):
            return None
        name = current.name if (current := self.snapshot.current()) is not None else ""
        return condition_exceeded(condition, self.applied, name, self._deadline_seconds(live), now)

    def _fail_for(self, why: Cause | None, now: float, *, is_over: bool = False) -> Verdict | None:
        if why is None:
            return None
        causes = self.causes(now, is_over=is_over)
        return Verdict(VerdictKind.FAILED, why.reason, why.message, causes)

    def _times(self, now: float) -> Iterator[float]:
        live, blindness = self.snapshot.live, self.blindness
        yield self.ends_at
        yield from blindness.times(now)
        for clock in self._clocks(blindness.clock(now)):
            yield blindness.time_of(clock, now)
        if live is not None and self.snapshot.kind.exceeded_deadline(live) is not None:
            yield condition_believed_at(self._deadline_seconds(live), self.applied.at)

    def _clocks(self, clock: float) -> Iterator[float]:
        """Iterate the times that are due by the clock that stops while blind."""
        live = self.snapshot.live
        yield from self.new.ripe_times(clock)
        availability = self._availability()
        if availability is not None:
            yield from availability.times()
        if live is not None:
            yield from self.hindrances.ripe_times(self.progress.last_clock)
            yield math.inf if self.deadline_decides else self.progress.last_clock + DEAD_END_SECONDS
            seconds, busy_until = self._deadline_seconds(live), self._busy_until(live)
            yield stalled_at(self.progress, live, seconds, busy_until)
