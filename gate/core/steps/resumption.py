"""Goes on from the record of an attempt that died: a plan for the same machine.

Forward where all of it stands and is complete, back otherwise,
hands off what somebody else has taken over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from gate.core.attempt.following import applied_found, applied_of, start_following
from gate.core.attempt.last_look import LeftObject
from gate.core.attempt.state import Attempt, Ending, Rejection
from gate.core.checks.spec import OnInconclusive
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.journal_record import Followed, Kept, Record, Resumed
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan, PlannedObject, Target, plan_to_take_back
from gate.core.plan.rollback_plan import WrittenObject, writes_back
from gate.core.rollout.causes import Cause
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.snapshot import Snapshot
from gate.core.steps.object_state import Standing, standing, standing_of_member, trial
from gate.core.steps.own_deletions import find_deleted
from gate.core.writes.removed_owners import are_owners_removed

UNDONE: Final = CleanText("an undo takes back what the gate had left")
"""Why an attempt goes back that may have been complete."""

Found = Mapping[Ref, Fact[LiveObject]]
"""What is live of the record's objects; Unknown of none of them."""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The record's objects by whose they are."""

    record: Record
    found: Found
    by_ref: Mapping[Ref, Standing]

    def of(self, standing: Standing) -> list[Kept]:
        return [kept for kept in self.record.objects if self.by_ref[kept.ref] is standing]

    def live(self, ref: Ref) -> LiveObject | None:
        fact = self.found[ref]
        return fact.value if isinstance(fact, Known) else None


def resume(
    record: Record,
    found: Found,
    snapshots: Mapping[Ref, Snapshot],
    at: float,
    *,
    takes_back: bool = False,
) -> Plan | None:
    """Return the plan that finishes an attempt; None where nothing of it is left.

    `snapshots` are of the Deployments that it followed, `at` is monotonic seconds. `takes_back`
    is whether somebody undoes it: it goes back, complete or not, where what served is known.
    """
    standings = {kept.ref: _standing(record, kept, found[kept.ref]) for kept in record.objects}
    sorted_ = _Sorted(record, found, standings)
    if record.leg is Leg.FORWARD and _is_untouched(sorted_):
        return None
    resumed = Resumed(
        record=record,
        written=FrozenMap(_find_restorable(sorted_)),
        restored=FrozenMap(_find_restored(sorted_)),
        unkept=FrozenMap(_unkept(sorted_)),
        departed=FrozenMap(_find_departed(sorted_)),
        left_alone=tuple(
            kept.ref for kept in sorted_.of(Standing.OTHERS) if not _is_followed(record, kept.ref)
        ),
    )
    plan = Plan(
        command="recover",
        targets=tuple(_target(one, snapshots[one.ref]) for one in record.followed),
        objects=tuple(PlannedObject(kept.ref, kept.before, trial(kept)) for kept in record.objects),
        writes=(),
        policy=record.policy,
        resumed=resumed,
        target_set=record.target_set,
    )
    is_undone = takes_back and all(isinstance(one.baseline, Known) for one in plan.targets)
    if record.leg is Leg.FORWARD and (is_undone or _is_half_applied(sorted_)):
        plan = plan_to_take_back(plan)
    back = record.leg is Leg.BACK or is_undone or _goes_back(plan, sorted_, at)
    lost = FrozenMap(_find_lost(sorted_)) if back else FrozenMap()
    return replace(plan, resumed=replace(resumed, back=back, lost=lost, undone=is_undone))


def _is_untouched(sorted_: _Sorted) -> bool:
    """Tell whether all that an attempt was to change is as before, and nobody else took over.

    A write that changes nothing leaves no trace: done or not, what it was to leave stands.
    """
    written = sorted_.of(Standing.WRITTEN)
    if sorted_.of(Standing.OTHERS) or any(kept.changes for kept in written):
        return False
    return _is_half_applied(sorted_) or not written


def _standing(record: Record, kept: Kept, fact: Fact[LiveObject]) -> Standing:
    """Tell whose an object is; one that we never wrote and looks so is somebody else's doing."""
    body = record.target_set.bodies.get(kept.ref)
    if record.leg is Leg.BACK and body is not None:
        found = standing_of_member(kept, fact, body)
    else:
        found = standing(kept, fact)
    is_theirs = found is Standing.WRITTEN and kept.changes and kept.is_unreached
    return Standing.OTHERS if is_theirs else found


def _is_followed(record: Record, ref: Ref) -> bool:
    return any(one.ref == ref for one in record.followed)


def _target(followed: Followed, snapshot: Snapshot) -> Target:
    baseline = followed.baseline
    return Target(followed.ref, snapshot, Absent() if baseline is None else Known(baseline))


# -- what follows from it --------------------------------------------------------------------------


def _find_restorable(sorted_: _Sorted) -> dict[Ref, LiveObject]:
    """Return what can be restored of what was written."""
    lives = ((kept, sorted_.live(kept.ref)) for kept in sorted_.of(Standing.WRITTEN))
    return {
        kept.ref: live
        for kept, live in lives
        if live is not None and _can_return(sorted_.record, kept)
    }


def _unkept(sorted_: _Sorted) -> dict[Ref, LiveObject]:
    """Return what was written of which nobody knows what it returns to."""
    lives = ((kept, sorted_.live(kept.ref)) for kept in sorted_.of(Standing.WRITTEN))
    return {
        kept.ref: live
        for kept, live in lives
        if live is not None and not _can_return(sorted_.record, kept)
    }


def _find_restored(sorted_: _Sorted) -> dict[Ref, LiveObject]:
    """Return what the attempt had taken back; on its way out nothing was."""
    if sorted_.record.leg is Leg.FORWARD:
        return {}
    lives = ((kept, sorted_.live(kept.ref)) for kept in sorted_.of(Standing.BEFORE))
    members = sorted_.record.target_set.bodies
    return {
        kept.ref: live
        for kept, live in lives
        if live is not None and (_is_known_changed(kept) or kept.ref in members)
    }


def _is_known_changed(kept: Kept) -> bool:
    """Tell whether an object that is as before was changed by then: its gate came to write it."""
    return kept.changes and not kept.is_unreached


def _find_departed(sorted_: _Sorted) -> dict[Ref, Cause]:
    departed: dict[Ref, Cause] = {}
    for followed in sorted_.record.followed:
        ref = followed.ref
        if sorted_.by_ref.get(ref) is not Standing.OTHERS and not _put_back(sorted_, ref):
            continue
        gone = isinstance(sorted_.found[ref], Absent)
        reason = Reason.DELETED if gone else Reason.SUPERSEDED
        text = "somebody deleted it" if gone else "somebody else has changed it"
        departed[ref] = Cause(reason, CleanText(f"{text} since that attempt began"))
    return departed


def _put_back(sorted_: _Sorted, ref: Ref) -> bool:
    """Tell whether a failed version that was to be paused is what it was before: not by a gate."""
    record = sorted_.record
    paused = record.leg is Leg.BACK and record.policy.on_failure is OnFailure.PAUSE
    changed = any(kept.ref == ref and kept.changes for kept in record.objects)
    return paused and changed and sorted_.by_ref.get(ref) is Standing.BEFORE


def _find_lost(sorted_: _Sorted) -> dict[Ref, Cause]:
    """Return what was changed and is not kept, so that nobody can restore it."""
    return {
        kept.ref: Cause(Reason.NO_BASELINE, CleanText(kept.before.why))
        for kept in sorted_.of(Standing.WRITTEN)
        if kept.changes and not _can_return(sorted_.record, kept)
        if isinstance(kept.before, Unknown)
    }


def _can_return(record: Record, kept: Kept) -> bool:
    """Tell whether it is known what an object returns to."""
    return kept.ref in record.target_set.bodies or not isinstance(kept.before, Unknown)


def _goes_back(plan: Plan, sorted_: _Sorted, at: float) -> bool:
    """Decide for an attempt that was on its way out."""
    ours = {ref for ref in sorted_.by_ref if sorted_.by_ref[ref] is not Standing.OTHERS}
    if _is_half_applied(sorted_):
        return True
    if _is_held(plan, ours, at):
        return False
    record = sorted_.record
    if record.checks and record.policy.on_inconclusive is OnInconclusive.ROLLBACK:
        return True
    if _complete(plan, ours, at):
        return False
    departed = frozenset(one.ref for one in plan.targets) - ours
    back = writes_back(plan, written_objects(plan), departed, frozenset(ours))
    return any(write.verb is Verb.APPLY for write in back)


def _is_half_applied(sorted_: _Sorted) -> bool:
    """Tell whether an attempt on its way out did not come to all that it was to change."""
    return any(kept.changes for kept in sorted_.of(Standing.BEFORE))


def _is_held(plan: Plan, ours: set[Ref], at: float) -> bool:
    """Tell whether all that is not complete was paused half-way.

    Writing there moves no pod. Where the pause came before the first new pod, a return is
    complete at once, and is none of these.
    """
    waiting = [one for one in plan.targets if one.ref in ours and not _is_complete(plan, one, at)]
    return bool(waiting) and all(map(_is_paused_half_way, waiting))


def _is_paused_half_way(target: Target) -> bool:
    live = target.snapshot.live
    if live is None or not live.paused:
        return False
    name = target.baseline.value.replica_set if isinstance(target.baseline, Known) else ""
    wanted = live.replicas
    pods = [one for one in target.snapshot.list_owned() if one.status_replicas]
    return [(one.name, one.status_replicas, one.available_replicas) for one in pods] != [
        (name, wanted, wanted)
    ]


def _complete(plan: Plan, ours: set[Ref], at: float) -> bool:
    """Tell whether every Deployment that is ours is complete by the strict predicate."""
    followed = [target for target in plan.targets if target.ref in ours]
    return all(_is_complete(plan, target, at) for target in followed)


def _is_complete(plan: Plan, target: Target, at: float) -> bool:
    live = target.snapshot.live
    if live is None:
        return False
    rollout = Rollout.start(applied_found(at, live), target.snapshot, plan.policy)
    return rollout.is_complete(live)


def written_objects(plan: Plan) -> FrozenMap[Ref, WrittenObject]:
    """Return what the attempt had written, as it would have it itself."""
    if plan.resumed is None:
        return FrozenMap()
    kept = {one.ref: one for one in plan.resumed.record.objects}
    lives = plan.resumed.written.items()
    return FrozenMap((ref, _written_object(kept[ref], live)) for ref, live in lives)


def _written_object(kept: Kept, live: LiveObject) -> WrittenObject:
    before = kept.before.value if isinstance(kept.before, Known) else None
    after = live
    if isinstance(kept.expected, LiveObject) and live.deployment is None:
        # What others have changed since is told from what our write had left.
        after = replace(kept.expected, uid=live.uid, resource_version="")
        if isinstance(kept.before, Absent):
            # Somebody else may have created it just before our write: its owners tell.
            after = replace(after, managed=live.managed)
    if live.deployment is not None and isinstance(kept.expected, LiveObject):
        after = _as_expected(kept.expected, live, kept.field_manager)
    written = WrittenObject(before, after, kept.forced, kept.autoscaled, kept.field_manager)
    # No answer is kept: where no other manager owns anything in it, the dead gate made it.
    is_created = Known(written.created)
    return replace(written, is_created=is_created) if written.created else written


def _as_expected(expected: LiveObject, live: LiveObject, manager: str) -> LiveObject:
    """Return a Deployment as our write left it, as far as its live state does not tell any more.

    Where somebody has removed all managed fields, whose they were and what others have changed
    beside is told from what the server had said that our write would make.
    """
    after = replace(expected, uid=live.uid)
    if not are_owners_removed(manager, after, live):
        return live
    return replace(live, body=expected.body, managed=expected.managed, resource_version="")


# -- the attempt that goes on ----------------------------------------------------------------------


def taken_up(attempt: Attempt, resumed: Resumed) -> Attempt:
    """Return an attempt as far as the one had come whose record was found."""
    written = written_objects(attempt.plan)
    deleted = find_deleted(attempt.plan, resumed, written)
    written = FrozenMap({**written, **deleted})
    attempt = replace(
        attempt,
        ledger=replace(
            attempt.ledger,
            live=FrozenMap({**attempt.ledger.live, **resumed.written}),
            written=written,
            left=FrozenMap(_collect_left(written, resumed.restored)),
            restored=resumed.restored,
            left_alone=resumed.left_alone,
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
        ),
    )
    for target in attempt.plan.targets:
        attempt = _follow_target(attempt, target, written.get(target.ref))
    return attempt


def _collect_left(
    written: Mapping[Ref, WrittenObject], restored: Mapping[Ref, LiveObject]
) -> dict[Ref, LeftObject]:
    """Return what the attempt has left so far, as it was found: what was sent back is not kept."""
    went_out = {
        ref: LeftObject(one.after, None, one.field_manager, one.autoscaled)
        for ref, one in written.items()
    }
    return {**went_out, **{ref: LeftObject(live) for ref, live in restored.items()}}


def _follow_target(attempt: Attempt, target: Target, written: WrittenObject | None) -> Attempt:
    live = target.snapshot.live
    if live is None or target.ref in attempt.interference.departures:
        return attempt
    if written is None:
        return start_following(attempt, applied_found(attempt.now, live), target.snapshot)
    applied = applied_of(attempt.now, written.before, written.after, written.field_manager)
    return start_following(attempt, applied, target.snapshot)


def failures_found(resumed: Resumed) -> FrozenMap[Ref, Ending]:
    """Return which Deployments led an attempt back; empty of a record that does not say."""
    return FrozenMap((one.ref, _failure(one.why)) for one in resumed.record.followed if one.why)


def _failure(why: tuple[Cause, ...]) -> Ending:
    first, *rest = why
    return Ending(Outcome.FAILED, first.reason, first.message, tuple(rest))


def why_resumed(resumed: Resumed) -> Ending:
    """Return what leads an attempt back that was found in its record."""
    causes = resumed.record.why
    if causes:
        return _failure(causes)
    if resumed.undone:
        return Ending(Outcome.FAILED, Reason.INTERRUPTED, UNDONE)
    text = "the gate ended before the new version was complete"
    if resumed.may_still_run:
        text = "its lock was released before the new version was complete; its gate may still run"
    return Ending(Outcome.FAILED, Reason.INTERRUPTED, CleanText(text))
