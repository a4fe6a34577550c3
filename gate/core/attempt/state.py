"""One attempt: the only value that writes and ends. All of its behaviour is in `step`.

`step` folds the event, then asks the state for one trigger at a time and enters the state that the
table names, until no trigger is left. Time comes in with each event.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, replace

from gate.core.attempt import limits
from gate.core.attempt.contact import Contact
from gate.core.attempt.doubt import Doubt
from gate.core.attempt.ending import Ending
from gate.core.attempt.last_look import Finding, LeftObject
from gate.core.attempt.pod_replacement import Replacement
from gate.core.attempt.transitions import State
from gate.core.attempt.wait import Wait
from gate.core.checks.run import CheckRun, Conclusion
from gate.core.checks.spec import During
from gate.core.model.body import Body, FrozenMap
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import EXIT_CODES, AnyReason, Outcome
from gate.core.model.readiness import Readiness
from gate.core.plan.leg import Leg, leg_timeout
from gate.core.plan.plan import Plan, PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.protocol.effects import Announce, Asking, Effect, Write
from gate.core.protocol.events import Evidence
from gate.core.rollout.causes import Cause
from gate.core.rollout.judge import Rollout
from gate.core.rollout.owners import Owners
from gate.core.rollout.ruling import Rulings
from gate.core.rollout.snapshot import Snapshot

SIGNAL_BASE = 128


class Purpose(enum.StrEnum):
    """What a confirming read is to confirm."""

    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Rejection:
    """A write that the server refused for good; `paths` are the fields in conflict.

    `body` is what was sent, None where nothing was; `write` is what a way back gave up.
    """

    ref: Ref
    reason: AnyReason
    message: CleanText
    paths: tuple[str, ...] = ()
    body: Body | None = None
    write: PlannedWrite | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """The write under way has to be decided again, after a read.

    `uncertain` if its answer was lost, so that the live state may be our own write; `refused` if
    the server refused it, perhaps because of somebody else's change. `read`: that read is done.
    `tried`: the server was asked what it makes of a restoration.
    """

    uncertain: bool
    read: bool = False
    refused: Rejection | None = None
    tried: bool = False


@dataclass(frozen=True, slots=True)
class Undecided:
    """The next write to an object: why it is decided again, and if an answer to it was lost."""

    retry: Retry | None = None
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """Where an attempt is, and since when; times are monotonic seconds.

    `leg_at` is when the budget of the leg began: on the way out with its first write, on the way
    back with the decision. `purpose` is what a confirming read is to confirm.
    """

    started_at: float
    leg: Leg = Leg.FORWARD
    state: State = State.RECORDING
    leg_at: float = 0.0
    forward_ended_at: float = math.inf
    baked_since: float = math.inf
    confirming_since: float = math.inf
    purpose: Purpose = Purpose.SUCCESS
    inspecting_since: float = math.inf
    closing_since: float = math.inf


@dataclass(frozen=True, slots=True)
class Requests:
    """The effects that await an answer, by id, and when to ask again.

    `reread_at` is when a way back read its workloads again, `users_asked_at` when it asked who
    uses what it deletes. `unread`: a read failed in this confirmation; `unreadable`: why the last
    one did, "" if it did not. `wait` is for objects beside the workloads, `doubts` are writes
    without a clear answer.
    """

    outstanding: FrozenMap[int, Asking] = field(default_factory=FrozenMap)
    next_id: int = 1
    not_before: float = -math.inf
    next_read_at: float = math.inf
    reread_at: float = -math.inf
    users_asked_at: float = -math.inf
    unread: bool = False
    unreadable: str = ""
    wait: Wait = field(default_factory=Wait)
    doubts: FrozenMap[Ref, Doubt] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class Workloads:
    """What is known of the workloads, and how those that are followed progress.

    `rollouts` are those of this leg; on the way back `followed_before` are those of the way out.
    `replacements` are pods that blocked a rollout, by uid. `rulings` cache what the judge said.
    """

    snapshots: FrozenMap[Ref, Snapshot] = field(default_factory=FrozenMap)
    rollouts: FrozenMap[Ref, Rollout] = field(default_factory=FrozenMap)
    followed_before: FrozenMap[Ref, Rollout] = field(default_factory=FrozenMap)
    owners: Owners = field(default_factory=Owners)
    replacements: FrozenMap[str, Replacement] = field(default_factory=FrozenMap)
    rulings: Rulings = field(default_factory=lambda: Rulings({}), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What this attempt did to each object, and what it knows of it.

    `live` is the latest state that was read or written, `written` what the way out left, `restored`
    what the way back left. `left` is each object as our last write on either leg left it,
    `findings` its state at the end. `left_alone` are objects that somebody else has since changed,
    `dropped_paths` and `kept_paths` others' fields that the way back left out or sent along.
    """

    live: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    written: FrozenMap[Ref, WrittenObject] = field(default_factory=FrozenMap)
    restored: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    left: FrozenMap[Ref, LeftObject] = field(default_factory=FrozenMap)
    patched: tuple[Ref, ...] = ()
    deleted: tuple[Ref, ...] = ()
    left_alone: tuple[Ref, ...] = ()
    findings: FrozenMap[Ref, Finding] = field(default_factory=FrozenMap)
    dropped_paths: FrozenMap[Ref, tuple[str, ...]] = field(default_factory=FrozenMap)
    kept_paths: FrozenMap[Ref, tuple[str, ...]] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class Writes:
    """The writes that this leg still has to send, and what became of earlier ones.

    `retry` and `uncertain` are of the write at the head of the queue, `set_aside` has those of
    writes further back (`writes.order`). `rejection` is what ended the way out, `refusals` are the
    writes of the way back that were refused or could not be sent. `lost_at` is when the first
    answer to the write at the head was lost (monotonic seconds).
    """

    queue: tuple[PlannedWrite, ...] = ()
    retry: Retry | None = None
    uncertain: bool = False
    set_aside: FrozenMap[Ref, Undecided] = field(default_factory=FrozenMap)
    rejection: Rejection | None = None
    refusals: FrozenMap[Ref, Rejection] = field(default_factory=FrozenMap)
    first_sent_at: float | None = None
    first_write_at: float | None = None
    rollback_written_at: float | None = None
    lost_at: float = math.inf


@dataclass(frozen=True, slots=True)
class Health:
    """The health checks: the runs that have begun, by name, and what all concluded at the end.

    `concluded` is empty before the end of the way out.
    """

    checks: FrozenMap[str, CheckRun] = field(default_factory=FrozenMap)
    concluded: tuple[Conclusion, ...] = ()


@dataclass(frozen=True, slots=True)
class Interference:
    """What comes from outside: workloads that others took over, signals, lost locks, contact.

    `lock_taker` is who took the first of the lost locks. In this leg the gate itself stood still
    for `suspended_seconds`, which no budget counts. `last_causes` are what was wrong with a version
    as the last of its pods went, or none was wanted any more.
    """

    departures: FrozenMap[Ref, Ending] = field(default_factory=FrozenMap)
    departed_at: float = -math.inf
    lock_lost: Ending | None = None
    locks_lost: tuple[Lock, ...] = ()
    lock_taker: str = ""
    contact: Contact = field(default_factory=Contact)
    signal_number: int | None = None
    interrupted_at: float = math.inf
    suspended_seconds: float = 0.0
    last_causes: FrozenMap[Ref, tuple[Cause, ...]] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result: `failures` are the verdicts that led back, `why_back` what else did.

    `rejection` is the refused write that ended a way out which goes back, also beside failures.
    `judged` is `ending` without `--observe`, which makes nearly every end `observed`. `objects` is
    what was known at the end of each object of the plan that is not followed. `unsaid` are lines of
    the timeline that wait until the record of the way back is saved.
    """

    failures: FrozenMap[Ref, Ending] = field(default_factory=FrozenMap)
    why_back: Ending | None = None
    rejection: Rejection | None = None
    verdict_at: float | None = None
    evidence: tuple[Evidence, ...] = ()
    endings: FrozenMap[Ref, Ending] = field(default_factory=FrozenMap)
    ending: Ending | None = None
    judged: Ending | None = None
    objects: FrozenMap[Ref, Readiness] = field(default_factory=FrozenMap)
    unsaid: tuple[Announce, ...] = ()


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
