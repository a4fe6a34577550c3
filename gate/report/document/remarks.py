"""Warnings about a finished attempt: what a reader would otherwise not expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.core.attempt.last_look import REPLICAS, FindingKind
from gate.core.attempt.record import record_of
from gate.core.attempt.state import Attempt
from gate.core.endings.unwritten import describe_open_write
from gate.core.kinds.registry import has_way_back
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import WELL, Outcome, Reason
from gate.core.plan.forced_fields import lost_fields
from gate.core.plan.kept_otherwise import describe_kept_otherwise, find_kept_otherwise
from gate.core.plan.leg import Leg
from gate.core.plan.plan import OtherUse, describe_use
from gate.core.plan.replica_ownership import REPLICAS_PATH, Scaler, describe_number
from gate.core.plan.rollback_plan import find_versions, is_of_template
from gate.core.readiness.object_needs import why_kept
from gate.core.rollout.policy import OnFailure, OnFirstFailure
from gate.core.writes.authorship import find_changers, name_scaler
from gate.core.writes.failure_response import find_response
from gate.core.writes.order import answers_lost
from gate.core.writes.returned_by_others import describe_returned
from gate.report.document.late_configuration import describe_late, describe_unreturned
from gate.report.document.removed_pods import describe_not_removed, describe_removed
from gate.report.document.running_pods import is_left_paused, is_scaled_to_zero
from gate.report.document.set_meanwhile import describe_set_meanwhile
from gate.report.document.unread_objects import describe_unread
from gate.report.document.versions import latest_snapshot
from gate.report.document.workload_remarks import workload_warnings

_SCALED_TO_ZERO: Final = "is scaled to zero, as --on-first-failure asks"


def remarks(attempt: Attempt, *, is_locked: bool = False) -> list[str]:
    """Return the warnings, one line each; from a lock the next apply knows that a pause is ours."""
    scaled = find_scaled(attempt)
    return [
        *_iter_doubts(attempt),
        *_vacuous(attempt),
        *_iter_unclear(attempt),
        *workload_warnings(attempt),
        *_not_restored(attempt, is_locked=is_locked),
        *_kept_beside_new(attempt),
        *_iter_returned_by_others(attempt),
        *describe_late(attempt).values(),
        *describe_unreturned(attempt).values(),
        *describe_not_removed(attempt),
        *describe_removed(attempt),
        *_not_paused_again(attempt),
        *_iter_paused(attempt),
        *_iter_autoscaled(attempt),
        *describe_set_meanwhile(attempt),
        *_iter_taken_fields(attempt),
        *_iter_set_before(attempt),
        *_iter_kept_otherwise(attempt),
        *_iter_scaled(attempt, scaled),
        *_iter_dropped_paths(attempt, scaled),
        *_iter_kept_paths(attempt),
        *_refused_meanwhile(attempt),
        *_uncertain(attempt),
        *_uncertain_creations(attempt),
        *describe_unread(attempt),
        *_cut_window(attempt),
    ]


def _iter_doubts(attempt: Attempt) -> Iterator[str]:
    """Say what was found of a version that is complete or paused, and was not found out again."""
    applied, checks = attempt.plan.target_set.applied, attempt.plan.policy.checks
    for ref, doubt in applied.doubts.items():
        ending, said = attempt.result.endings.get(ref), f"{attempt.plan.name_of(ref)}: {doubt}"
        if ending is not None and ending.outcome is Outcome.VERIFIED:
            is_asked = any(check.decides and check.is_about(ref) for check in checks)
            is_alone = ref in applied.left_by_check and not is_asked
            alone = "this run judged its pods alone, so " if is_alone else ""
            yield f"{said}; {alone}history does not call it verified"
        elif ending is not None and ending.reason is Reason.PAUSED:
            yield said


def _vacuous(attempt: Attempt) -> Iterator[str]:
    name = attempt.plan.name_of
    for ref, ending in attempt.result.endings.items():
        empty = ending.outcome is Outcome.ROLLED_BACK and is_scaled_to_zero(attempt, ref)
        if ending.reason is Reason.VACUOUS:
            yield f"{name(ref)}: {_when_empty(attempt, ref)}: nothing was shown to work"
        elif ending.outcome is Outcome.APPLIED:
            yield f"{name(ref)}: {_without_rollout(attempt, ref)}"
        elif empty:
            nothing = "nothing serves, and nothing was shown to work"
            yield f"{name(ref)} went back, but {_when_empty(attempt, ref)}: {nothing}"


def _iter_unclear(attempt: Attempt) -> Iterator[str]:
    """Say why a failure did not return to what ran before, where nobody can tell if it served."""
    for target in attempt.plan.targets:
        ending, before = attempt.result.endings.get(target.ref), target.baseline
        failed = ending is not None and ending.outcome is Outcome.FAILED
        if failed and isinstance(before, Unknown) and before.why:
            unclear = (
                "nobody can tell whether what ran before ever served, so nothing returns to it"
            )
            yield f"{attempt.plan.name_of(target.ref)}: {unclear}: {before.why}"


def _when_empty(attempt: Attempt, ref: Ref) -> str:
    snapshot = latest_snapshot(attempt, ref)
    live = snapshot.live if snapshot is not None else None
    return "no pod ran" if live is None else live.when_empty


def _without_rollout(attempt: Attempt, ref: Ref) -> str:
    """Say how much of what was applied runs where nothing rolls, as with `OnDelete`."""
    snapshot = latest_snapshot(attempt, ref)
    current = snapshot.current() if snapshot is not None else None
    count = snapshot.count_pods(current).created if snapshot and current else 0
    if not count:
        return "no pod runs what was applied, so nothing was shown to work"
    run = "1 pod runs" if count == 1 else f"{count} pods run"
    return f"{run} what was applied, the others do not follow by themselves: it was not verified"


def _cut_window(attempt: Attempt) -> Iterator[str]:
    """Warn of a bake window that the budget cut short because a version was not steady in it."""
    wanted = attempt.plan.policy.budgets.bake_seconds
    watched = attempt.leg_ends_at - attempt.course.baked_since
    if attempt.outcome in WELL and watched < wanted:
        yield f"complete again late: watched for the last {watched:.0f} of {wanted:.0f} s alone"


def _not_restored(attempt: Attempt, *, is_locked: bool) -> Iterator[str]:
    """Warn of what the way back did not restore, or what else it did not do."""
    name = attempt.plan.name_of
    pauses = attempt.plan.policy.response.on_failure is OnFailure.PAUSE
    for ref in attempt.ledger.patched:
        end = _describe_pause(attempt, ref, is_locked=is_locked) if pauses else _SCALED_TO_ZERO
        yield f"{name(ref)} {end}"
    for ref in attempt.ledger.left_to_others:
        if ref not in attempt.ledger.findings:
            yield f"{name(ref)} was changed by somebody else meanwhile, and left alone"
    for ref, refusal in attempt.writes.refusals.items():
        yield f"{name(ref)} could not be {find_response(attempt, refusal)}: {refusal.message}"
    for ref, other in attempt.plan.target_set.shared.items() if attempt.ledger.restored else ():
        as_needed = f"{name(ref)} is as {name(other)} was verified with it since"
        yield f"{as_needed}: what serves again was verified with it in another state"
    for ref, state in attempt.plan.target_set.other_run_returns.items():
        if ref in attempt.ledger.restored:
            yield f"{name(ref)} went back to {state}"


def _kept_beside_new(attempt: Attempt) -> Iterator[str]:
    """Name what was there before and stays as a failed apply of new workloads alone wrote it."""
    written, response = attempt.ledger.written, attempt.plan.policy.response
    created = [written[ref].before is None for ref in find_versions(attempt.plan, written)]
    is_kept = bool(created) and all(created) and response.on_failure is OnFailure.ROLLBACK
    if attempt.outcome not in (Outcome.FAILED, Outcome.ROLLED_BACK) or not is_kept:
        return
    for ref, one in written.items():
        is_there = one.before is not None and one.changed and has_way_back(ref)
        if is_there and ref not in (*attempt.ledger.restored, *attempt.ledger.left_to_others):
            kept = f"{attempt.plan.name_of(ref)} keeps what this run wrote, and others may use it"
            yield f"{kept}: to return it, apply what it was before"


def _describe_pause(attempt: Attempt, ref: Ref, *, is_locked: bool) -> str:
    """Say what ends a pause of ours: an undo only if something served that it can return to."""
    apply = "the next apply" if is_locked else "an apply with --resume"
    can_undo = isinstance(attempt.plan.target(ref).baseline, Known)
    first = "undo" if can_undo else "`resume`"
    return f"is paused, as --on-failure pause asks: {first} or {apply} resumes it"


def _not_paused_again(attempt: Attempt) -> Iterator[str]:
    """Warn of a pause that the attempt ended: what goes back has to serve, so it is unpaused."""
    name = attempt.plan.name_of
    for ref, live in attempt.ledger.restored.items():
        before, now = attempt.plan.before(ref), live.workload
        if before is None or before.workload is None or now is None:
            continue
        if before.workload.paused and not now.paused:
            yield f"{name(ref)} was paused before; it went back unpaused, and is not paused again"


def _iter_paused(attempt: Attempt) -> Iterator[str]:
    """Warn of what is complete and paused: nothing shows it until the next change."""
    name = attempt.plan.name_of
    for ref in attempt.result.endings:
        if is_left_paused(attempt, ref):
            until = "until somebody resumes it (`resume`)"
            yield f"{name(ref)} is paused: no change of it rolls out {until}"


def _iter_returned_by_others(attempt: Attempt) -> Iterator[str]:
    """Name who wrote back what the way back was to restore: the next apply may conflict with it."""
    said = (describe_returned(attempt, ref) for ref in attempt.ledger.restored)
    yield from filter(None, said)


def _iter_autoscaled(attempt: Attempt) -> Iterator[str]:
    """Warn if an autoscaler decides on replicas that the manifest of an apply names.

    If somebody scaled by hand, an apply takes them out of its body. An undo has no manifest, and
    keeps the live number whoever decides on it.
    """
    name = attempt.plan.name_of
    if attempt.plan.command != "apply":
        return
    for write in attempt.plan.writes:
        wanted = write.body.thaw().get("spec")
        if write.scaler.keeps_live and isinstance(wanted, dict) and "replicas" in wanted:
            whose = "its autoscaler's: the manifest's was left out"
            yield f"spec.replicas of {name(write.ref)} is {whose}"


def _iter_taken_fields(attempt: Attempt) -> Iterator[str]:
    """Name the managers that lost fields to a forced apply, or to the way back after it."""
    name = attempt.plan.name_of
    for ref, written in attempt.ledger.written.items():
        if written.forced:
            lost = lost_fields(written, attempt.ledger.restored.get(ref))
            for manager, paths in sorted(lost.items()):
                yield f"{name(ref)}: {_join_paths(paths)} taken from {manager}"


def _iter_set_before(attempt: Attempt) -> Iterator[str]:
    """Name what others put into the template of a version that failed.

    That it came before our write is known where the answer to that write was heard. A recovery
    goes by what it found, as that answer went with the gate that died.
    """
    resumed = attempt.plan.resumed
    found = resumed.written if resumed is not None else FrozenMap[Ref, LiveObject]()
    for ref in attempt.result.endings:
        written = attempt.ledger.written.get(ref)
        if written is None or written.before is None or not _is_at_fault(attempt, ref):
            continue
        when = "after the attempt had begun"
        if isinstance(written.is_created, Known):
            when = "just before this run wrote what failed"
        live = found.get(ref, written.after)
        changers = find_changers(written.before, live, written.field_manager)
        for manager, changed in changers.items():
            paths = tuple(path for path in changed if is_of_template(path))
            if paths:
                which = f"{attempt.plan.name_of(ref)}: {_join_paths(paths)}"
                yield f"{which} was set by {manager}, {when}"


def _is_at_fault(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload's own version has failed, and not what it is applied with alone."""
    if attempt.course.leg is Leg.BACK:
        return ref in attempt.result.failures
    ending = attempt.result.endings[ref]
    others = (Reason.SIBLING_FAILED, Reason.APPLY_REJECTED, Reason.INTERRUPTED)
    return ending.outcome is Outcome.FAILED and ending.reason not in others


def _iter_kept_otherwise(attempt: Attempt) -> Iterator[str]:
    """Name what the server keeps otherwise than the way out sent it; what went back does not."""
    for ref, written in attempt.ledger.written.items():
        paths = find_kept_otherwise(attempt.plan, written.after)
        if paths and ref not in attempt.ledger.restored:
            yield describe_kept_otherwise(attempt.plan, ref, paths)


def _iter_scaled(attempt: Attempt, scaled: Mapping[Ref, str]) -> Iterator[str]:
    """Say how many replicas of what went back are somebody's own, and whose."""
    for ref, scaler in scaled.items():
        before, back = attempt.plan.before(ref), attempt.ledger.restored[ref]
        was, runs = (one.workload.replicas for one in (before, back) if one and one.workload)
        numbers = f"keeps {describe_number(runs)}, not the {was} of before"
        yield f"{attempt.plan.name_of(ref)} {numbers}: {scaler} has scaled it since"


def find_scaled(attempt: Attempt) -> dict[Ref, str]:
    """Return who has scaled each workload that went back, unless the last look says so.

    Nor is it said where an autoscaler decides, or nobody knows who did it.
    """
    kept = record_of(attempt.plan).objects
    autoscaled = {one.ref for one in kept if one.scaler is Scaler.AUTOSCALER}
    looks = attempt.ledger.findings.items()
    said = {ref for ref, found in looks if set(REPLICAS) & set(found.paths)}
    before, written = attempt.plan.before, attempt.ledger.written
    restored = attempt.ledger.restored.items()
    scalers = {ref: name_scaler(before(ref), written.get(ref), back) for ref, back in restored}
    return {ref: who for ref, who in scalers.items() if who and ref not in autoscaled | said}


def _iter_dropped_paths(attempt: Attempt, scaled: Mapping[Ref, str]) -> Iterator[str]:
    """Name what a rollback that was written left; a number of replicas is said by itself."""
    for ref, dropped in attempt.ledger.dropped.items():
        if ref not in attempt.ledger.restored:
            continue
        theirs = tuple(one for one in dropped.theirs if ref not in scaled or one != REPLICAS_PATH)
        name = attempt.plan.name_of(ref)
        if theirs:
            yield f"the rollback left {_join_paths(theirs)} of {name} as others have it"
        if dropped.unfit:
            unfit = f"{_join_paths(dropped.unfit)} of {name}"
            why = f"the server refused it beside what others changed: {dropped.refusal}"
            yield f"the rollback did not return {unfit}: {why}"


def _iter_kept_paths(attempt: Attempt) -> Iterator[str]:
    name = attempt.plan.name_of
    for ref, paths in attempt.ledger.kept_paths.items():
        kept = f"{_join_paths(paths)} of {name(ref)}"
        yield f"the rollback kept {kept}: another run of the gate has added it"


def _refused_meanwhile(attempt: Attempt) -> Iterator[str]:
    """Name the write that ended the way out where the report is about a failure besides."""
    refused = attempt.result.rejection
    if refused is not None and attempt.result.failures:
        yield f"the writing ended at {attempt.plan.name_of(refused.ref)}: {refused.message}"


def _uncertain(attempt: Attempt) -> Iterator[str]:
    yield from (describe_open_write(attempt, ref) for ref in answers_lost(attempt))


def _uncertain_creations(attempt: Attempt) -> Iterator[str]:
    """Warn of what was not deleted because another run may have created it, or may use it."""
    name = attempt.plan.name_of
    policy = attempt.plan.policy
    failed = (Outcome.FAILED, Outcome.ROLLED_BACK, Outcome.ROLLBACK_FAILED)
    if attempt.outcome not in failed or policy.response.on_failure is not OnFailure.ROLLBACK:
        return
    prunes = policy.response.prune_created and (attempt.ledger.restored or attempt.ledger.deleted)
    followed = {target.ref for target in attempt.plan.targets}
    deletes_first = policy.response.on_first_failure is OnFirstFailure.DELETE
    for ref, written in attempt.ledger.written.items():
        if ref in attempt.plan.held and written.before is not None:
            yield from _describe_held(attempt, ref, attempt.plan.held[ref])
            continue
        if ref in attempt.plan.held and policy.response.prune_created:
            yield f"{name(ref)} was not deleted: {describe_use(attempt.plan.held[ref])}"
            continue
        if prunes and written.created and (kept := why_kept(ref)):
            yield f"{name(ref)} was not deleted: {kept}"
            continue
        asked = prunes or (deletes_first and ref in followed)
        if asked and written.creator_unknown:
            why = "the answer to its creation was lost, and another run may have made it"
            yield f"{name(ref)} was not deleted: {why}"


def _describe_held(attempt: Attempt, ref: Ref, held: OtherUse) -> Iterator[str]:
    """Say why an object did not go back, or what nobody could tell as it did."""
    name, found = attempt.plan.name_of(ref), attempt.ledger.findings.get(ref)
    if isinstance(held, Known):
        is_as_written = found is None or found.kind is FindingKind.AS_WRITTEN
        did = "wrote" if attempt.ledger.written[ref].changed else "found"
        left = f"left as this run {did} it" if is_as_written else "not returned"
        yield f"{name} was {left}: {held.value}"
    elif ref in attempt.ledger.restored:
        use = f"uses {name} as this run had written it"
        yield f"whether another run {use} is not known: {held.why}"
    elif not attempt.ledger.written[ref].changed:
        brought = "whether another run brought it and was not verified"
        yield f"{name} was left as this run found it: {brought} is not known: {held.why}"


def _join_paths(paths: dict[str, None] | tuple[str, ...]) -> str:
    names = list(paths)
    most = 3
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
