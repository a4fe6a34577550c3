"""What an attempt sets out to do, decided before its first write.

`apply`, `verify`, `undo` and `restart` differ only in their plan: `verify` has no writes,
`restart` has one, and `undo` has those of the set that it returns to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Fact, Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.naming import naming
from gate.core.model.objects import Ref
from gate.core.model.origin import NO_ORIGIN, Origin
from gate.core.plan.phases import NO_NEEDS, Phase, find_needs, order_by_phase
from gate.core.plan.record import Resumed
from gate.core.plan.replica_ownership import Scaler
from gate.core.plan.target_set import TargetSet
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.policy import OnFailure, Policy
from gate.core.rollout.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """A write without its preconditions, which are set when it is sent.

    `scaler` decides on `spec.replicas`: if it is not the manifest, the live number is sent, or the
    field is left to its other owner.
    `over_any_change`: the write is right whatever others have changed since the object was read.
    `needs` are objects that are written earlier and have to be ready, or complete if they are
    followed, before this write is sent.
    """

    ref: Ref
    verb: Verb
    body: Body
    field_manager: str = FIELD_MANAGER
    force: bool = False
    scaler: Scaler = Scaler.MANIFEST
    over_any_change: bool = False
    needs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedObject:
    """An object of the manifest, what was there before, and what the server would make of it.

    `trial` is the answer to the dry run, None if there could be none. `irreversible` is why a
    failure could not take the write back, "" if it could. `returned` is the answer to a dry run of
    the write that restores it, None without one.
    """

    ref: Ref
    before: Fact[LiveObject]
    trial: LiveObject | None = None
    irreversible: str = ""
    returned: LiveObject | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A workload to follow: what was known of it before the write, and what served then.

    `is_restored` says, for a `verify`, whether what is to run had been verified before another
    version failed.
    """

    ref: Ref
    snapshot: Snapshot
    baseline: Fact[Baseline]
    phase: Phase = Phase.MAIN
    is_restored: bool = False


OtherUse = Known[str] | Unknown
"""How another run of the gate uses an object, or why nobody can tell."""


def describe_use(use: OtherUse) -> str:
    """Return it for people."""
    return use.value if isinstance(use, Known) else use.why


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes in the order of application, and the workloads that are judged.

    `may_retreat` is false for commands that never write a rollback (`verify`). `resumed` is set if
    the plan finishes another attempt, whose writes are done. `target_set` is what a failure
    returns to. `origin` is the run's own. `held` has the objects that the attempt wrote and does
    not take back, each with the reason: another run of the gate uses it, or nobody can tell, which
    keeps it from a deletion alone.
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
    held: FrozenMap[Ref, OtherUse] = field(default_factory=FrozenMap)

    def name_of(self, ref: Ref) -> str:
        """Return an object's name for messages, with its namespace if the plan has several."""
        followed = (target.ref for target in self.targets)
        return naming((*(planned.ref for planned in self.objects), *followed))(ref)

    def before(self, ref: Ref) -> LiveObject | None:
        """Return the object as it was before, None if it did not exist or that is not known."""
        for planned in self.objects:
            if planned.ref == ref and isinstance(planned.before, Known):
                return planned.before.value
        return None

    def trial(self, ref: Ref) -> LiveObject | None:
        """Return what the server would make of an object, None without a dry run."""
        return next((planned.trial for planned in self.objects if planned.ref == ref), None)

    def find_returned(self, ref: Ref) -> LiveObject | None:
        """Return what the server would make of an object's restoration, None without a dry run."""
        return next((planned.returned for planned in self.objects if planned.ref == ref), None)

    def with_returned(self, ref: Ref, answer: LiveObject) -> Plan:
        """Return the plan with what the server would make of an object's restoration."""
        objects = (replace(one, returned=answer) if one.ref == ref else one for one in self.objects)
        return replace(self, objects=tuple(objects))

    def target(self, ref: Ref) -> Target:
        """Return the target; raise KeyError if that workload is not followed."""
        for target in self.targets:
            if target.ref == ref:
                return target
        raise KeyError(ref)

    def phase_of(self, ref: Ref) -> Phase | None:
        """Return the phase of a followed workload, None for other objects."""
        return next((target.phase for target in self.targets if target.ref == ref), None)

    def needs_of(self, ref: Ref) -> tuple[Ref, ...]:
        """Return what has to be ready before an object is written."""
        return next((write.needs for write in self.writes if write.ref == ref), ())


def in_phases(
    writes: Collection[PlannedWrite],
    targets: Collection[Target],
    own_needs: Mapping[Ref, tuple[Ref, ...]] = NO_NEEDS,
) -> tuple[PlannedWrite, ...]:
    """Return `writes`, in the order of application, in that of their phases, with what each needs.

    `own_needs` are those that no phase gives: of a custom resource its definition.
    """
    phases = {target.ref: target.phase for target in targets}
    order = order_by_phase(dict.fromkeys(write.ref for write in writes), phases, own_needs)
    needs = find_needs(order, phases, own_needs)
    place = {ref: number for number, ref in enumerate(order)}
    sent = sorted(writes, key=lambda write: place[write.ref])
    return tuple(replace(write, needs=needs[write.ref]) for write in sent)


def plan_to_take_back(plan: Plan) -> Plan:
    """Return the plan that takes back a part of an apply.

    `--on-failure` is for a version that fails. A part of an apply is no version, and goes back
    whatever the option says, unless the policy forbids that (`takes_back_parts`).
    """
    response = plan.policy.response
    if not response.takes_back_parts:
        return plan
    back = replace(response, on_failure=OnFailure.ROLLBACK)
    return replace(plan, policy=replace(plan.policy, response=back))


def failed_first(plan: Plan, refs: Collection[Ref], failed: Collection[Ref]) -> Iterator[Ref]:
    """Yield `refs`, in the order of application, with the failed workloads before the others.

    Every other object keeps its place: configuration stays before all workloads.
    """
    followed = {target.ref for target in plan.targets}
    own = sorted((ref for ref in refs if ref in followed), key=lambda ref: ref not in failed)
    workloads = iter(own)
    for ref in refs:
        yield next(workloads) if ref in followed else ref
