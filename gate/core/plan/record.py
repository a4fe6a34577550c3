"""The record of an attempt as a value.

It is saved before each leg's writes. It holds what another gate needs to finish the attempt:
what each object was, what our write makes of it, the policy, and which way it was going.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from itertools import takewhile

from gate.core.frozen import dataclass
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Fact
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.origin import NO_ORIGIN, Origin
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.replica_ownership import Scaler
from gate.core.plan.target_set import TargetSet
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause
from gate.core.rollout.pods_before import PodsBefore
from gate.core.rollout.policy import Policy
from gate.core.ssa.applied_fields import applied_digest


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the way out came with an object, as the record of a way back says it.

    `is_unreached` is whether our write never reached the object. `is_in_doubt` is whether an answer
    to that write was lost, so that nobody knows. `refusal` is why the server refused the write.
    `is_open` is whether the gate died before it said any of that: the write may still arrive. On
    the way out `is_unreached` marks what only a way back would write.
    """

    is_unreached: bool = False
    is_in_doubt: bool = False
    refusal: Cause | None = None
    is_open: bool = False

    @property
    def is_known_written(self) -> bool:
        """Whether the write was done, as far as the record says."""
        return not (self.is_unreached or self.is_in_doubt or self.is_open)


@dataclass(frozen=True, slots=True)
class Kept:
    """One object in the record, written as `field_manager`.

    `before` is Unknown if it is not kept: too large, or a Secret. `expected` is what the server's
    dry run made of our write (without a resourceVersion), the body that is sent if there could be
    no dry run, or None if it is not kept. `uid` and `resource_version` are those of before, "" for
    what our write creates; `changes` is whether our write changes anything. `scaler` decides on its
    number of replicas.
    """

    ref: Ref
    before: Fact[LiveObject]
    expected: LiveObject | Body | None
    field_manager: str
    uid: str = ""
    resource_version: str = ""
    changes: bool = True
    forced: bool = False
    scaler: Scaler = Scaler.MANIFEST
    reach: Reach = field(default_factory=Reach)

    @property
    def goes_after_end(self) -> bool:
        """Whether its controller deletes what was written some time after its end."""
        wanted = self.expected.workload if isinstance(self.expected, LiveObject) else None
        return wanted is not None and wanted.goes_after_end


@dataclass(frozen=True, slots=True)
class RemovedPod:
    """A pod that is removed, or was to be when the record was saved."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Followed:
    """A workload whose rollout is followed.

    `baseline` is what served before, Absent if nothing did, Unknown if nobody can tell.
    `why` is the failure of its own version that led the attempt back, followed by the underlying
    causes; empty if nothing was found against it. `removed` are the pods that are removed because
    they block it. `is_replaced` is whether what was there before is deleted for it to be created.
    `taken_back` is the key of the version that its way back takes back, "" on the way out.
    `pods_before` is what its pods ran before the first write. `undone` is the key of the version
    that an undo takes back, also on the way out. `returned_before` is the configuration of its pods
    that was not back yet when it was.
    """

    ref: Ref
    baseline: Fact[Baseline]
    why: tuple[Cause, ...] = ()
    removed: tuple[RemovedPod, ...] = ()
    phase: Phase = Phase.MAIN
    is_replaced: bool = False
    taken_back: str = ""
    pods_before: PodsBefore = field(default_factory=PodsBefore)
    undone: str = ""
    returned_before: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """The record of an attempt on its `leg`.

    `why` is what led it back, followed by the underlying causes; empty on the way out.
    `attempt_id` distinguishes it from other attempts and is filled in by whoever saves the record;
    `origin` is for people. `policy` has no checks: only the run itself knows what answers them.
    `checks` are the names of those that would have decided. `target_set` is what a failure returns
    to.
    """

    command: str
    leg: Leg
    objects: tuple[Kept, ...]
    followed: tuple[Followed, ...]
    policy: Policy
    why: tuple[Cause, ...] = ()
    checks: tuple[str, ...] = ()
    attempt_id: str = ""
    origin: Origin = NO_ORIGIN
    target_set: TargetSet = field(default_factory=TargetSet)

    def is_to_leave(self, ref: Ref, digest: str) -> bool:
        """Tell whether it is on its way out, to leave an object with `digest` (`applied_digest`).

        A record without the object's content, as of a Secret, does not say otherwise.
        """
        if self.leg is not Leg.FORWARD:
            return False
        return any(one.ref == ref and _may_become(one, digest) for one in self.objects)

    def find_sent(self, written: Collection[Ref]) -> frozenset[Ref]:
        """Return what was written, also what is not `written` any more: restored, or gone since.

        On the way back the record says it: the gate had its answers before it turned around.
        """
        if self.leg is Leg.FORWARD:
            return frozenset(written)
        known = (one.ref for one in self.objects if one.changes and one.reach.is_known_written)
        return frozenset((*written, *known))

    def find_passed(self, written: Collection[Ref]) -> frozenset[Ref]:
        """Return the workloads that had completed, and are gone since: not `written` any more.

        One of the phase `BEFORE` is awaited before any workload of another phase is written.
        """
        phases, sent = {one.ref: one.phase for one in self.followed}, self.find_sent(written)
        changed = [one.ref for one in self.objects if one.changes and one.ref in phases]
        if not any(phases[one] is not Phase.BEFORE and one in sent for one in changed):
            return frozenset()
        early = (ref for ref, phase in phases.items() if phase is Phase.BEFORE)
        return frozenset(ref for ref in early if ref not in written)

    def find_perhaps_gone(self, written: Collection[Ref], there: Collection[Ref]) -> frozenset[Ref]:
        """Return what may have been written last, have come to its end and be gone: not `written`.

        Empty unless all that is written before is `written`. What is `there` was to be replaced:
        then neither it was written, nor what comes after it.
        """
        last = {one.ref for one in self.followed if one.phase is Phase.AFTER}
        missing = [one for one in self.objects if one.changes and one.ref not in written]
        missing = [one for one in missing if one.ref not in self.find_passed(written)]
        if not all(one.ref in last and one.goes_after_end for one in missing):
            return frozenset()
        return frozenset(takewhile(lambda ref: ref not in there, (one.ref for one in missing)))

    def has_come_to(self, ref: Ref, written: Collection[Ref]) -> bool:
        """Tell whether all that was to change before an object was written, one after the other."""
        done = self.find_sent(written) | self.find_passed(written)
        earlier = takewhile(lambda one: one.ref != ref, self.objects)
        return all(one.ref in done for one in earlier if one.changes)


def _may_become(kept: Kept, digest: str) -> bool:
    expected = kept.expected
    return not isinstance(expected, LiveObject) or applied_digest(expected) == digest


@dataclass(frozen=True, slots=True)
class LedBack:
    """What leads back an attempt that may be complete: an `undo`, or checks that do not decide.

    `undecided` are those that had still to decide, which nobody asks again; it is complete then.
    """

    by_undo: bool = False
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resumed:
    """How far the attempt of a found record had come.

    `written` is the live state of the objects that it wrote, `restored` of those that it had
    already taken back. `departed` (followed workloads) and `left_to_others` (other objects, with
    their live state) are what somebody else has changed or deleted since. `unkept` is the live
    state of what it wrote but nobody can restore, whichever way it goes; on the way back `lost`
    says why of what it changed. `back` is whether it goes back at once. `may_still_run` is whether
    its lock was released, so that its gate may not have ended. `led_back` is why it goes back
    although it may be complete.
    """

    record: Record
    written: FrozenMap[Ref, LiveObject]
    restored: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    departed: FrozenMap[Ref, Cause] = field(default_factory=FrozenMap)
    left_to_others: FrozenMap[Ref, Fact[LiveObject]] = field(default_factory=FrozenMap)
    lost: FrozenMap[Ref, Cause] = field(default_factory=FrozenMap)
    back: bool = False
    may_still_run: bool = False
    led_back: LedBack = field(default_factory=LedBack)
    unkept: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
