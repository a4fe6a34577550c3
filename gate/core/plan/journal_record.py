"""The journal of an attempt as a value.

It stands before each leg's writes. It holds what a stranger needs to finish the attempt:
what each object was, what our write makes of it, the policy, and which way it was going.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Fact
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.origin import NO_ORIGIN, Origin
from gate.core.plan.leg import Leg
from gate.core.plan.target_set import TargetSet
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import Policy


@dataclass(frozen=True, slots=True)
class Kept:
    """One object as the journal has it, written as `field_manager`.

    `before` is Unknown where it is not kept: too large, or a Secret. `expected` is what the
    server's dry run made of our write (without a resourceVersion), or the body that is sent where
    that could not be tried, None where it is not kept. `uid` and `resource_version` are those of
    before, "" for what our write creates; `changes` is whether our write changes anything.
    `is_unreached` is whether the record of a way back says that our write never came to it.
    """

    ref: Ref
    before: Fact[LiveObject]
    expected: LiveObject | Body | None
    field_manager: str
    uid: str = ""
    resource_version: str = ""
    changes: bool = True
    forced: bool = False
    autoscaled: bool = False
    is_unreached: bool = False


@dataclass(frozen=True, slots=True)
class Followed:
    """A Deployment whose rollout is followed; `baseline` is None where nothing served.

    `why` is what was found against its own version and led the attempt back, and what was wrong
    underneath; empty of one that nothing was found against.
    """

    ref: Ref
    baseline: Baseline | None
    why: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """The journal of an attempt that goes `leg`.

    `why` is what led it back and what was wrong underneath, empty on the way out. `attempt_id`
    tells it from other attempts, and whoever writes it fills it in; `origin` is for people. Checks
    are no part of `policy`: what answers them is known to the run alone. `checks` are the names of
    those that would have decided. `target_set` is what a failure returns to.
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


@dataclass(frozen=True, slots=True)
class Resumed:
    """How far an attempt had come that was found in its record.

    `written` is what is live of the objects that it wrote, `restored` of those that it had taken
    back already. `departed` and `left_alone` are what somebody else has changed or deleted since,
    `lost` is what it changed and nobody can restore, why and (`unkept`) as it stands, whichever way
    it goes.
    `back` is whether it goes back at once, `may_still_run` whether its lock was released, so that
    nobody knows of its gate that it has ended, `undone` whether it goes back since somebody undoes
    it.
    """

    record: Record
    written: FrozenMap[Ref, LiveObject]
    restored: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    departed: FrozenMap[Ref, Cause] = field(default_factory=FrozenMap)
    left_alone: tuple[Ref, ...] = ()
    lost: FrozenMap[Ref, Cause] = field(default_factory=FrozenMap)
    back: bool = False
    may_still_run: bool = False
    undone: bool = False
    unkept: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
