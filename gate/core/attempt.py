"""One attempt: the only value that writes and ends. `step` is the whole of its behaviour.

`step` folds the event, then derives triggers one at a time and enters the state that the table
names, until no trigger is left. Time comes in with each event.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, replace

from gate.core.body import FrozenMap
from gate.core.causes import Cause
from gate.core.effects import Announce, Asking, Effect
from gate.core.events import Evidence, LiveObject
from gate.core.machine import Leg, State
from gate.core.objects import CleanText, Ref
from gate.core.outcome import EXIT_CODES, Outcome, Reason
from gate.core.plan import Plan, PlannedWrite
from gate.core.remedy import WrittenObject
from gate.core.rollout import Rollout
from gate.core.snapshot import Snapshot

RETRY_SECONDS = 1.0
"""How long an unanswered question rests before it is asked again."""
CLOSING_SECONDS = 3.0
"""How long giving the lock back may take."""
OVERTIME_SECONDS = 8.0
"""What a leg may exceed its budget by, for questions under way; the contract allows 10 s."""
SIGNAL_BASE = 128


class Purpose(enum.StrEnum):
    """What a confirming read is to bear out."""

    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Ending:
    """How it ended for one Deployment."""

    outcome: Outcome
    reason: Reason
    message: CleanText
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """A write that the server refused for good; `paths` are the fields in conflict."""

    ref: Ref
    reason: Reason
    message: CleanText
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retry:
    """The write under way has to be decided again, after a read.

    `uncertain` if its answer was lost, so that what is live may be our own write.
    """

    uncertain: bool
    read: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """The value of one attempt; build it with `begin`, change it with `step` alone.

    `live` is the latest that was read or written of each object, `written` what this attempt
    left of it. `failures` are the verdicts that led BACK, kept for the report.
    """

    plan: Plan
    now: float
    started_at: float
    leg: Leg = Leg.FORWARD
    state: State = State.RECORDING
    leg_at: float = 0.0
    snapshots: FrozenMap[Ref, Snapshot] = field(default_factory=FrozenMap)
    rollouts: FrozenMap[Ref, Rollout] = field(default_factory=FrozenMap)
    followed_before: FrozenMap[Ref, Rollout] = field(default_factory=FrozenMap)
    live: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    written: FrozenMap[Ref, WrittenObject] = field(default_factory=FrozenMap)
    restored: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    deleted: tuple[Ref, ...] = ()
    queue: tuple[PlannedWrite, ...] = ()
    retry: Retry | None = None
    outstanding: FrozenMap[int, Asking] = field(default_factory=FrozenMap)
    next_id: int = 1
    baked_since: float = math.inf
    purpose: Purpose = Purpose.SUCCESS
    unread: bool = False
    not_before: float = -math.inf
    next_read_at: float = math.inf
    closing_since: float = math.inf
    failures: FrozenMap[Ref, Ending] = field(default_factory=FrozenMap)
    departures: FrozenMap[Ref, Ending] = field(default_factory=FrozenMap)
    rejection: Rejection | None = None
    dropped_paths: tuple[str, ...] = ()
    contact_lost: str | None = None
    contact_gone: bool = False
    lost: bool = False
    signal_number: int | None = None
    first_write_at: float | None = None
    rollback_written_at: float | None = None
    verdict_at: float | None = None
    evidence: tuple[Evidence, ...] = ()
    endings: FrozenMap[Ref, Ending] = field(default_factory=FrozenMap)
    ending: Ending | None = None

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to do."""
        return self.state is State.ENDED

    @property
    def outcome(self) -> Outcome:
        """What runs now, worst of all Deployments; internal error before the end."""
        return self.ending.outcome if self.ending is not None else Outcome.INTERNAL_ERROR

    @property
    def exit_code(self) -> int:
        """The process's exit code."""
        if self.outcome is Outcome.INTERRUPTED:
            return SIGNAL_BASE + (self.signal_number or 0)
        return EXIT_CODES[self.outcome]

    @property
    def asks(self) -> bool:
        """Whether an answer is awaited."""
        return bool(self.outstanding)

    @property
    def leg_ends_at(self) -> float:
        """When the leg's budget ends, monotonic seconds; infinite before it is known."""
        ends = [rollout.ends_at for rollout in self.rollouts.values()]
        bake_seconds = self.plan.policy.bake_seconds if self.leg is Leg.FORWARD else 0.0
        return max(ends, default=self.leg_at + self._unfollowed_seconds()) + bake_seconds

    def _unfollowed_seconds(self) -> float:
        """Return the budget of a leg, or part of one, that follows no Deployment."""
        forward, back = self.plan.policy.timeout_seconds, self.plan.policy.rollback_timeout_seconds
        chosen = forward if self.leg is Leg.FORWARD else (back if back is not None else forward)
        return 900.0 if chosen is None else chosen

    def with_effect(self, effect: Asking) -> Attempt:
        """Return the attempt that waits for the answer to `effect`, whose id is `next_id`."""
        return replace(
            self,
            outstanding=self.outstanding.put(effect.effect_id, effect),
            next_id=self.next_id + 1,
        )

    def say(self, event: str, message: str) -> Announce:
        """Return a line of the timeline at the present time."""
        return Announce(self.now, event, message)


Step = tuple[Attempt, tuple[Effect, ...]]
