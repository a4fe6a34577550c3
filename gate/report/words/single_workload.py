"""What the first line says about the only workload of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.report.kinds import registry
from gate.report.schema.result import ObjectResult, Result, Running, WorkloadResult
from gate.report.schema.version import Version
from gate.report.words.fate import GONE, Fate, fate_of, fate_words
from gate.report.words.fault import (
    OF_CHECKS,
    find_fault_at_zero,
    has_no_new_pod,
    has_one_version,
    is_failed_promotion,
    verb_of,
    why_unverified,
)
from gate.report.words.found_at_end import is_made_again
from gate.report.words.half_applied import (
    is_left_alone,
    is_new,
    is_unchanged,
    nothing_held,
)
from gate.report.words.object_names import (
    is_kept_otherwise,
    object_name,
    some_names,
    workload_name,
)
from gate.report.words.several_workloads import (
    MOST_NAMED,
    had_failed_before,
    verified_words,
    what_others_did,
    why_back,
)
from gate.report.words.single_run import describe_end
from gate.report.words.unfinished import find_undone_response
from gate.report.words.version_names import (
    baseline_words,
    judged_words,
    pods_by_version,
    version_words,
)

_RUNS_AFTER: Final[Mapping[Running, str]] = {
    "new": "the new version still runs",
    "baseline": "only {} has pods",
    "mixed": "pods of both versions run",
    "none": "no pod runs",
    "other": "no pod of either version runs",
    "unknown": "what runs is unknown",
}
_KEPT = "the new version was kept"


def of_one(result: Result, workload: WorkloadResult) -> str:
    """Return the sentence about the workload of a run that has no other."""
    name = workload_name(result, workload)
    if result["outcome"] == Outcome.ROLLBACK_FAILED != workload["outcome"]:
        is_untouched = workload["outcome"] in (Outcome.VERIFIED, Outcome.REFUSED)
        is_as_before = is_untouched and workload["running"] == "baseline"
        did = "runs as before" if is_as_before else verb_of(workload)
        return f"{name} {did}; not all that goes with it was restored: it needs a person"
    match workload["outcome"]:
        case Outcome.VERIFIED | Outcome.APPLIED if result["outcome"] == Outcome.FAILED:
            return f"{describe_verified(result, workload)}, but {result['message']}"
        case Outcome.VERIFIED | Outcome.APPLIED:
            return describe_verified(result, workload)
        case Outcome.ROLLED_BACK:
            return _describe_rolled_back(result, workload)
        case Outcome.ROLLBACK_FAILED:
            runs = _RUNS_AFTER[workload["running"]].format(baseline_words(workload))
            if is_failed_promotion(workload):
                runs = "all pods run the version that was promoted"
            did, was_to_be = verb_of(workload), find_undone_response(result, workload)
            left = f"could not be {was_to_be}" if was_to_be else "its rollback is not verified"
            return f"{name} {did}, and {left}; {runs}: it needs a person"
        case Outcome.INCONCLUSIVE:
            return _describe_inconclusive(result, workload)
        case Outcome.SUPERSEDED:
            failed = f"{name} failed; " if had_failed_before(result, workload) else ""
            return f"{failed}{_describe_superseded(result, workload)}"
        case _:
            return _describe_failed(result, workload)


def _describe_rolled_back(result: Result, workload: WorkloadResult) -> str:
    baseline = workload["baseline"]
    back = version_words(baseline) if baseline is not None else "what was before"
    why, fate = why_back(result, [workload]), fate_of(result, workload)
    if fate in GONE:
        return f"{why}; this run had created it, and it {fate_words(fate, 1)}"
    if workload["running"] == "none":
        return f"{why}; {back} is back, {registry.of_entry(workload).when_empty}; nothing serves"
    if workload["running"] in ("mixed", "other") and workload["pod_shares"]:
        went = "it went back" if why_unverified(workload) else "it went back, verified"
        return f"{why}; {went}: {pods_by_version(workload)}"
    if result["reason"] in OF_CHECKS and has_no_new_pod(workload):
        return f"{why}; {back} serves as before"
    how = "as before" if has_one_version(workload) else "again"
    return f"{why}; {back} serves {how}, {verified_words(result, [workload])}"


def _describe_inconclusive(result: Result, workload: WorkloadResult) -> str:
    name = workload_name(result, workload)
    end = registry.of_entry(workload).ends.get(workload["reason"])
    if end is not None:
        return end.format(name=name, pods=pods_by_version(workload))
    if has_no_new_pod(workload):
        left = "no pod runs the new version"
        return f"{name} was applied, and {left}; its checks lacked evidence"
    kept = "it stands as it was" if is_unchanged(result, workload) else _KEPT
    return f"{name} is complete, but its checks lacked evidence; {kept}"


def _describe_superseded(result: Result, workload: WorkloadResult) -> str:
    name, is_deleted = workload_name(result, workload), workload["reason"] == Reason.DELETED
    did, seen = what_others_did(workload), workload["deletion"]
    goes = is_deleted and seen is not None and not seen["done"]
    if is_left_alone(result, workload) and not goes:
        left = "was not created again" if is_deleted else "was left alone"
        return f"somebody else {did} {name}, which {left}"
    if workload["reason"] == Reason.SCALED_TO_ZERO:
        fault = find_fault_at_zero(result, workload)
        after = f" after {fault}" if fault else ""
        return f"somebody else scaled {name} to 0{after}: no pod of it is left to judge"
    if did == "deleted":
        and_made = " and made again" if is_made_again(result, workload) else ""
        return f"{name} was deleted{and_made} by somebody else; {_what_was_written(result)}"
    if workload["reason"] == Reason.LOCKED:
        return f"somebody else {did} {name}; nothing was written once that was seen"
    if seen is not None and seen["namespace_goes"] and result["rollback"] is not None:
        return (
            f"somebody else {did} {name}; what this run changed was returned before that was seen"
        )
    return f"somebody else {did} {name}; {_what_was_written(result)}"


def _what_was_written(result: Result) -> str:
    """Say what a way back had written before somebody else's change was seen.

    For objects other than workloads it is unknown whether that change had been made by then; it
    had only not been seen.
    """
    beside = [one for one in result["objects"] if not registry.is_workload(one["kind"])]
    deleted = [one for one in beside if one["action"] in ("deleted", "deleting")]
    if deleted:
        return f"this run deleted {names_of_objects(result, deleted)}, which it had created"
    returned = [one for one in beside if one["action"] == "restored"]
    if not returned:
        return "nothing was written after that"
    were = "was" if len(returned) == 1 else "were"
    names = names_of_objects(result, returned)
    return f"nothing was written once that was seen; {names} {were} returned before"


def names_of_objects(result: Result, items: list[ObjectResult]) -> str:
    """Return the names of objects, the first few of many."""
    return some_names([object_name(result, one) for one in items], MOST_NAMED)


def describe_verified(result: Result, workload: WorkloadResult) -> str:
    """Say what a workload is that ended well."""
    name, new = workload_name(result, workload), version_words(workload["new"])
    end = registry.of_entry(workload).ends.get(workload["reason"])
    match workload["reason"]:
        case Reason.NO_CHANGE:
            after = result["has_recovered"]
            first = "this run finished what an attempt had left; " if after else ""
            if returned := _restored_by_undo(result):
                restored = f"the undo restored {names_of_objects(result, returned)}"
                return f"{first}{restored}; {name} did not change; {new} is healthy"
            same = f"{'then ' if after else ''}{name} {_how_unchanged(result, workload)}"
            same = f"{same}; {new} is healthy"
            return first + (same if end is None else end.format(name=name))
        case _ if end is not None:
            return end.format(name=name, pods=pods_by_version(workload))
        case _:
            undone = find_undone(workload)
            if undone is None:
                return f"{name} runs {new}"
            if is_kept_otherwise(result, workload):
                other = f"{new}, which the server keeps otherwise than the undo sent it"
                return f"the undo took {name} from {version_words(undone)} to {other}"
            return f"the undo took {name} back from {version_words(undone)}, to {new}"


def _how_unchanged(result: Result, workload: WorkloadResult) -> str:
    """Say that a run changed nothing of a workload, and whether all is as it was applied."""
    if not is_kept_otherwise(result, workload):
        return "had nothing to change"
    sent = "the manifest says" if result["command"] == "apply" else "was sent"
    return f"did not change, and the server keeps it otherwise than {sent}"


def _restored_by_undo(result: Result) -> list[ObjectResult]:
    """Return what an undo wrote beside workloads, nothing after other commands."""
    written = ("created", "changed", "deleted")
    beside = [one for one in result["objects"] if not registry.is_workload(one["kind"])]
    return [one for one in beside if result["command"] == "undo" and one["action"] in written]


def find_undone(workload: WorkloadResult) -> Version | None:
    """Return the version that an undo left for another one, None if it left none."""
    undone = workload["undone"]
    return None if undone is None or undone["name"] == workload["new"]["name"] else undone


def _why_it_stays(result: Result, workload: WorkloadResult) -> str:
    """Say of a failed version that alone has pods whether there was another to go back to."""
    if workload["baseline"] is not None:
        return "and was not taken back"
    if is_new(result, workload):
        return "and there is no other"
    return "and nothing is known that served before"


def _is_mixed(workload: WorkloadResult) -> bool:
    return workload["running"] == "mixed"


def _describe_failed(result: Result, workload: WorkloadResult) -> str:
    name = workload_name(result, workload)
    if is_unchanged(result, workload):
        did = verb_of(workload)
        beside = "; its new version runs beside the old one" if _is_mixed(workload) else ""
        held = f"{beside}{nothing_held(result, [workload])}"
        return f"{name} {did}, and this run had not changed it: it stands as it was{held}"
    if workload["reason"] == Reason.PAUSED:
        return f"{name} was paused half-way and still is"
    kind = registry.of_entry(workload)
    if kind.runs_once:
        return describe_end(result, workload)
    did = f"{judged_words(workload, name)} {verb_of(workload)}"
    fate = fate_of(result, workload)
    if fate is not Fate.STAYS:
        serves = "" if fate is Fate.BEING_DELETED else ", and nothing serves"
        return f"{did}; the {kind.name} {fate_words(fate, 1)}{serves}"
    return _describe_left(result, workload, did)


def _describe_left(result: Result, workload: WorkloadResult, did: str) -> str:
    """Say what runs after `did`, which names the version that was judged."""
    is_restored = workload["new"]["restored"]
    match workload["running"]:
        case "new":
            return did if is_restored else f"{did}, {_why_it_stays(result, workload)}"
        case "mixed":
            is_new = f"{did}, and runs beside the old one"
            return f"{did}; pods of another one run beside it" if is_restored else is_new
        case "baseline" if workload["reason"] in OF_CHECKS:
            return f"{did}; the old ones still serve"
        case "baseline":
            judged = judged_words(workload, workload_name(result, workload))
            return f"{judged} has no pods; the old ones still serve"
        case "other":
            return f"{did}; nothing of it runs"
        case _:
            return f"{did}; what runs is unknown"
