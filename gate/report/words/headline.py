"""The first line of a verdict: the outcome in words, its exit code, and what that means here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.attempt.state import SIGNAL_BASE
from gate.core.model.outcome import WELL, Outcome, Reason
from gate.core.model.signal_names import signal_name
from gate.report.kinds import registry
from gate.report.schema.result import (
    ObjectResult,
    PodShare,
    Result,
    Running,
    StateAtEnd,
    Version,
    WorkloadResult,
)
from gate.report.style.style import Style, Symbol, Tone
from gate.report.words.fate import GONE, Fate, fate_of, fate_words
from gate.report.words.fault import OF_CHECKS, has_no_new_pod, verb_of
from gate.report.words.half_applied import (
    how_it_ended,
    is_left_alone,
    is_left_unserved,
    is_unchanged,
    list_unwritten,
    nothing_held,
    stays_as_created,
)
from gate.report.words.interruption import describe_interruption
from gate.report.words.lasting import describe_lasting_failure, describe_not_replaced
from gate.report.words.not_judged import not_judged_words
from gate.report.words.object_names import (
    kinds_of,
    list_own_objects,
    object_name,
    some_names,
    workload_name,
)
from gate.report.words.refusal import LOOKING, NOTHING, NOTHING_JUDGED, NOTHING_NEW
from gate.report.words.several_workloads import (
    MOST_NAMED,
    had_failed_before,
    lasting,
    names_of,
    never_written,
    of_several,
    verified_words,
    what_others_did,
    why_back,
)
from gate.report.words.single_run import describe_end

_NO_ANSWER = "the API server gave no answer in time"
_LOST: Final[Mapping[str, str]] = {
    Reason.FORBIDDEN: "the API server no longer lets this run read what it wrote",
    Reason.UNAUTHORIZED: "the API server no longer accepts this run's credentials",
}
_RUNS_AFTER: Final[Mapping[Running, str]] = {
    "new": "the new version still runs",
    "baseline": "only the version before has pods",
    "mixed": "pods of both versions run",
    "none": "no pod runs",
    "other": "no pod of either version runs",
    "unknown": "what runs is unknown",
}
_KEPT = "the new version was kept"
_AS_WANTED = (Reason.COMPLETE, Reason.NO_CHANGE, Reason.DRY_RUN)
"""The reasons with which a manifest without a workload ends well."""
_SIGNS = {
    Outcome.VERIFIED: (Symbol.GOOD, Tone.GOOD),
    Outcome.APPLIED: (Symbol.GOOD, Tone.GOOD),
    Outcome.OBSERVED: (Symbol.UNSURE, Tone.UNSURE),
    Outcome.INCONCLUSIVE: (Symbol.UNSURE, Tone.UNSURE),
    Outcome.SUPERSEDED: (Symbol.UNSURE, Tone.UNSURE),
    Outcome.LOST_CONTACT: (Symbol.UNSURE, Tone.BAD),
    Outcome.INTERRUPTED: (Symbol.UNSURE, Tone.UNSURE),
}


def headline(result: Result, style: Style) -> list[str]:
    """Return the first line, or two if it is long."""
    sign, tone = _SIGNS.get(result["outcome"], (Symbol.BAD, Tone.BAD))
    words = result["outcome"].replace("-", " ").upper()
    start = f"{style.sign(sign)} {words} ({exit_words(result)}):"
    first, *rest = style.wrap(f"{start} {_sentence(result)}", style.width - 2, style.roomy(2))
    if first.startswith(start):
        first = style.paint(start, tone) + first.removeprefix(start)
    return [first, *(f"  {line}" for line in rest)]


def exit_words(result: Result) -> str:
    """Return how the process ended, in words."""
    code = result["exit_code"]
    return "its end is not recorded" if code is None else f"exit {code}"


def version_words(version: Version) -> str:
    """Return a version in words: its revision and images, as far as they are known."""
    revision = version["revision"]
    was = f" (was revision {version['was_revision']})" if version["was_revision"] else ""
    known = [f"revision {revision}{was}"] if revision is not None else []
    return ", ".join([*known, *version["images"]]) or "an unknown version"


def _sentence(result: Result) -> str:
    """Say what the outcome means here, and which objects it says nothing about."""
    aside = not_judged_words(result)
    return f"{_of_outcome(result)}; {aside}" if aside else _of_outcome(result)


def _of_outcome(result: Result) -> str:
    match result["outcome"]:
        case Outcome.OBSERVED:
            would = result["would_have"] or result["message"]
            failed = [one for one in result["workloads"] if one["outcome"] == Outcome.FAILED]
            if not result["workloads"] and result["reason"] not in _AS_WANTED:
                return f"{would}; what was applied stands"
            return f"{would}; what failed stays in place" if failed else would
        case Outcome.INTERRUPTED:
            number = (result["exit_code"] or 0) - SIGNAL_BASE
            return f"by {signal_name(number)}; {describe_interruption(result)}"
        case Outcome.LOST_CONTACT:
            return f"{_LOST.get(result['reason'], _NO_ANSWER)}; what runs is unknown"
        case Outcome.INTERNAL_ERROR:
            return "a bug in rollout-gate; what runs is unknown"
        case Outcome.USAGE | Outcome.REFUSED:
            if result["command"] in LOOKING:
                return NOTHING_JUDGED
            return NOTHING_NEW if result["has_recovered"] else NOTHING
        case _:
            return _of_workloads(result)


def _of_workloads(result: Result) -> str:
    workloads = result["workloads"]
    lasting = describe_lasting_failure(result)
    if lasting:
        return lasting
    half = how_it_ended(result)
    if half and result["outcome"] == Outcome.ROLLED_BACK:
        return f"{half}; {_taken_back(result)}"
    if half and result["outcome"] == Outcome.FAILED:
        return f"{half}; {_describe_left(result, workloads)}"
    if len(workloads) == 1:
        return _of_one(result, workloads[0])
    if not workloads:
        return _of_bare_objects(result)
    if result["outcome"] in WELL:
        return _of_several_verified(result)
    return of_several(result)


def _of_several_verified(result: Result) -> str:
    """Say of each what it is where that is not plainly the version that was applied."""
    workloads = result["workloads"]
    other = [one for one in workloads if one["reason"] in registry.of_entry(one).ends]
    plain = [one for one in workloads if one not in other]
    if not other:
        return f"all {len(workloads)} {kinds_of(workloads)} run what was applied"
    parts = [_describe_verified(result, one) for one in (*plain[:1], *other[:MOST_NAMED])]
    if len(plain) > 1:
        parts[0] = f"{len(plain)} {kinds_of(plain)} run what was applied"
    if len(other) > MOST_NAMED:
        parts.append(f"{len(other) - MOST_NAMED} more are as asked for")
    return "; ".join(parts)


def _taken_back(result: Result) -> str:
    doubtful = [one for one in result["objects"] if one["action"] == "in-doubt"]
    if doubtful:
        lost = f"whether {_names(result, doubtful)} did is not known"
        return f"what is known to have been written went back; {lost}"
    created = [one for one in result["workloads"] if stays_as_created(one)]
    if created:
        verb = "stays" if len(created) == 1 else "stay"
        names = names_of(result, created)
        return f"what was there before went back; {names}, created by it, {verb}"
    if not _is_as_before(result):
        return "what was written went back, but not all of it"
    if not result["workloads"]:
        return "what was written went back"
    first, *others = result["workloads"]
    name, baseline = workload_name(result, first), first["baseline"]
    if first["running"] == "none" and not others:
        return f"what was written went back; {name} is scaled to 0, and nothing serves"
    if baseline is not None and not others and is_left_unserved(first):
        left = f"{name} is as it was, not all of it {version_words(baseline)}"
        return f"what was written went back; {left}"
    if others or baseline is None or first["running"] != "baseline":
        how = f"what was written went back{describe_not_replaced(result)}"
        return "; ".join([how, *never_written(result), *lasting(result)])
    return f"what was written went back, and {name} runs {version_words(baseline)}"


def _describe_left(result: Result, workloads: list[WorkloadResult]) -> str:
    """Say what an apply that was cut off leaves, and does not take back."""
    unwritten = list_unwritten(result, workloads)
    if not unwritten:
        return "what was written stands"
    return f"what was written stands, without {names_of(result, unwritten)}"


def _of_bare_objects(result: Result) -> str:
    match result["outcome"]:
        case Outcome.VERIFIED:
            return f"{result['message']}, and its checks pass; there is no workload to judge"
        case Outcome.ROLLED_BACK if _is_as_before(result):
            return "what was applied is as it was before"
        case Outcome.ROLLED_BACK:
            return "what was applied went back, but not all is as it was before"
        case Outcome.ROLLBACK_FAILED:
            return "not all that was applied was taken back: it needs a person"
        case _:
            return result["message"]


def _is_as_before(result: Result) -> bool:
    """Tell whether all is as it was before, by what was done and by the last look.

    Of what runs once nothing goes back, which is said apart.
    """
    objects = [item for item in result["objects"] if not registry.of_entry(item).runs_once]
    done = {item["action"] for item in objects}
    looks = [item["at_end"] for item in objects if item["action"] != "deleted"]
    found = {at_end["state"] for at_end in looks if at_end is not None}
    return done <= {"restored", "unchanged", "deleted"} and found <= {"as-written"}


def _of_one(result: Result, workload: WorkloadResult) -> str:
    name = workload_name(result, workload)
    if result["outcome"] == Outcome.ROLLBACK_FAILED != workload["outcome"]:
        is_untouched = workload["outcome"] in (Outcome.VERIFIED, Outcome.REFUSED)
        is_as_before = is_untouched and workload["running"] == "baseline"
        did = "runs as before" if is_as_before else verb_of(workload)
        return f"{name} {did}; not all that goes with it was restored: it needs a person"
    match workload["outcome"]:
        case Outcome.VERIFIED | Outcome.APPLIED if result["outcome"] == Outcome.FAILED:
            return f"{_describe_verified(result, workload)}, but {result['message']}"
        case Outcome.VERIFIED | Outcome.APPLIED:
            return _describe_verified(result, workload)
        case Outcome.ROLLED_BACK:
            return _describe_rolled_back(result, workload)
        case Outcome.ROLLBACK_FAILED:
            runs = _RUNS_AFTER[workload["running"]]
            did = verb_of(workload)
            return f"{name} {did}, and its rollback is not verified; {runs}: it needs a person"
        case Outcome.INCONCLUSIVE:
            return _describe_inconclusive(result, workload)
        case Outcome.SUPERSEDED:
            failed = f"{name} failed; " if had_failed_before(workload) else ""
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
        return f"{why}; {back} is back, scaled to 0; nothing serves"
    if workload["running"] in ("mixed", "other") and workload["pod_shares"]:
        return f"{why}; it went back, verified: {pods_by_version(workload)}"
    if result["reason"] in OF_CHECKS and has_no_new_pod(workload):
        return f"{why}; {back} serves as before"
    return f"{why}; {back} serves again, {verified_words(result, 1)}"


def _describe_inconclusive(result: Result, workload: WorkloadResult) -> str:
    name = workload_name(result, workload)
    if has_no_new_pod(workload):
        left = "no pod runs the new version"
        return f"{name} was applied, and {left}; its checks lacked evidence"
    kept = "it stands as it was" if is_unchanged(result, workload) else _KEPT
    return f"{name} is complete, but its checks lacked evidence; {kept}"


def _describe_superseded(result: Result, workload: WorkloadResult) -> str:
    name, is_deleted = workload_name(result, workload), workload["reason"] == Reason.DELETED
    did = what_others_did(workload)
    if is_left_alone(result, workload) and did != "is deleting":
        left = "was not created again" if is_deleted else "was left alone"
        return f"somebody else {did} {name}, which {left}"
    if did == "deleted":
        and_made = " and made again" if is_made_again(result, workload) else ""
        return f"{name} was deleted{and_made} by somebody else; {_what_was_written(result)}"
    if workload["reason"] == Reason.LOCKED:
        return f"somebody else {did} {name}; nothing was written once that was seen"
    return f"somebody else {did} {name}; {_what_was_written(result)}"


def _what_was_written(result: Result) -> str:
    """Say what a way back had written before somebody else's change was seen.

    For objects other than workloads it is unknown whether that change had been made by then; it
    had only not been seen.
    """
    beside = [one for one in result["objects"] if not registry.is_workload(one["kind"])]
    deleted = [one for one in beside if one["action"] in ("deleted", "deleting")]
    if deleted:
        return f"this run deleted {_names(result, deleted)}, which it had created"
    returned = [one for one in beside if one["action"] == "restored"]
    if not returned:
        return "nothing was written after that"
    were = "was" if len(returned) == 1 else "were"
    names = _names(result, returned)
    return f"nothing was written once that was seen; {names} {were} returned before"


def _names(result: Result, items: list[ObjectResult]) -> str:
    return some_names([object_name(result, one) for one in items], MOST_NAMED)


def is_made_again(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether a workload was deleted and created again, by the last look at it."""
    return _state_at_end(result, workload) == "recreated"


def is_changed_by_others(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether somebody else has written a workload since, by the last look at it."""
    return _state_at_end(result, workload) in ("changed", "recreated")


def _state_at_end(result: Result, workload: WorkloadResult) -> StateAtEnd | None:
    """Return how the last look found a workload, None if nobody looked."""
    for one in list_own_objects(result, workload):
        if one["at_end"]:
            return one["at_end"]["state"]
    return None


def _describe_verified(result: Result, workload: WorkloadResult) -> str:
    name, new = workload_name(result, workload), version_words(workload["new"])
    end = registry.of_entry(workload).ends.get(workload["reason"])
    match workload["reason"]:
        case Reason.NO_CHANGE:
            after = result["has_recovered"]
            first = "this run finished what an attempt had left; " if after else ""
            same = f"{'then ' if after else ''}{name} had nothing to change; {new} is healthy"
            return first + (same if end is None else end.format(name=name))
        case _ if end is not None:
            return end.format(name=name, pods=pods_by_version(workload))
        case _:
            return f"{name} runs {new}"


def pods_by_version(workload: WorkloadResult) -> str:
    """Say how many pods run which version, the newest first."""
    shares = [
        f"{share['pods']} {'pod runs' if share['pods'] == 1 else 'pods run'} {_of_share(share)}"
        for share in workload["pod_shares"]
    ]
    return ", ".join(shares) or "no pod runs"


def _of_share(share: PodShare) -> str:
    known = [f"revision {share['revision']}"] if share["revision"] is not None else []
    return ", ".join([*known, *share["images"]]) or share["name"]


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
    did = f"the new version of {name} {verb_of(workload)}"
    fate = fate_of(result, workload)
    if fate is not Fate.STAYS:
        serves = "" if fate is Fate.BEING_DELETED else ", and nothing serves"
        return f"{did}; the {kind.name} {fate_words(fate, 1)}{serves}"
    match workload["running"]:
        case "new":
            return f"{did}, and it is all that runs"
        case "mixed":
            return f"{did}, and runs beside the old one"
        case "baseline" if workload["reason"] in OF_CHECKS:
            return f"{did}; the old ones still serve"
        case "baseline":
            return f"the new version of {name} has no pods; the old ones still serve"
        case "other":
            return f"{did}; nothing of it runs"
        case _:
            return f"{did}; what runs is unknown"
