"""The parts of an attempt: where it is, what it awaits, what it wrote and found, how it ended."""

from __future__ import annotations

import enum
import math
from dataclasses import field

from gate.core.attempt.contact import Contact
from gate.core.attempt.doubt import Doubt
from gate.core.attempt.dropped_fields import DroppedFields
from gate.core.attempt.ending import Ending
from gate.core.attempt.last_look import Finding, LeftObject
from gate.core.attempt.pod_replacement import Replacement
from gate.core.attempt.transitions import State
from gate.core.attempt.wait import Wait
from gate.core.checks.run import CheckRun, Conclusion
from gate.core.frozen import dataclass
from gate.core.model.body import Body, FrozenMap
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import AnyReason
from gate.core.model.readiness import Readiness
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.protocol.effects import Announce, Asking
from gate.core.protocol.events import Evidence
from gate.core.rollout.causes import Cause
from gate.core.rollout.judge import Rollout
from gate.core.rollout.owners import Owners
from gate.core.rollout.ruling import Rulings
from gate.core.rollout.snapshot import Snapshot


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
    `tried`: the server was asked what it makes of a restoration. `Requests.not_before` is when the
    write may be sent again.
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
    """The effects that await an answer, by id, and when to ask again: `not_before`.

    `reread_at` is when a way back read its workloads again, `users_asked` has the versions of
    objects of which it asked who else uses them. `unread`: a read failed in this confirmation;
    `unreadable`: why the last one did, "" if it did not. `wait` is for objects beside the
    workloads, `doubts` are writes without a clear answer.
    """

    outstanding: FrozenMap[int, Asking] = field(default_factory=FrozenMap)
    next_id: int = 1
    not_before: float = -math.inf
    next_read_at: float = math.inf
    reread_at: float = -math.inf
    users_asked: FrozenMap[Ref, str] = field(default_factory=FrozenMap)
    unread: bool = False
    unreadable: str = ""
    wait: Wait = field(default_factory=Wait)
    doubts: FrozenMap[Ref, Doubt] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class Workloads:
    """What is known of the workloads, and how those that are followed progress.

    `rollouts` are those of this leg; on the way back `followed_before` are those of the way out.
    `replacements` are pods that blocked a rollout, by uid. `rulings` cache what the judge said.
    `terminating_namespaces` were being deleted, or were gone, as the attempt ended.
    """

    snapshots: FrozenMap[Ref, Snapshot] = field(default_factory=FrozenMap)
    rollouts: FrozenMap[Ref, Rollout] = field(default_factory=FrozenMap)
    followed_before: FrozenMap[Ref, Rollout] = field(default_factory=FrozenMap)
    owners: Owners = field(default_factory=Owners)
    replacements: FrozenMap[str, Replacement] = field(default_factory=FrozenMap)
    rulings: Rulings = field(default_factory=lambda: Rulings({}), compare=False, repr=False)
    terminating_namespaces: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ledger:
    """What this attempt did to each object, and what it knows of it.

    `live` is the latest state that was read or written, `written` what the way out left, `restored`
    what the way back left, in this order. `left` is each object as our last write on either leg
    left it, `findings` its state at the end. `left_to_others` are objects that somebody else has
    changed since, `dropped` the fields that the way back left out, `kept_paths` those of others
    that it sent along.
    """

    live: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    written: FrozenMap[Ref, WrittenObject] = field(default_factory=FrozenMap)
    restored: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    left: FrozenMap[Ref, LeftObject] = field(default_factory=FrozenMap)
    patched: tuple[Ref, ...] = ()
    deleted: tuple[Ref, ...] = ()
    left_to_others: tuple[Ref, ...] = ()
    findings: FrozenMap[Ref, Finding] = field(default_factory=FrozenMap)
    dropped: FrozenMap[Ref, DroppedFields] = field(default_factory=FrozenMap)
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
