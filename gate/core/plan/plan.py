"""What an attempt sets out to do, decided before its first write.

`apply`, `verify`, `undo` and `restart` differ in their plan alone: `verify` has no writes,
`undo` and `restart` have one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Fact, Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.naming import naming
from gate.core.model.objects import Ref
from gate.core.model.origin import NO_ORIGIN, Origin
from gate.core.plan.journal_record import Resumed
from gate.core.plan.target_set import TargetSet
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.policy import OnFailure, Policy
from gate.core.rollout.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """A write without its preconditions, which are those of the moment when it is sent.

    `autoscaled`: the manifest does not decide on `spec.replicas`: an autoscaler does, or whoever
    has scaled it. The live number is sent, or the field left to its other owner.
    `over_any_change`: it is right whatever others have changed of the object since it was read.
    """

    ref: Ref
    verb: Verb
    body: Body
    field_manager: str = FIELD_MANAGER
    force: bool = False
    autoscaled: bool = False
    over_any_change: bool = False


@dataclass(frozen=True, slots=True)
class PlannedObject:
    """An object of the manifest, what was there before, and what the server would make of it.

    `trial` is the answer to the dry run, None where it could not be tried. `irreversible` is why
    a failure could not take it back, "" where it could.
    """

    ref: Ref
    before: Fact[LiveObject]
    trial: LiveObject | None = None
    irreversible: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A Deployment to follow: what was known of it before the write, and what served then."""

    ref: Ref
    snapshot: Snapshot
    baseline: Fact[Baseline]


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes in the order of application, and the Deployments that are judged.

    `may_retreat` is false for commands that never write a rollback (`verify`). `resumed` is set
    where another attempt is finished, whose writes are done. `target_set` is what a failure
    returns to. `origin` is the run's own. `held` says of objects that the attempt created why they
    are not to be deleted: another run of the gate uses them.
    """

    command: str
    targets: tuple[Target, ...]
    objects: tuple[PlannedObject, ...]
    writes: tuple[PlannedWrite, ...]
    policy: Policy
    may_retreat: bool = True
    resumed: Resumed | None = None
    target_set: TargetSet = field(default_factory=TargetSet)
    origin: Origin = NO_ORIGIN
    held: FrozenMap[Ref, str] = field(default_factory=FrozenMap)

    def name_of(self, ref: Ref) -> str:
        """Return what sentences call an object, with its namespace where the plan has several."""
        followed = (target.ref for target in self.targets)
        return naming((*(planned.ref for planned in self.objects), *followed))(ref)

    def before(self, ref: Ref) -> LiveObject | None:
        """Return what was there before, None where there was nothing or nobody could tell."""
        for planned in self.objects:
            if planned.ref == ref and isinstance(planned.before, Known):
                return planned.before.value
        return None

    def trial(self, ref: Ref) -> LiveObject | None:
        """Return what the server would make of an object, None where nobody could tell."""
        return next((planned.trial for planned in self.objects if planned.ref == ref), None)

    def target(self, ref: Ref) -> Target:
        """Return the target; KeyError where that Deployment is not followed."""
        for target in self.targets:
            if target.ref == ref:
                return target
        raise KeyError(ref)


def plan_to_take_back(plan: Plan) -> Plan:
    """Return the plan that takes back a part of an apply.

    `--on-failure` says what a version gets that fails: a part of an apply is no version, and goes
    back whatever it says.
    """
    if not plan.policy.takes_back_parts:
        return plan
    return replace(plan, policy=replace(plan.policy, on_failure=OnFailure.ROLLBACK))
