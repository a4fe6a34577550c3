"""The lane of the locks: renews them during an attempt, writes its record, releases them.

One thread performs the tasks one by one; at the release several threads share the Leases, one
thread for each Lease. So two writes of ours never collide in one Lease.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from queue import SimpleQueue
from typing import Final

from gate.app.locks.acquisition import LEAVE_SECONDS, without_record
from gate.app.locks.closing_texts import ClosingTexts, mask_cause
from gate.app.locks.held_locks import JUST_NOW_SECONDS, HeldLocks, LookAtLocks, Lost
from gate.app.locks.lock_endings import LockEndings
from gate.app.locks.recreation import Recreation
from gate.app.locks.secret_backup import SecretsBeside
from gate.app.locks.tasks import Asked, Effect, Leave, LockLane, Task, TaskQueue
from gate.app.locks.verified_bodies import VerifiedBodies
from gate.app.runtime.console import Warn
from gate.clock import Clock
from gate.core.model.body import Body
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import Holder
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.record import Record
from gate.core.protocol.effects import Release, SaveRecord
from gate.core.protocol.events import Recorded, Released
from gate.core.rollout.causes import Cause
from gate.core.versions.history import Closed, History
from gate.engine import Broken, Inbox
from gate.kube.answers.failures import ApiError
from gate.kube.locks.lease import DURATION_SECONDS, HISTORY, RECORD, Held, Leases
from gate.side_by_side import each
from gate.wire.record import fitting, read_record, without_secrets

RENEWAL_SECONDS: Final = 15.0
RETRY_SECONDS: Final = 5.0
"""How soon a failed renewal is retried."""
DOUBTFUL_SECONDS: Final = DURATION_SECONDS / 2
"""No write begins this long after the last renewal: others may take a lock after twice as long."""
_NAP_SECONDS: Final = 1.0

Annotations = Mapping[str, str | None]


class Keeper:
    """Holds the locks of a run, from taking them to releasing them."""

    def __init__(
        self,
        clock: Clock,
        leases: Leases,
        secrets: SecretsBeside,
        verified: VerifiedBodies,
        held: tuple[Held, ...],
        warn: Warn,
    ) -> None:
        """Take the locks as they were taken, at least one, all by the same holder.

        `start` begins to renew them. `mask` removes secrets from what is written for people, but
        not from bodies, since they are written back. `endings.record_stays` is called if a record
        cannot be removed. `holders_before` are the previous holders of the locks, according to each
        Lease.
        """
        self._clock = clock
        self._leases = leases
        self._secrets = secrets
        self._verified = verified
        recreation = Recreation(leases, secrets, verified, warn)
        self._held = HeldLocks(clock, leases, held, warn, recreation)
        self._holder = held[0].holder
        self.endings = LockEndings(clock, leases, self._held, secrets, warn)
        self._found = held
        self._warn = warn
        self.mask: Callable[[str], str] = str
        self.holders_before: Mapping[Lock, Holder] = {}
        self._queue = TaskQueue()
        self._inbox: Inbox | None = None
        self._left = False
        self._is_closing = False
        self._recorded: set[Lock] = set()
        self._saved_leg: Leg | None = None
        self._unrenewable: set[Lock] = set()
        self._renew_at = clock.now() + RENEWAL_SECONDS

    @property
    def locks(self) -> tuple[Lock, ...]:
        """Return the locks, in the order of taking."""
        return self._held.locks

    def start(self) -> None:
        """Start the lane, which renews the locks."""
        self._clock.start(self._work, "lease")

    @property
    def saved_leg(self) -> Leg | None:
        """The leg that the latest attempt's record is known to say; None before it is saved."""
        return self._saved_leg

    # -- what was found ----------------------------------------------------------------------------

    def history(self, ref: Ref) -> History:
        """Return what the lock of a workload remembers."""
        return self._held.history(lock_of(ref), self._warn)

    def kept_bodies(self, ref: Ref, digests: Collection[str]) -> Mapping[str, Body]:
        """Read bodies from the Secret beside a workload's lock, by digest."""
        return self._verified.read(lock_of(ref), digests)

    @property
    def open_records(self) -> tuple[Lock, ...]:
        """Return the locks with records that other attempts left open."""
        return tuple(one.lock for one in self._found if one.record)

    def record(self, lock: Lock) -> Record:
        """Read a record with the Secrets kept beside it; DecodeError if it is not a record."""
        text = next(one.record for one in self._found if one.lock == lock)
        return self._secrets.put_into(read_record(text), lock)

    def namespaces_of(self, lock: Lock) -> frozenset[str]:
        """Return the namespaces in which the attempt with its record in `lock` held locks.

        These are that lock's own, and those of locks whose own Leases name it.
        """
        others = (one for one, holder in self.holders_before.items() if lock in holder.locks)
        return frozenset((lock.namespace, *(one.namespace for one in others)))

    # -- what the attempt asks ---------------------------------------------------------------------

    def lane(self, inbox: Inbox, record_in: Lock | None = None, *, stays: bool = False) -> LockLane:
        """Return what takes the effects of an attempt and answers them into its inbox.

        Its record goes into `record_in`, by default the first lock; with `stays` the locks are
        still held after its end.
        """
        self._inbox, self._saved_leg = inbox, None
        place = record_in or self.locks[0]

        def ask(effect: Effect | LookAtLocks) -> None:
            if isinstance(effect, LookAtLocks):
                self._queue.put(effect)
                return
            self._is_closing |= isinstance(effect, Release) and not stays
            self._queue.put(Task(effect, inbox, place, stays))

        return ask

    def forget(self, lock: Lock) -> None:
        """Remove a record of which nothing was written."""
        self._recorded.add(lock)
        end = Release(0, Closed(left_open=False))
        self._queue.put(Task(end, SimpleQueue(), lock, stays=True))

    def leave(self) -> None:
        """Release the locks if no attempt has begun or one broke off.

        An attempt that ended has requested that already, and waited for it as long as it may.
        """
        if not self._left and not self._is_closing:
            done = threading.Event()
            self._queue.put(Leave(done))
            self._clock.wait(LEAVE_SECONDS, done)

    # -- the lane ----------------------------------------------------------------------------------

    def _work(self) -> None:
        self._secrets.look()
        while not self._left:
            seconds = max(0.0, self._renew_at - self._clock.now())
            task = self._queue.receive(self._clock, seconds)
            try:
                self._perform(task)
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
                if self._inbox is not None:
                    self._inbox.put(Broken(error))

    def _perform(self, task: Asked | None) -> None:
        match task:
            case None:
                self._renew(gives_way=True)
            case LookAtLocks(done):
                self._renew()
                done.set()
            case Leave(done):
                self.endings.give_back()
                self._left = True
                done.set()
            case Task(SaveRecord() as effect):
                self._save(task, effect)
            case Task(Release() as effect):
                self._close(task, effect)
                task.inbox.put(Released(self._clock.now(), effect.effect_id))

    def _renew(self, *, gives_way: bool = False) -> None:
        """Renew each lock, the longest unrenewed first, even if others fail.

        After a failure, or if it `gives_way`, a waiting task comes before the remaining locks.
        """
        self._renew_at = self._clock.now() + RENEWAL_SECONDS
        pauses_seconds: list[float] = []
        for lock in self._held.unwritten(JUST_NOW_SECONDS if gives_way else 0.0):
            if (gives_way or pauses_seconds) and not self._queue.is_empty():
                self._renew_at = self._clock.now()
                break
            try:
                self._held.renew(lock)
                self._unrenewable.discard(lock)
            except Lost:
                self._tell_lost()
            except ApiError as error:
                wanted = min(error.retry_after_seconds or 0.0, RENEWAL_SECONDS)
                pauses_seconds.append(max(RETRY_SECONDS, wanted))
                if not error.transient:
                    self._unrenewable.add(lock)
                    self._warn(f"the lock of {lock} is not renewed: {error.message}")
        if pauses_seconds:
            self._renew_at = self._clock.now() + max(pauses_seconds)

    def _tell_lost(self) -> None:
        if self._inbox is not None:
            self._inbox.put(self._held.loss())

    # -- records -----------------------------------------------------------------------------------

    def _save(self, task: Task, effect: SaveRecord) -> None:
        """Write the record of a leg; the forward leg writes no object without it.

        There a permanent refusal by the server ends the run. On the leg back a failure is only a
        warning: the forward leg's record has what is needed, and restoring service comes first.
        The leg's writes rely on every lock of the run, so doubtful ones are renewed before the
        answer. There is no answer if the run asks for its end meanwhile.
        """
        record, number = effect.record, effect.effect_id
        while record.objects and (error := self._not_saved(task, record)) is not None:
            if record.leg is Leg.FORWARD and not error.transient:
                task.inbox.put(Broken(without_record(task.record_in, error)))
                return
            self._warn(f"the record could not be saved: {error.message}")
            if record.leg is Leg.BACK:
                break
            if not self._may_wait(max(_NAP_SECONDS, error.retry_after_seconds or 0.0)):
                return
        if self._are_doubtful():
            self._renew()
        while record.leg is Leg.FORWARD and self._are_doubtful():
            if not self._may_wait(max(0.0, self._renew_at - self._clock.now())):
                return
        if self._held.lost:
            task.inbox.put(self._held.loss())
        else:
            task.inbox.put(Recorded(self._clock.now(), number))

    def _are_doubtful(self) -> bool:
        """Tell whether a renewable lock is so overdue that somebody else may soon take it."""
        late = self._held.unwritten(DOUBTFUL_SECONDS)
        return not self._held.lost and any(lock not in self._unrenewable for lock in late)

    def _may_wait(self, seconds: float) -> bool:
        """Wait that long, renewing when due; False as soon as the run asks for its end.

        A `LookAtLocks` is performed at once and does not end the wait.
        """
        until = self._clock.now() + seconds
        while not self._held.lost:
            task = self._queue.take()
            if isinstance(task, LookAtLocks):
                self._perform(task)
                continue
            if task is not None:
                self._queue.put_back(task)
                return False
            if self._clock.now() >= self._renew_at:
                self._renew()
            if (left_seconds := until - self._clock.now()) <= 0:
                break
            self._clock.wait(min(_NAP_SECONDS, left_seconds))
        return True

    def _not_saved(self, task: Task, record: Record) -> ApiError | None:
        """Write the record unless a lock is lost; return the error if writing failed."""
        if self._held.lost:
            return None
        if not record.attempt_id:
            record = replace(record, attempt_id=self._holder.identity)
        try:
            text = self._text(task.record_in, record)
            wall = self._clock.wall()
            self._held.write(task.record_in, lambda held: self._leases.save(held, text, wall))
            self._recorded.add(task.record_in)
            self._saved_leg = record.leg
        except Lost:
            return None
        except ApiError as error:
            return error
        return None

    def _text(self, lock: Lock, record: Record) -> str:
        """Return a record's text; first keep its Secrets beside it, for our own forward leg."""
        if record.leg is Leg.FORWARD and record.attempt_id == self._holder.identity:
            self._secrets.keep(record, self._held.get(lock))
        followed = tuple(replace(one, why=self._mask_causes(one.why)) for one in record.followed)
        bare = replace(
            without_secrets(record), why=self._mask_causes(record.why), followed=followed
        )
        return fitting(bare)[0]

    def _mask_causes(self, causes: tuple[Cause, ...]) -> tuple[Cause, ...]:
        return tuple(mask_cause(cause, self.mask) for cause in causes)

    def _close(self, task: Task, effect: Release) -> None:
        """Write the histories, remove the record, and release the locks.

        The record goes last, with its own lock: if the gate is killed in between, whoever finds the
        record finishes the attempt, and no workload lacks its history. Where a lost lock changes
        what the others remember, all are looked at before the first is written.
        """
        known, closed = set(self._held.lost), effect.closed
        if effect.if_lost is not None and self._held.are_any_lost():
            closed = effect.if_lost
        at = self._leases.server_wall()
        texts = ClosingTexts(self._clock, self._holder, closed, self.mask, at)
        others = [lock for lock in self._held.locks if lock != task.record_in]
        end = functools.partial(self._end_of, task, closed, texts)
        each(self._clock, end, others)
        if task.record_in in self._held.locks:
            end(task.record_in)
        if missing := texts.describe_missing():
            self._warn(missing)
        for lock, holder in self._held.lost.items():
            self._warn(f"the lock of {lock} was taken by {holder} while this run held it")
        if self._held.lost.keys() - known:
            task.inbox.put(self._held.loss())  # before the answer: it changes the verdict
        self._left = not task.stays

    def _end_of(self, task: Task, closed: Closed, texts: ClosingTexts, lock: Lock) -> None:
        """Release a lock with what it is to remember, or delete it; a lost one is left alone."""
        if lock in self._held.lost:
            return
        annotations: dict[str, str | None] = {}
        before = functools.partial(self._held.history, lock, self._warn)
        keep = functools.partial(self._verified.keep, self._held.get(lock))
        if (text := texts.text(lock, before, keep, self._warn)) is not None:
            annotations[HISTORY] = text
        if lock == task.record_in and lock in self._recorded and not closed.left_open:
            annotations[RECORD] = None
        is_wanted = annotations or task.stays or closed.left_open
        if is_wanted or not self.endings.delete_blank(lock):
            self.endings.end(lock, annotations, stays=task.stays)
