"""What an attempt writes down before each leg: its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.core.attempt.late_configuration import collect_late
from gate.core.attempt.state import Attempt
from gate.core.model.body import Body, contains
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite
from gate.core.plan.record import Followed, Kept, Reach, Record, RemovedPod
from gate.core.plan.rollback_plan import content
from gate.core.plan.taken_fields import removes_taken_fields
from gate.core.plan.workload_body import is_resumption
from gate.core.rollout.causes import Cause


def record_of(plan: Plan) -> Record:
    """Return the record of an attempt on its way out.

    An attempt that finishes another has that one's record, with its own answer to a failure: if
    it dies as well, the next one has to take back what it was taking back.
    """
    if plan.resumed is not None:
        found = plan.resumed.record
        on_failure = plan.policy.response.on_failure
        response = replace(found.policy.response, on_failure=on_failure)
        policy = replace(found.policy, response=response)
        return replace(found, policy=policy, target_set=plan.target_set)
    budgets = replace(plan.policy.budgets, evidence_seconds=0.0)
    writes = _select_kept(plan)
    replaced = {write.ref for write in plan.writes if write.verb is Verb.DELETE}
    return Record(
        command=plan.command,
        leg=Leg.FORWARD,
        objects=tuple(_keep_objects(plan, writes)),
        followed=tuple(
            Followed(
                one.ref,
                one.baseline,
                phase=one.phase,
                is_replaced=one.ref in replaced,
                pods_before=one.snapshot.own.before,
                undone=one.snapshot.undone,
            )
            for one in plan.targets
        ),
        policy=replace(plan.policy, checks=(), budgets=budgets),
        checks=tuple(check.name for check in plan.policy.checks if check.decides),
        target_set=plan.target_set,
        origin=plan.origin,
    )


def _keep_objects(plan: Plan, writes: Mapping[Ref, PlannedWrite]) -> Iterator[Kept]:
    """Yield what the attempt writes, and what only its way back would write beside that."""
    for one in plan.objects:
        if one.ref in writes:
            yield _make_kept(plan, one, writes[one.ref])
        elif writes and one.ref in plan.target_set.members and isinstance(one.before, Known):
            yield _keep_member(one.ref, one.before.value)


def _select_kept(plan: Plan) -> dict[Ref, PlannedWrite]:
    """Return the first write of each object that rolls something out: its apply, or its resume."""
    kept: dict[Ref, PlannedWrite] = {}
    resumed = [one for one in plan.writes if is_resumption(one.body, one.ref)]
    for write in (*(one for one in plan.writes if one.verb is Verb.APPLY), *resumed):
        kept.setdefault(write.ref, write)
    return kept


def record_now(attempt: Attempt) -> Record:
    """Return the record of an attempt as it is now; on the way back it has the reason."""
    record = _with_removed(attempt, record_of(attempt.plan))
    if attempt.course.leg is Leg.FORWARD:
        return record
    followed = tuple(
        replace(
            one,
            why=_found_against(attempt, one.ref) or one.why,
            taken_back=_find_taken_back(attempt, one.ref) or one.taken_back,
            returned_before=_find_late(attempt, one),
        )
        for one in record.followed
    )
    objects = tuple(
        replace(one, reach=_find_reach(attempt, one.ref)) if _is_missed(attempt, one.ref) else one
        for one in record.objects
    )
    why = _why(attempt) or record.why
    return replace(record, leg=Leg.BACK, why=why, objects=objects, followed=followed)


def _find_late(attempt: Attempt, followed: Followed) -> tuple[Ref, ...]:
    """Return the configuration that a workload was returned before, as a recovery found it."""
    resumed = attempt.plan.resumed
    return collect_late(resumed, followed) if resumed is not None else ()


def _find_taken_back(attempt: Attempt, ref: Ref) -> str:
    """Return the key of the version that the way back takes back."""
    rollout = attempt.workloads.rollouts.get(ref)
    snapshot = attempt.workloads.snapshots.get(ref) if rollout is None else rollout.snapshot
    return "" if snapshot is None else snapshot.taken_back


def _with_removed(attempt: Attempt, record: Record) -> Record:
    """Return the record with the pods that are removed because they block a rollout."""
    removals = attempt.workloads.replacements.values()
    if not removals:
        return record
    followed = tuple(
        replace(
            one,
            removed=tuple(
                RemovedPod(each.pod, each.uid) for each in removals if each.workload == one.ref
            ),
        )
        for one in record.followed
    )
    return replace(record, followed=followed)


def _find_reach(attempt: Attempt, ref: Ref) -> Reach:
    """Return what is known of the write of an object that no answer showed to be done.

    A gate that died on its way out may have sent it, whatever was found of the object since.
    """
    undecided, refused = attempt.writes.set_aside.get(ref), attempt.result.rejection
    is_in_doubt = undecided is not None and undecided.uncertain
    is_refused = refused is not None and refused.ref == ref
    refusal = Cause(refused.reason, refused.message) if refused is not None and is_refused else None
    if attempt.plan.resumed is not None and not is_in_doubt:
        return Reach(refusal=refusal, is_open=True)
    return Reach(not is_in_doubt, is_in_doubt, refusal)


def _is_missed(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the way out ended without an answer that an object was written."""
    resumed, ledger = attempt.plan.resumed, attempt.ledger
    if resumed is not None and resumed.record.leg is Leg.BACK:
        return False
    lost = resumed.unkept if resumed is not None else ()
    return ref not in ledger.written and ref not in lost


def _found_against(attempt: Attempt, ref: Ref) -> tuple[Cause, ...]:
    failure = attempt.result.failures.get(ref)
    return (failure.cause, *failure.causes) if failure is not None else ()


def _why(attempt: Attempt) -> tuple[Cause, ...]:
    led_back = [*attempt.result.failures.values()]
    led_back += [attempt.result.why_back] if attempt.result.why_back is not None else []
    return next(((ending.cause, *ending.causes) for ending in led_back), ())


def _keep_member(ref: Ref, live: LiveObject) -> Kept:
    """Return an object of the set that a failure returns to and that the way out does not write."""
    return Kept(
        ref,
        Known(live),
        replace(live, resource_version=""),
        FIELD_MANAGER,
        uid=live.uid,
        resource_version=live.resource_version,
        changes=False,
        reach=Reach(is_unreached=True),
    )


def _make_kept(plan: Plan, planned: PlannedObject, write: PlannedWrite) -> Kept:
    before = planned.before.value if isinstance(planned.before, Known) else None
    trial = planned.trial
    return Kept(
        planned.ref,
        planned.before,
        replace(trial, resource_version="") if trial is not None else write.body,
        write.field_manager,
        uid=before.uid if before is not None else "",
        resource_version=before.resource_version if before is not None else "",
        changes=before is None
        or _changes(before, trial, write.body)
        or removes_taken_fields(planned, plan.writes),
        forced=write.force,
        scaler=write.scaler,
    )


def _changes(before: LiveObject, trial: LiveObject | None, sent: Body) -> bool:
    if trial is not None:
        return content(before.body) != content(trial.body)
    return not contains(sent.thaw(), before.body.thaw())
