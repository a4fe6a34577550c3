"""What the first line says about several workloads: which decided, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.core.versions.return_doubts import describe_doubt
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.changed_parts import describe_change
from gate.report.words.fate import GONE, Fate, fate_of, fate_words, group_workloads
from gate.report.words.fault import (
    OF_CHECKS,
    find_fault_at_zero,
    is_restored,
    verb_of,
    why_unverified,
)
from gate.report.words.half_applied import (
    has_failed_itself,
    is_innocent,
    is_unchanged,
    is_unwritten,
    nothing_held,
)
from gate.report.words.object_names import kinds_of, some_names, workload_name
from gate.report.words.single_run import describe_end, describe_stay, stage_of
from gate.report.words.unfinished import find_undone_response
from gate.report.words.version_names import judged_words
from gate.report.words.worst import worst_workload

MOST_NAMED: Final = 3


def names_of(result: Result, workloads: list[WorkloadResult]) -> str:
    """Return the names of workloads, the first few of many, first the one that decided."""
    worst = worst_workload(result)
    ranked = sorted(workloads, key=lambda one: one is not worst)
    return some_names([workload_name(result, one) for one in ranked], MOST_NAMED)


def of_several(result: Result) -> str:
    """Return the sentence for several workloads, which names those that decided."""
    workloads = result["workloads"]
    alike = [d for d in workloads if d["outcome"] == result["outcome"]]
    own = [d for d in alike if not is_innocent(d)] or alike
    deciding = [d for d in own if d["evidence"]] or own
    names = names_of(result, deciding)
    share = f"{len(alike)} of {len(workloads)} {kinds_of(workloads)}"
    match result["outcome"]:
        case Outcome.ROLLED_BACK:
            failed = [one for one in workloads if one["outcome"] == Outcome.FAILED]
            runs = [describe_end(result, one) for one in failed if _runs_once(one)]
            why = runs or [why_back(result, deciding)]
            return "; ".join([*why, *_went_back(result, alike)])
        case Outcome.ROLLBACK_FAILED if not alike:
            failed = [one for one in workloads if one["outcome"] == Outcome.FAILED]
            did = f"the {kinds_of(workloads)} went back, but"
            did = f"{_describe_failed(result, failed)};" if failed else did
            return f"{did} not all was restored: it needs a person"
        case Outcome.ROLLBACK_FAILED:
            return _describe_stuck(result, alike)
        case Outcome.FAILED:
            return _describe_failed(result, deciding)
        case Outcome.SUPERSEDED:
            said = [*_failed_and_left(result), _describe_superseded(result, own)]
            said += _failed_and_back(result)
            is_forward = result["rollback"] is None
            return "; ".join([*said, *(never_written(result) if is_forward else ())])
        case Outcome.INCONCLUSIVE:
            is_ = "is" if len(deciding) == 1 else "are"
            return f"{names} {is_} in doubt; what was applied stands, and is not verified"
        case _:
            return f"{share} ended so: {names}"


def _runs_once(workload: WorkloadResult) -> bool:
    return registry.of_entry(workload).runs_once


def never_written(result: Result) -> Iterator[str]:
    """Name what a run did not come to write before something else ended it."""
    unwritten = [one for one in result["workloads"] if _was_never_written(one)]
    if unwritten:
        were = "was" if len(unwritten) == 1 else "were"
        yield f"{names_of(result, unwritten)} {were} never written"


def _describe_failed(result: Result, deciding: list[WorkloadResult]) -> str:
    """Name what failed, whether or not it went back, and what stays although it did not fail."""
    if all(is_unchanged(result, one) for one in deciding):
        one = len(deciding) == 1
        them, stand = ("it", "it stands as it was") if one else ("them", "they stand as they were")
        held = nothing_held(result, deciding)
        did = what_each_did(result, deciding)
        return f"{did}, and this run had not changed {them}: {stand}{held}"
    left = [one for one in result["workloads"] if one["outcome"] == Outcome.FAILED]
    guilty = [one for one in left if not is_innocent(one)]
    innocent = [one for one in left if is_innocent(one)]
    parts = [*_new_versions(result, guilty)]
    parts += _failed_and_back(result)
    for fate, alike in group_workloads(innocent, partial(fate_of, result)):
        left_so = fate_words(fate, len(alike))
        parts.append(f"nothing was found against {names_of(result, alike)}, which {left_so}")
    return "; ".join(parts)


def _failed_and_back(result: Result) -> Iterator[str]:
    """Say which versions failed, or were kept from completing, and went back."""
    back = [one for one in result["workloads"] if one["outcome"] == Outcome.ROLLED_BACK]
    failed = [one for one in back if not is_innocent(one)]
    for did, alike in group_workloads(failed, verb_of):
        yield f"{names_of(result, alike)} {did} and went back"


def _describe_stuck(result: Result, stuck: list[WorkloadResult]) -> str:
    """Name what did not go back, and say what did: the one that failed may be among either."""
    back = [one for one in result["workloads"] if one["outcome"] == Outcome.ROLLED_BACK]
    failed = [one for one in back if has_failed_itself(one)]
    parts = [why_back(result, failed)] if failed else []
    parts += _went_back(result, back)
    parts += _say_what_is_left(result, stuck)
    return f"{'; '.join(parts)}: it needs a person"


def _say_what_is_left(result: Result, stuck: list[WorkloadResult]) -> Iterator[str]:
    """Say what is not verified to be back, and what else could not be done to what failed."""
    for was_to_be, alike in group_workloads(stuck, partial(find_undone_response, result)):
        names = names_of(result, alike)
        left = f"the rollback of {names} is not verified"
        yield f"{names} could not be {was_to_be}" if was_to_be else left


def _failed_and_left(result: Result) -> Iterator[str]:
    """Say which versions had failed before somebody else replaced them on their way back."""
    failed = [one for one in result["workloads"] if had_failed_before(result, one)]
    if failed:
        yield what_each_did(result, failed)


def had_failed_before(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether a version had failed before somebody else's change met its way back."""
    own = [one for one in workload["causes"] if one["reason"] != Reason.SIBLING_FAILED]
    is_theirs = workload["outcome"] == Outcome.SUPERSEDED
    is_judged = is_theirs and find_fault_at_zero(result, workload) is None
    return is_judged and bool(own) and verb_of(workload) == "failed"


def _new_versions(result: Result, guilty: list[WorkloadResult]) -> Iterator[str]:
    """Say what became of the versions that did not go back, with similar ones grouped."""
    serving = [one for one in guilty if not _runs_once(one)]
    yield from (describe_end(result, one) for one in guilty if _runs_once(one))
    for (did, fate, _), alike in group_workloads(
        serving, lambda one: (verb_of(one), fate_of(result, one), judged_words(one, ""))
    ):
        was = "was" if len(alike) == 1 else "were"
        ended = f"{was} not taken back" if fate is Fate.STAYS else fate_words(fate, len(alike))
        yield f"{judged_words(alike[0], names_of(result, alike))} {did} and {ended}"
    if len(serving) < len(guilty):
        yield from never_written(result)


def _describe_superseded(result: Result, alike: list[WorkloadResult]) -> str:
    """Say what others did, and what the run left because one of its locks was taken."""
    theirs = [one for one in alike if one["reason"] != Reason.SIBLING_LOCKED]
    beside = [one for one in alike if one not in theirs]
    did = " and ".join(_deeds_of_others(result, theirs))
    left = f"; this run stepped back from {names_of(result, beside)} too" if beside else ""
    if any(one["reason"] == Reason.LOCKED for one in theirs):
        return f"somebody else {did}{left}; nothing was written once that was seen"
    scaled = [one for one in theirs if one["reason"] == Reason.SCALED_TO_ZERO]
    if scaled:
        back = [one for one in scaled if is_restored(result, one)]
        which = "it" if len(theirs) == 1 else names_of(result, back)
        went = f"{which} went back at 0; " if back else ""
        return f"somebody else {did}{left}; {went}what has no pod could not be judged"
    them = "it" if len(theirs) == 1 else "them"
    return f"somebody else {did}{left}; nothing was written to {them} after that"


def _deeds_of_others(result: Result, workloads: list[WorkloadResult]) -> Iterator[str]:
    """Yield what somebody else did, each verb once with the workloads it was done to."""
    for (verb, fault), alike in group_workloads(
        workloads, lambda one: (what_others_did(one), find_fault_at_zero(result, one))
    ):
        yield f"{verb} {names_of(result, alike)}{f' after {fault}' if fault else ''}"


def what_others_did(workload: WorkloadResult) -> str:
    """Say in a verb what somebody else did to a workload that an attempt left to them."""
    seen = workload["deletion"]
    if workload["reason"] == Reason.DELETED:
        if seen is None or seen["done"]:
            return "deleted"
        return "is deleting the namespace of" if seen["namespace_goes"] else "is deleting"
    if workload["reason"] == Reason.LOCKED:
        return "took the lock of"
    if workload["reason"] == Reason.SCALED_TO_ZERO:
        return "scaled down"
    return "changed" if workload["uid"] else "created"


def why_back(result: Result, workloads: list[WorkloadResult]) -> str:
    """Say what led back: a version or, where no pod is of a new one, the change of something else.

    If the gate just ended, it does not say that anything failed.
    """
    if result["takes_back"]:
        return f"the restart of {names_of(result, workloads)} is undone"
    if result["reason"] == Reason.INTERRUPTED:
        did = "was not verified" if result["undecided_check"] else "did not complete"
        return f"{names_of(result, workloads)} {did}"
    alike = group_workloads(workloads, lambda one: (describe_change(result, one), verb_of(one)))
    return " and ".join(
        f"{change}{' of ' if change else ''}{names_of(result, these)} {did}"
        for (change, did), these in alike
    )


def what_each_did(result: Result, workloads: list[WorkloadResult]) -> str:
    """Say which of them failed, and which were kept from completing."""
    alike = group_workloads(workloads, verb_of)
    return " and ".join(f"{names_of(result, these)} {did}" for did, these in alike)


def verified_words(result: Result, returned: list[WorkloadResult]) -> str:
    """Say that what workloads went back to was verified: without the checks, on the way.

    That a check failed says nothing about what served before, which may fail it too. What was left
    unverified before is as it was.
    """
    doubted = [one for one in returned if why_unverified(one)]
    verified = "verified"
    if doubted:
        whys = ", ".join(dict.fromkeys(describe_doubt(why_unverified(one)) for one in doubted))
        verified = f"not verified ({whys})"
        if len(doubted) < len(returned):
            verified = f"verified but for {names_of(result, doubted)} ({whys})"
    if result["reason"] not in OF_CHECKS:
        return verified
    return f"{verified}; no check was asked of {'it' if len(returned) == 1 else 'them'}"


def _went_back(result: Result, returned: list[WorkloadResult]) -> Iterator[str]:
    """Say what serves as before, and what was deleted because there was nothing to go back to."""
    back = [one for one in returned if fate_of(result, one) not in GONE]
    if back:
        beside = [one for one in result["workloads"] if not _runs_once(one) and one not in back]
        untouched = [one for one in beside if is_unchanged(result, one)]
        everything = [*back, *(one for one in beside if one not in untouched)]
        count = f"{len(back)} of {len(everything)} {kinds_of(everything)}"
        if len(everything) == 1:
            count = names_of(result, back)
        yield f"{count} went back{_how_verified(result, back)}"
        if untouched:
            were = "was" if len(untouched) == 1 else "were"
            yield f"{names_of(result, untouched)} {were} not changed"
        unwritten = [one for one in everything if _was_never_written(one)]
        if unwritten:
            were = "was" if len(unwritten) == 1 else "were"
            yield f"{len(unwritten)} {were} never written"
    yield from lasting(result)
    gone = [one for one in returned if one not in back]
    for fate, alike in group_workloads(gone, partial(fate_of, result)):
        yield f"{names_of(result, alike)}, created by this run, {fate_words(fate, len(alike))}"


def lasting(result: Result) -> Iterator[str]:
    """Say what stays although it did not fail, as what a Job did; of a deleted one nobody knows."""
    for one in result["workloads"]:
        name = workload_name(result, one)
        if not (_runs_once(one) and one["changed"]):
            continue
        is_unseen = one["outcome"] == Outcome.INCONCLUSIVE
        if one["outcome"] == Outcome.SUPERSEDED or (is_unseen and stage_of(one) is None):
            yield f"what {name} may have done stays"
        elif is_unseen or one["outcome"] == Outcome.VERIFIED:
            yield describe_stay(one, name)


def _was_never_written(workload: WorkloadResult) -> bool:
    """Tell whether the run turned back before it came to this workload's write."""
    return workload["outcome"] == Outcome.REFUSED and is_unwritten(workload)


def _how_verified(result: Result, returned: list[WorkloadResult]) -> str:
    """Say what shows that workloads that went back serve; those without a pod do not."""
    empty = [one for one in returned if one["running"] == "none"]
    if not empty:
        return f", {verified_words(result, returned)}"
    why = " or ".join(dict.fromkeys(registry.of_entry(one).when_empty for one in empty))
    return f"; {why}, so that nothing serves: {names_of(result, empty)}"
