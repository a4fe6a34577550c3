"""The first line of a verdict: the outcome in words, its exit code, and what that means here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.attempt.state import SIGNAL_BASE
from gate.core.model.outcome import WELL, Outcome, Reason
from gate.core.model.signal_names import signal_name
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.schema.version import Version
from gate.report.style.style import Style, Symbol, Tone
from gate.report.words.changed_parts import describe_configuration_back
from gate.report.words.half_applied import (
    has_run_alone,
    how_it_ended,
    is_left_unserved,
    list_unwritten,
    stays_as_created,
)
from gate.report.words.interruption import describe_interruption
from gate.report.words.lasting import describe_lasting_failure, describe_not_replaced
from gate.report.words.not_judged import not_judged_words
from gate.report.words.object_names import (
    kinds_of,
    workload_name,
)
from gate.report.words.refusal import LOOKING, NOTHING, NOTHING_JUDGED, NOTHING_NEW
from gate.report.words.several_workloads import (
    MOST_NAMED,
    lasting,
    names_of,
    never_written,
    of_several,
)
from gate.report.words.single_workload import (
    describe_verified,
    find_undone,
    names_of_objects,
    of_one,
)
from gate.report.words.unfinished import is_undone_by_recovery
from gate.report.words.version_names import version_words

_NO_ANSWER = "the API server gave no usable answer in time"
_LOST: Final[Mapping[str, str]] = {
    Reason.FORBIDDEN: "the API server no longer lets this run read what it wrote",
    Reason.UNAUTHORIZED: "the API server no longer accepts this run's credentials",
}
_MOST_LINES = 20
"""More than any sentence takes: names are bounded, and of many only a few are named."""
_AS_WANTED = (Reason.COMPLETE, Reason.NO_CHANGE, Reason.DRY_RUN)
"""The reasons with which a manifest without a workload ends well."""
_AGAINST = (Outcome.FAILED, Outcome.ROLLED_BACK, Outcome.ROLLBACK_FAILED)
_SIGNS = {
    Outcome.VERIFIED: (Symbol.GOOD, Tone.GOOD),
    Outcome.APPLIED: (Symbol.GOOD, Tone.GOOD),
    Outcome.OBSERVED: (Symbol.UNSURE, Tone.UNSURE),
    Outcome.INCONCLUSIVE: (Symbol.UNSURE, Tone.UNSURE),
    Outcome.SUPERSEDED: (Symbol.UNSURE, Tone.UNSURE),
    Outcome.LOST_CONTACT: (Symbol.UNSURE, Tone.BAD),
    Outcome.INTERRUPTED: (Symbol.UNSURE, Tone.UNSURE),
}


def headline(result: Result, style: Style, *, is_whole: bool = False) -> list[str]:
    """Return the first line, or two if it is long, cut at their end unless it `is_whole`."""
    sign, tone = _SIGNS.get(result["outcome"], (Symbol.BAD, Tone.BAD))
    start = f"{style.sign(sign)} {outcome_words(result)} ({exit_words(result)}):"
    most = _MOST_LINES if is_whole else 2
    said = f"{start} {_sentence(result)}"
    first, *rest = style.wrap(said, style.width - 2, style.roomy(most))
    if first.startswith(start):
        first = style.paint(start, tone) + first.removeprefix(start)
    return [first, *(f"  {line}" for line in rest)]


def outcome_words(result: Result) -> str:
    """Return the outcome as a title; nothing was rolled back where nothing could be."""
    if result["outcome"] == Outcome.ROLLED_BACK and has_run_alone(result):
        return "NOTHING TO TAKE BACK"
    return result["outcome"].replace("-", " ").upper()


def exit_words(result: Result) -> str:
    """Return how the process ended, in words."""
    code = result["exit_code"]
    return "its end is not recorded" if code is None else f"exit {code}"


def _sentence(result: Result) -> str:
    """Say what the outcome means here, and which objects it says nothing about."""
    aside, said = not_judged_words(result), f"{_describe_undo(result)}{_of_outcome(result)}"
    return f"{said}; {aside}" if aside else said


def _describe_undo(result: Result) -> str:
    """Say that it is an undo which failed, and to which revision it went; "" for anything else.

    Where its result is that of an attempt which it finished first, that was all to undo.
    """
    if result["command"] != "undo" or result["outcome"] not in _AGAINST:
        return ""
    if is_undone_by_recovery(result):
        return "what an earlier run had left is undone: "
    moved = (one["new"] for one in result["workloads"] if find_undone(one) is not None)
    revisions = [_revision_words(new) for new in moved if new["revision"] is not None]
    to = f" to {revisions[0]}" if len(result["workloads"]) == 1 and revisions else ""
    return f"the undo{to} did not succeed: "


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
    if back := describe_configuration_back(result):
        return back
    if len(workloads) == 1:
        return of_one(result, workloads[0])
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
    if any(map(find_undone, workloads)):
        return _of_several_undone(result)
    if not other:
        every = f"all {len(workloads)}" if workloads[2:] else "both"
        return f"{every} {kinds_of(workloads)} run what was applied"
    parts = [describe_verified(result, one) for one in (*plain[:1], *other[:MOST_NAMED])]
    if len(plain) > 1:
        parts[0] = f"{len(plain)} {kinds_of(plain)} run what was applied"
    if more := len(other[MOST_NAMED:]):
        parts.append(f"{more} more {'is' if more == 1 else 'are'} as asked for")
    return "; ".join(parts)


def _of_several_undone(result: Result) -> str:
    """Say which workloads an undo took from which revision to which, and name those that stayed."""
    workloads = result["workloads"]
    moved = [one for one in workloads if find_undone(one) is not None]
    parts = [_describe_move(result, one) for one in moved[:MOST_NAMED]]
    if len(moved) > MOST_NAMED:
        parts.append(f"{len(moved) - MOST_NAMED} more")
    stayed = [describe_verified(result, one) for one in workloads if one not in moved]
    return "; ".join([f"the undo took back {', '.join(parts)}", *stayed[:MOST_NAMED]])


def _describe_move(result: Result, workload: WorkloadResult) -> str:
    undone, new = find_undone(workload), workload["new"]
    name = workload_name(result, workload)
    if undone is None or undone["revision"] is None or new["revision"] is None:
        return f"{name} to {version_words(new)}"
    return f"{name} from revision {undone['revision']} to {_revision_words(new)}"


def _revision_words(version: Version) -> str:
    was = f" (was revision {version['was_revision']})" if version["was_revision"] else ""
    return f"revision {version['revision']}{was}"


def _taken_back(result: Result) -> str:
    doubtful = [one for one in result["objects"] if one["action"] == "in-doubt"]
    if doubtful:
        returns = not all(registry.of_entry(one).runs_once for one in doubtful)
        did = "did" if returns else "was written"
        lost = f"whether {names_of_objects(result, doubtful)} {did} is not known"
        return f"what is known to have been written went back; {lost}"
    created = [one for one in result["workloads"] if stays_as_created(one)]
    if created:
        verb = "stays" if len(created) == 1 else "stay"
        names = names_of(result, created)
        return f"what it changed went back; {names}, created by it, {verb}"
    if not _is_as_before(result):
        return "what was written went back, but not all of it"
    if not result["workloads"]:
        return "what was written went back"
    first, *others = result["workloads"]
    name, baseline = workload_name(result, first), first["baseline"]
    if first["running"] == "none" and not others:
        empty = registry.of_entry(first).when_empty
        return f"what was written went back; {name} is {empty}, and nothing serves"
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
