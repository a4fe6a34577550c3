"""How an attempt answers a failure: roll back, pause, scale to zero, delete or nothing.

What this attempt changed is restored as one set (`target_set`), in the order of application,
configuration first, so that the baseline's pods never start with the configuration of the failed
version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gate.core.frozen import dataclass
from gate.core.kinds.registry import BOOKKEEPING, has_way_back
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Fact, Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.plan import Plan, PlannedWrite, failed_first
from gate.core.plan.replica_ownership import (
    Scaler,
    with_live_replicas,
    with_replicas_as_in,
    would_default_replicas,
    would_lose_data,
)
from gate.core.plan.return_ownership import after_take_over
from gate.core.plan.target_set import TargetSet
from gate.core.plan.workload_body import pause_body, without_pause
from gate.core.readiness.object_needs import why_kept
from gate.core.rollout.policy import OnFailure, OnFirstFailure
from gate.core.ssa import managed_fields
from gate.core.ssa.applied_fields import named_body
from gate.core.ssa.field_set import Fields, extract
from gate.core.ssa.irreversible_changes import why_irreversible
from gate.core.ssa.last_applied import has_last_applied, with_last_applied
from gate.core.ssa.unions import with_allocations
from gate.core.ssa.unowned_fields import claims_for_apply, claims_for_return

_WITHOUT_DEFAULTS = ("ConfigMap", "Secret")
"""Kinds whose unowned values nobody would set again; in others those are server defaults."""
_VOLATILE = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


@dataclass(frozen=True, slots=True)
class WrittenObject:
    """One object as this attempt left it.

    `before` is what it was before the attempt, None if there was none; `met` what our write met
    (`find_met`), None if not known. `after` is the answer to our latest write, as `field_manager`.
    `is_created` is whether the server answered 201, Unknown if that answer was lost.
    """

    before: LiveObject | None
    after: LiveObject
    forced: bool = False
    scaler: Scaler = Scaler.MANIFEST
    field_manager: str = FIELD_MANAGER
    is_created: Fact[bool] = Unknown("no answer was kept")
    met: LiveObject | None = None

    @property
    def created(self) -> bool:
        """Whether this attempt created the object, and not somebody else just before our write.

        Without an answer, an object in which other managers own fields does not count.
        """
        if self.before is not None:
            return False
        if isinstance(self.is_created, Known):
            return self.is_created.value
        managed = self.after.thaw_managed_fields()
        return not managed_fields.has_other_owners(managed, self.field_manager)

    @property
    def creator_unknown(self) -> bool:
        """Whether another run of the gate may have created the object at the same moment.

        It applies the same under the same field manager; only the answer 201 tells the runs apart.
        """
        return self.created and not isinstance(self.is_created, Known)

    @property
    def merged(self) -> bool:
        """Whether our apply went into an object that somebody else created just before."""
        answered = isinstance(self.is_created, Known)
        return self.before is None and answered and not self.created

    @property
    def changed(self) -> bool:
        """Whether the apply changed more than the server's bookkeeping."""
        found = self.met or self.before
        return found is None or content(found.body) != content(self.after.body)


def content(body: Body) -> dict[str, Any]:
    """Return an object without its status and the bookkeeping of server and controller."""
    value = body.thaw()
    value.pop("status", None)
    metadata = value.get("metadata", {})
    for key in _VOLATILE:
        metadata.pop(key, None)
    annotations = metadata.get("annotations", {})
    for key in BOOKKEEPING:
        annotations.pop(key, None)
    if not annotations:
        metadata.pop("annotations", None)
    return value


def spec_changed(before: LiveObject | None, after: LiveObject) -> bool:
    """Tell whether `spec` differs; an annotation alone makes no new version."""
    if before is None:
        return True
    return bool(content(before.body).get("spec") != content(after.body).get("spec"))


def writes_back(
    plan: Plan,
    written: Mapping[Ref, WrittenObject],
    departed: frozenset[Ref],
    failed: frozenset[Ref],
) -> tuple[PlannedWrite, ...]:
    """Return the writes that answer a failed verdict, none if nothing may be written.

    `departed` workloads were taken over by others; `failed` are those with a failed verdict.
    """
    if plan.policy.observe or not plan.may_retreat:
        return ()
    match plan.policy.response.on_failure:
        case OnFailure.KEEP:
            return ()
        case OnFailure.PAUSE:
            going = (ref for ref in sorted(failed - departed) if has_way_back(ref))
            paused = (ref for ref in going if ref in written)
            bodies = ((ref, pause_body(ref)) for ref in paused)
            return tuple(PlannedWrite(ref, Verb.MERGE, body) for ref, body in bodies if body)
        case OnFailure.ROLLBACK:
            return _rollback(plan, written, departed, failed)


def _rollback(
    plan: Plan,
    written: Mapping[Ref, WrittenObject],
    departed: frozenset[Ref],
    failed: frozenset[Ref],
) -> tuple[PlannedWrite, ...]:
    """Restore all that changed; if no changed workload can go back, the rest stays too."""
    returns_to = decided_plan(plan, written).target_set
    mine = {
        ref: written[ref]
        for ref in failed_first(plan, tuple(written), failed)
        if ref not in departed
        and has_way_back(ref)
        and (written[ref].changed or ref in returns_to.members)
    }
    restorable = mine.keys() - without_target(plan)
    rolled_out = find_versions(plan, mine)
    first = [
        write
        for ref, object_ in mine.items()
        if ref in rolled_out - restorable
        for write in _first_failure(plan, ref, object_)
    ]
    is_undone = rolled_out and rolled_out <= {one.ref for one in first if one.verb is Verb.DELETE}
    is_return = is_undone or goes_back(plan, rolled_out, restorable)
    going = restorable - returns_to.missing_members.keys() if is_return else set()
    restored = (one for ref, one in mine.items() if ref in going and not why_not_restored(one))
    back = [*(write for one in restored for write in restore(plan, returns_to, one)), *first]
    if is_return and plan.policy.response.prune_created:
        planned = {write.ref for write in back}
        gone = [ref for ref in reversed(mine) if _may_be_deleted(mine[ref]) and ref not in planned]
        back.extend(PlannedWrite(ref, Verb.DELETE, Body.of({})) for ref in gone)
    return tuple(back)


def find_versions(plan: Plan, changed: Collection[Ref]) -> set[Ref]:
    """Return the changed workloads whose version decides: none that comes before the others."""
    followed = (target.ref for target in plan.targets if target.phase is not Phase.BEFORE)
    return {ref for ref in followed if ref in changed}


def goes_back(plan: Plan, rolled_out: set[Ref], restorable: set[Ref]) -> bool:
    """Tell whether what was changed is to be restored.

    The other objects go back with a changed workload that existed before, and stay if it has to
    stay. A workload that this attempt created is no reason to leave the others with a
    configuration that is not theirs.
    """
    known_before = {one.ref for one in plan.objects if isinstance(one.before, Known)}
    there_before = {one.ref for one in plan.targets if has_way_back(one.ref)} & known_before
    if rolled_out & there_before:
        return bool(restorable & rolled_out)
    return bool(there_before) or not rolled_out


def without_target(plan: Plan) -> set[Ref]:
    """Return the workloads that cannot go back: one goes only to what served before."""
    return {target.ref for target in plan.targets if not isinstance(target.baseline, Known)}


def decided_plan(plan: Plan, written: Mapping[Ref, WrittenObject]) -> Plan:
    """Return the plan with the set that its way back returns to, as a rollback begins.

    An apply that broke off before it changed a workload takes back what little was written:
    then all is as before, whatever ran. A recovery that finds a rollback begun keeps what that
    one decided, as far as it still holds (`gate.core.recovery.resumption`).
    """
    if plan.resumed is not None and plan.resumed.record.leg is Leg.BACK:
        return plan
    found = [
        written.get(one.ref)
        for one in plan.targets
        if has_way_back(one.ref) and one.phase is not Phase.BEFORE
    ]
    is_changed = any(one is not None and one.changed for one in found)
    is_whole = bool(found) and all(one is not None for one in found)
    if is_changed or is_whole:
        return plan
    return replace(plan, target_set=replace(plan.target_set, is_set_aside=True))


def with_unwritten_members(
    plan: Plan, written: FrozenMap[Ref, WrittenObject], restored: Collection[Ref]
) -> FrozenMap[Ref, WrittenObject]:
    """Return `written` with the objects of the set that this attempt did not get to write.

    An apply that is refused half-way leaves some unwritten, but the set is restored whole. What is
    `restored` already needs nothing more.
    """
    members = plan.target_set.members
    left = ((ref, plan.before(ref)) for ref in members if ref not in (*written, *restored))
    found = {ref: WrittenObject(before, before) for ref, before in left if before is not None}
    if not found:
        return written
    whole = {**written, **found}
    order = [one.ref for one in plan.objects if one.ref in whole]
    return FrozenMap((ref, whole[ref]) for ref in dict.fromkeys([*order, *whole]))


def restore(plan: Plan, returns_to: TargetSet, object_: WrittenObject) -> Iterator[PlannedWrite]:
    """Yield the writes that return one object to the set, or to what it was before."""
    ref, by, forces = object_.after.ref, object_.field_manager, plan.policy.response.force_conflicts
    body, left = _member_body(returns_to, ref, object_), _find_left(plan, ref, object_)
    if body is not None:
        write = _member_write(ref, object_, body)
        claims = claims_for_apply(write.body.thaw(), *_thaw_written(object_))
        yield from after_take_over(write, left, by, claims, forces=forces)
    elif object_.merged:
        yield _release(ref, object_)
    elif object_.before is not None:
        write = _restoration(ref, object_, object_.before)
        claims = _left_behind(object_, object_.before, write)
        yield from after_take_over(write, left, by, claims, forces=forces)


def _find_left(plan: Plan, ref: Ref, object_: WrittenObject) -> LiveObject:
    """Return our write's answer, or its dry run: a recovery finds what others set since, too."""
    dry_run = plan.trial(ref) if plan.resumed is not None else None
    return object_.after if dry_run is None else dry_run


def irreversible(
    plan: Plan, written: Mapping[Ref, WrittenObject], departed: frozenset[Ref]
) -> FrozenMap[Ref, CleanText]:
    """Return which objects a rollback has to leave as our apply made them, and why.

    Empty if nothing goes back.
    """
    policy = plan.policy
    if (
        policy.observe
        or not plan.may_retreat
        or policy.response.on_failure is not OnFailure.ROLLBACK
    ):
        return FrozenMap()
    lasting = {ref for ref in written if not has_way_back(ref)}
    mine = {ref: w for ref, w in written.items() if ref not in departed | lasting and w.changed}
    rolled_out = find_versions(plan, mine)
    if rolled_out and without_target(plan).issuperset(rolled_out):
        return FrozenMap()
    reasons = ((ref, why_not_restored(object_)) for ref, object_ in mine.items())
    return FrozenMap((ref, CleanText(why)) for ref, why in reasons if why)


def why_not_restored(object_: WrittenObject) -> str:
    """Return why the server would refuse to restore an object, "" if it would not."""
    if object_.before is None:
        return ""
    return why_irreversible(object_.before.body.thaw(), object_.after.body.thaw())


def _thaw_written(object_: WrittenObject) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what our apply left, and who owns which field of it."""
    return object_.after.body.thaw(), object_.after.thaw_managed_fields()


def _left_behind(object_: WrittenObject, before: LiveObject, write: PlannedWrite) -> Fields | None:
    if write.field_manager != FIELD_MANAGER:
        return None
    after, managed = _thaw_written(object_)
    return claims_for_return(before.body.thaw(), after, managed, write.body.thaw())


def _member_body(returns_to: TargetSet, ref: Ref, object_: WrittenObject) -> Body | None:
    """Return the body to apply for a member of the set, None if it has none.

    It has kubectl's last-applied annotation if the object has it.
    """
    body = returns_to.members.get(ref)
    if body is not None:
        body = Body.of(without_pause(body.thaw()))
    if body is None or not has_last_applied(object_.after.body.thaw()):
        return body
    return Body.of(with_last_applied(body.thaw()))


def _member_write(ref: Ref, object_: WrittenObject, body: Body) -> PlannedWrite:
    """Return the apply of a member of the set: the number of replicas returns as if all did.

    A version names none. The live number is kept where that of before is not known.
    """
    if object_.before is None:
        return PlannedWrite(ref, Verb.APPLY, body, scaler=Scaler.PEOPLE)
    value = with_replicas_as_in(body.thaw(), _value_before(object_, object_.before))
    return PlannedWrite(ref, Verb.APPLY, Body.of(value), scaler=object_.scaler)


def _release(ref: Ref, object_: WrittenObject) -> PlannedWrite:
    """Return an apply without fields: it removes what only we own and leaves the rest."""
    return PlannedWrite(ref, Verb.APPLY, Body.of(named_body(ref, {})), object_.field_manager)


def _first_failure(plan: Plan, ref: Ref, object_: WrittenObject) -> tuple[PlannedWrite, ...]:
    if object_.merged:
        return (_release(ref, object_),)
    match plan.policy.response.on_first_failure:
        case OnFirstFailure.SCALE_TO_ZERO:
            return (PlannedWrite(ref, Verb.MERGE, Body.of({"spec": {"replicas": 0}})),)
        case OnFirstFailure.DELETE if _may_be_deleted(object_):
            return (PlannedWrite(ref, Verb.DELETE, Body.of({})),)
        case _:
            return ()


def _may_be_deleted(object_: WrittenObject) -> bool:
    return object_.created and not object_.creator_unknown and not why_kept(object_.after.ref)


def _restoration(ref: Ref, object_: WrittenObject, before: LiveObject) -> PlannedWrite:
    """Return the apply of what the gate had applied before.

    It removes the fields that only the new version had, leaves clean ownership, and lets the
    controller find the old revision by its template. A pause that the attempt ended is not set
    again.
    """
    if object_.field_manager != FIELD_MANAGER:
        return _given_back(ref, object_, before)
    value = _value_before(object_, before)
    body = with_allocations(without_pause(value), before.body.thaw(), object_.after.body.thaw())
    return PlannedWrite(ref, Verb.APPLY, Body.of(body), scaler=object_.scaler)


def _value_before(object_: WrittenObject, before: LiveObject) -> dict[str, Any]:
    """Return what the gate had applied before, and the number of replicas, whoever had set it."""
    value = managed_fields.restoration(
        before.body.thaw(),
        before.thaw_managed_fields(),
        object_.after.thaw_managed_fields(),
        forced=object_.forced,
        live_after=object_.after.body.thaw() if before.ref.kind in _WITHOUT_DEFAULTS else None,
    )
    if would_default_replicas(value, before, object_.after):
        value = with_live_replicas(value, before)
    if would_lose_data(before, object_.after):
        value = with_live_replicas(value, object_.after)
    return value


def _given_back(ref: Ref, object_: WrittenObject, before: LiveObject) -> PlannedWrite:
    """Return the apply that gives back what another manager of ours (that of `restart`) took."""
    manager = object_.field_manager
    taken = managed_fields.owned_fields(object_.after.thaw_managed_fields(), manager)
    value = extract(before.body.thaw(), taken) if taken else {}
    body = Body.of(named_body(ref, value))
    return PlannedWrite(ref, Verb.APPLY, body, manager, force=object_.forced)


def is_of_template(path: str) -> bool:
    """Tell whether a field belongs to a pod template, which goes back whole or not at all."""
    return path.startswith("spec.template")
