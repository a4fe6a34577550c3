"""Resumes from the record of an attempt that died: makes a plan for the same state machine.

Forward if everything was written and is complete or paused half-way; else back, as far as the
policy restores anything. So it goes with `--on-inconclusive rollback` where checks had still to
decide. It steps back from what somebody else has taken over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gate.core.attempt.ending import Ending
from gate.core.attempt.new_rollout import applied_found
from gate.core.attempt.parts import Rejection, Undecided
from gate.core.attempt.pod_replacement import Replacement, Stage
from gate.core.attempt.state import Attempt
from gate.core.checks.spec import OnInconclusive
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan, PlannedObject, Target, plan_to_take_back
from gate.core.plan.record import Followed, Kept, LedBack, Record, Resumed
from gate.core.plan.rollback_plan import writes_back
from gate.core.recovery.deleted_since import find_deleted_by_others
from gate.core.recovery.gone_after_end import find_gone_after_end
from gate.core.recovery.late_workload import with_set_of_late_workload
from gate.core.recovery.object_state import (
    ObjectState,
    classify_object,
    is_as_member,
    is_paused_again,
    trial,
)
from gate.core.recovery.own_deletions import find_deleted
from gate.core.recovery.reasons import find_refusal
from gate.core.recovery.recorded_writes import collect_written
from gate.core.recovery.replaced_objects import without_replaced
from gate.core.recovery.resumed_objects import collect_resumed
from gate.core.recovery.resumed_rollouts import follow_again
from gate.core.rollout.causes import Cause
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.snapshot import Snapshot

_NONE: Final = FrozenMap[Ref, LiveObject]()


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The record's objects, by who last changed them."""

    record: Record
    found: LiveFacts
    by_ref: Mapping[Ref, ObjectState]

    def of(self, state: ObjectState) -> list[Kept]:
        return [kept for kept in self.record.objects if self.by_ref[kept.ref] is state]

    def live(self, ref: Ref) -> LiveObject | None:
        fact = self.found[ref]
        return fact.value if isinstance(fact, Known) else None


def resume(
    record: Record,
    found: LiveFacts,
    snapshots: Mapping[Ref, Snapshot],
    at: float,
    *,
    takes_back: bool = False,
    returned: Mapping[Ref, LiveObject] = _NONE,
) -> Plan | None:
    """Return the plan that finishes an attempt, None if there is nothing to finish.

    `found` has every object of the record, none of them Unknown. `snapshots` are of the workloads
    that it followed, `at` is monotonic seconds. With `takes_back`, which an `undo` asks for, the
    attempt goes back, complete or not, if every workload that it followed has a baseline.
    `returned` are what its way back left otherwise than was sent, with the server's answers to the
    dry runs of their restorations.
    """
    record = with_set_of_late_workload(without_replaced(record, found), found)
    states = {
        kept.ref: ObjectState.WRITTEN
        if kept.ref in returned
        else _classify(record, kept, found[kept.ref])
        for kept in record.objects
    }
    deleted = dict.fromkeys(find_deleted_by_others(record, found, states), ObjectState.OTHERS)
    sorted_ = _Sorted(record, found, {**states, **deleted})
    if record.leg is Leg.FORWARD and _is_untouched(sorted_):
        return None
    resumed = Resumed(
        record=record,
        written=FrozenMap(_find_restorable(sorted_)),
        restored=FrozenMap(_find_restored(sorted_)),
        unkept=FrozenMap(_unkept(sorted_)),
        departed=FrozenMap(_find_departed(sorted_)),
        left_to_others=FrozenMap(
            (kept.ref, found[kept.ref])
            for kept in sorted_.of(ObjectState.OTHERS)
            if not _is_followed(record, kept.ref) and not _is_beside(record, kept)
        ),
    )
    plan = Plan(
        command="recover",
        targets=tuple(_target(one, snapshots[one.ref]) for one in record.followed),
        objects=tuple(
            PlannedObject(kept.ref, kept.before, trial(kept), returned=returned.get(kept.ref))
            for kept in record.objects
        ),
        writes=(),
        policy=record.policy,
        resumed=resumed,
        target_set=record.target_set,
    )
    is_undone = takes_back and all(isinstance(one.baseline, Known) for one in plan.targets)
    if record.leg is Leg.FORWARD and (is_undone or _is_half_applied(sorted_)):
        plan = plan_to_take_back(plan)
    return replace(plan, resumed=_with_way(resumed, plan, sorted_, at, is_undone=is_undone))


def _with_way(
    resumed: Resumed, plan: Plan, sorted_: _Sorted, at: float, *, is_undone: bool
) -> Resumed:
    """Return what was found with the way that the attempt goes on, and why if that is back."""
    is_led_back = sorted_.record.leg is Leg.BACK or is_undone
    if not is_led_back and not _goes_back(plan, sorted_, at):
        return replace(resumed, back=False)
    is_undecided = not is_led_back and not _is_half_applied(sorted_)
    is_undecided = is_undecided and _is_complete(plan, sorted_, at)
    led_back = LedBack(is_undone, sorted_.record.checks if is_undecided else ())
    return replace(resumed, back=True, lost=FrozenMap(_find_lost(sorted_)), led_back=led_back)


def _is_untouched(sorted_: _Sorted) -> bool:
    """Tell whether everything an attempt was to change is as before, and nobody else took over.

    A write that changes nothing leaves no trace: done or not, the object is as it should be.
    """
    written, others = sorted_.of(ObjectState.WRITTEN), sorted_.of(ObjectState.OTHERS)
    is_taken_over = not all(_is_beside(sorted_.record, kept) for kept in others)
    if is_taken_over or any(kept.changes for kept in written):
        return False
    return _is_half_applied(sorted_) or not written


def _classify(record: Record, kept: Kept, fact: Fact[LiveObject]) -> ObjectState:
    """Return who last changed an object.

    If it looks written but the record says that our write never reached it, others did it.
    """
    found = classify_object(kept, fact)
    body = record.target_set.members.get(kept.ref) if record.leg is Leg.BACK else None
    if body is not None and is_as_member(fact, body):
        return ObjectState.BEFORE
    if found is ObjectState.WRITTEN and kept.changes and kept.reach.is_unreached:
        return ObjectState.OTHERS
    is_to_be_restored = body is not None or is_paused_again(record, kept)
    is_to_be_restored = is_to_be_restored and found is ObjectState.BEFORE
    return ObjectState.WRITTEN if is_to_be_restored else found


def _is_followed(record: Record, ref: Ref) -> bool:
    return any(one.ref == ref for one in record.followed)


def _is_beside(record: Record, kept: Kept) -> bool:
    """Tell whether only a way back writes an object, and none was begun: others may change it."""
    return record.leg is Leg.FORWARD and kept.reach.is_unreached


def _target(followed: Followed, snapshot: Snapshot) -> Target:
    as_before = snapshot.with_pods_before(followed.pods_before).undo(followed.undone)
    return Target(followed.ref, as_before, followed.baseline, followed.phase)


# -- what follows from it --------------------------------------------------------------------------


def _find_restorable(sorted_: _Sorted) -> dict[Ref, LiveObject]:
    """Return the written objects that can be restored."""
    lives = ((kept, sorted_.live(kept.ref)) for kept in sorted_.of(ObjectState.WRITTEN))
    return {
        kept.ref: live
        for kept, live in lives
        if live is not None and _can_return(sorted_.record, kept)
    }


def _unkept(sorted_: _Sorted) -> dict[Ref, LiveObject]:
    """Return the written objects for which nothing to return to is known."""
    lives = ((kept, sorted_.live(kept.ref)) for kept in sorted_.of(ObjectState.WRITTEN))
    return {
        kept.ref: live
        for kept, live in lives
        if live is not None and not _can_return(sorted_.record, kept)
    }


def _find_restored(sorted_: _Sorted) -> dict[Ref, LiveObject]:
    """Return what the attempt had already restored; on the way out that is nothing.

    Nor is a member of the set without a body, which is as it was before at most.
    """
    if sorted_.record.leg is Leg.FORWARD:
        return {}
    lives = ((kept, sorted_.live(kept.ref)) for kept in sorted_.of(ObjectState.BEFORE))
    returns_to = sorted_.record.target_set
    return {
        kept.ref: live
        for kept, live in lives
        if live is not None and kept.ref not in returns_to.missing_members
        if _is_known_changed(kept) or kept.ref in returns_to.members
    }


def _is_known_changed(kept: Kept) -> bool:
    """Tell whether an object that is as before had been changed: the way out reached its write."""
    return kept.changes and kept.reach.is_known_written


def _find_departed(sorted_: _Sorted) -> dict[Ref, Cause]:
    departed: dict[Ref, Cause] = {}
    for followed in sorted_.record.followed:
        ref = followed.ref
        if sorted_.by_ref.get(ref) is not ObjectState.OTHERS and not _put_back(sorted_, ref):
            continue
        gone = isinstance(sorted_.found[ref], Absent)
        reason = Reason.DELETED if gone else Reason.SUPERSEDED
        text = "somebody deleted it" if gone else "somebody else has changed it"
        departed[ref] = Cause(reason, CleanText(f"{text} since that attempt began"))
    return departed


def _put_back(sorted_: _Sorted, ref: Ref) -> bool:
    """Tell whether a failed version that was to be paused is as before: no gate restored that."""
    record = sorted_.record
    paused = record.leg is Leg.BACK and record.policy.response.on_failure is OnFailure.PAUSE
    changed = any(kept.ref == ref and kept.changes for kept in record.objects)
    return paused and changed and sorted_.by_ref.get(ref) is ObjectState.BEFORE


def _find_lost(sorted_: _Sorted) -> dict[Ref, Cause]:
    """Return what was changed but cannot be restored, because the record does not keep it."""
    return {
        kept.ref: Cause(Reason.NO_BASELINE, CleanText(kept.before.why))
        for kept in sorted_.of(ObjectState.WRITTEN)
        if kept.changes and not _can_return(sorted_.record, kept)
        if isinstance(kept.before, Unknown)
    }


def _can_return(record: Record, kept: Kept) -> bool:
    """Tell whether the state that an object returns to is known."""
    return kept.ref in record.target_set.members or not isinstance(kept.before, Unknown)


def _goes_back(plan: Plan, sorted_: _Sorted, at: float) -> bool:
    """Tell whether an attempt that died on its way out goes back."""
    ours = _find_ours(sorted_)
    if _is_half_applied(sorted_):
        return True
    if _is_held(plan, at):
        return False
    record = sorted_.record
    if record.checks and record.policy.response.on_inconclusive is OnInconclusive.ROLLBACK:
        return True
    if _is_complete(plan, sorted_, at):
        return False
    departed = frozenset(one.ref for one in plan.targets) - ours
    back = writes_back(plan, collect_written(plan), departed, frozenset(ours))
    return any(write.verb is Verb.APPLY for write in back)


def _find_ours(sorted_: _Sorted) -> set[Ref]:
    return {ref for ref, state in sorted_.by_ref.items() if state is not ObjectState.OTHERS}


def _is_half_applied(sorted_: _Sorted) -> bool:
    """Tell whether an attempt on its way out died before it had made all of its changes."""
    gone = _find_gone(sorted_)
    return any(kept.changes and kept.ref not in gone for kept in sorted_.of(ObjectState.BEFORE))


def _find_gone(sorted_: _Sorted) -> frozenset[Ref]:
    """Return what had come to its end, or may have, and is gone since."""
    written = {kept.ref for kept in sorted_.of(ObjectState.WRITTEN)}
    there = {ref for ref, fact in sorted_.found.items() if isinstance(fact, Known)}
    return find_gone_after_end(sorted_.record, written, there)


def _is_held(plan: Plan, at: float) -> bool:
    """Tell whether every incomplete workload was paused half-way."""
    waiting = list_incomplete(plan, at)
    return bool(waiting) and all(map(is_paused_half_way, waiting))


def list_incomplete(plan: Plan, at: float) -> tuple[Target, ...]:
    """Return what a resumed attempt found incomplete, without what others have taken over."""
    departed = plan.resumed.departed if plan.resumed is not None else {}
    ours = (one for one in plan.targets if one.ref not in departed)
    return tuple(one for one in ours if not _is_found_complete(plan, one, at))


def is_paused_half_way(target: Target) -> bool:
    """Tell whether a pause holds a workload so that a write to it moves no pod.

    A pause before the first new pod does not count: a return is complete at once there.
    """
    live = target.snapshot.live
    if live is None or not live.paused:
        return False
    name = target.baseline.value.revision_name if isinstance(target.baseline, Known) else ""
    wanted = live.replicas
    owned = target.snapshot.list_owned()
    counts = [(one.name, target.snapshot.count_pods(one)) for one in owned]
    return [(name, count.created, count.available) for name, count in counts if count.created] != [
        (name, wanted, wanted)
    ]


def _is_complete(plan: Plan, sorted_: _Sorted, at: float) -> bool:
    """Tell whether every workload that is still ours is complete by the strict predicate."""
    there = _find_ours(sorted_) - _find_gone(sorted_)
    followed = [target for target in plan.targets if target.ref in there]
    return all(_is_found_complete(plan, target, at) for target in followed)


def _is_found_complete(plan: Plan, target: Target, at: float) -> bool:
    live = target.snapshot.live
    if live is None:
        return False
    rollout = Rollout.start(applied_found(at, live), target.snapshot, plan.policy)
    return rollout.is_complete(live)


# -- the attempt that goes on ----------------------------------------------------------------------


def taken_up(attempt: Attempt, resumed: Resumed) -> Attempt:
    """Return `attempt` advanced to where the recorded one had come."""
    written = collect_written(attempt.plan)
    deleted = find_deleted(attempt.plan, resumed, written)
    written = FrozenMap({**written, **deleted})
    attempt = replace(
        attempt,
        ledger=replace(
            attempt.ledger,
            live=FrozenMap({**attempt.ledger.live, **resumed.written}),
            written=written,
            left=FrozenMap(collect_resumed(resumed, written)),
            restored=resumed.restored,
            left_to_others=tuple(resumed.left_to_others),
        ),
        interference=replace(
            attempt.interference,
            departures=FrozenMap(
                (ref, Ending(Outcome.SUPERSEDED, why.reason, why.message))
                for ref, why in resumed.departed.items()
            ),
        ),
        writes=replace(
            attempt.writes,
            refusals=FrozenMap(
                (ref, Rejection(ref, why.reason, why.message)) for ref, why in resumed.lost.items()
            ),
            set_aside=FrozenMap(
                (kept.ref, Undecided(uncertain=True))
                for kept in resumed.record.objects
                if kept.reach.is_in_doubt and kept.ref not in written
            ),
        ),
    )
    refusal = find_refusal(resumed)
    attempt = replace(attempt, result=replace(attempt.result, rejection=refusal))
    for target in attempt.plan.targets:
        attempt = follow_again(attempt, target, written.get(target.ref))
    return replace(
        attempt, workloads=replace(attempt.workloads, replacements=_removals_of(attempt, resumed))
    )


def _removals_of(attempt: Attempt, resumed: Resumed) -> FrozenMap[str, Replacement]:
    """Return the pods whose removal the recorded attempt had decided: any may still be there."""
    return FrozenMap(
        (pod.uid, Replacement(one.ref, pod.name, pod.uid, Stage.RECORDED, attempt.now))
        for one in resumed.record.followed
        for pod in one.removed
    )
