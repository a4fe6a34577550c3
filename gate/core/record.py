"""The journal of an attempt as a value, and what a lock remembers beyond one attempt.

The journal stands before each leg's writes. It holds what a stranger needs to finish the attempt:
what each object was, what our write makes of it, the policy, and which way it was going.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from gate.core.baseline import Baseline
from gate.core.body import Body, FrozenMap
from gate.core.causes import Cause
from gate.core.events import LiveObject
from gate.core.fact import Fact
from gate.core.machine import Leg
from gate.core.objects import CleanText, Ref
from gate.core.outcome import Reason
from gate.core.policy import Policy

MOST_ROLLED_BACK: Final = 5
"""How many templates that were rolled back are remembered of a Deployment."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One object as the journal has it, written as `field_manager`.

    `before` is Unknown where it is not kept: too large, or a Secret. `expected` is what the
    server's dry run made of our write (without a resourceVersion), or the body that is sent where
    that could not be tried, None where it is not kept. `uid` and `resource_version` are those of
    before, "" for what our write creates; `changes` is whether our write changes anything.
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


@dataclass(frozen=True, slots=True)
class Followed:
    """A Deployment whose rollout is followed; `baseline` is None where nothing served."""

    ref: Ref
    baseline: Baseline | None


@dataclass(frozen=True, slots=True)
class Record:
    """The journal of an attempt that goes `leg`.

    `why` is what led it back and what was wrong underneath, empty on the way out. `attempt_id`
    tells it from other attempts, `run_url` shows people; who writes it fills both in. Checks are
    no part of `policy`: what answers them is known to the run alone. `checks` are the names of
    those that would have decided.
    """

    command: str
    leg: Leg
    objects: tuple[Kept, ...]
    followed: tuple[Followed, ...]
    policy: Policy
    why: tuple[Cause, ...] = ()
    checks: tuple[str, ...] = ()
    attempt_id: str = ""
    run_url: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """How far an attempt had come that was found in its record.

    `written` is what is live of the objects that it wrote, `restored` of those that it had taken
    back already. `departed` and `left_alone` are what somebody else has changed or deleted since,
    `lost` is what it changed and nobody can restore.
    `back` is whether it goes back at once.
    """

    record: Record
    written: FrozenMap[Ref, LiveObject]
    restored: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    departed: FrozenMap[Ref, Cause] = field(default_factory=FrozenMap)
    left_alone: tuple[Ref, ...] = ()
    lost: FrozenMap[Ref, Cause] = field(default_factory=FrozenMap)
    back: bool = False


@dataclass(frozen=True, slots=True)
class Closing:
    """What the end of an attempt says of one Deployment that it wrote.

    `verified` is the version that was verified, `rolled_back` the digest of a template that
    failed and went back, `paused` whether the attempt left it paused.
    """

    ref: Ref
    verified: Baseline | None = None
    rolled_back: str = ""
    why: Cause | None = None
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of an attempt; `left_open` is whether there is something left to be finished."""

    left_open: bool
    deployments: tuple[Closing, ...] = ()


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A template (its body's digest) that failed and was rolled back; `at` is RFC 3339."""

    template: str
    reason: Reason
    message: CleanText
    run_url: str
    at: str


@dataclass(frozen=True, slots=True)
class History:
    """What a lock remembers of its Deployment.

    `verified` is the last version that a gate verified; `paused` is true while a pause of ours
    may stand.
    """

    verified: Baseline | None = None
    rolled_back: tuple[RolledBack, ...] = ()
    paused: bool = False

    def after(self, closing: Closing, run_url: str, at: str) -> History:
        """Return the history with one more attempt in it."""
        verified, failed = closing.verified, list(self.rolled_back)
        if verified is not None:
            failed = [one for one in failed if one.template != verified.template.body.digest]
        if closing.rolled_back and closing.why is not None:
            reason, message = closing.why.reason, closing.why.message
            failed = [one for one in failed if one.template != closing.rolled_back]
            failed.append(RolledBack(closing.rolled_back, reason, message, run_url, at))
        return replace(
            self,
            verified=verified or self.verified,
            rolled_back=tuple(failed[-MOST_ROLLED_BACK:]),
            paused=closing.paused,
        )

    def rolled_back_before(self, template: Body) -> RolledBack | None:
        """Return when a pod template was rolled back, None where it was not."""
        return next((one for one in self.rolled_back if one.template == template.digest), None)
