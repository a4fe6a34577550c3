"""The verdict as people read it: one screen that says what happened, why, what runs, what next.

Reads only the result document: `report` renders an old one in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, get_args

from gate.core.model.outcome import LOCK_REASONS, WELL, Outcome, Reason
from gate.duration import format_seconds
from gate.report.advice.next_steps import next_steps
from gate.report.check_report.rows import check_lines
from gate.report.document.deletion import deletion_words
from gate.report.formats.described_workloads import add_left_out, select_detailed
from gate.report.formats.evidence_lines import LEAST_ROOM, evidence_lines
from gate.report.formats.labelled_rows import Block, describe_elsewhere
from gate.report.formats.warning_rows import SHARES, Share, add_warnings
from gate.report.kinds import registry
from gate.report.schema.result import Action, Result, Running, WorkloadResult
from gate.report.schema.version import Version
from gate.report.style.style import Style, columns, pad
from gate.report.words.facts import (
    command_words,
    describe_no_pod,
)
from gate.report.words.fault import (
    has_one_version,
    has_only_failed_checks,
    is_failed_promotion,
    verb_of,
)
from gate.report.words.found_at_end import is_changed_by_others
from gate.report.words.grade import ending_word
from gate.report.words.half_applied import how_it_ended, is_unwritten
from gate.report.words.headline import headline
from gate.report.words.not_judged import list_not_judged
from gate.report.words.object_names import (
    list_own_objects,
    namespaces_of,
    object_name,
    some_names,
    workload_name,
)
from gate.report.words.single_run import label_of_run, verb_of_run
from gate.report.words.timed_rollback import describe_rollback
from gate.report.words.version_names import (
    find_serving,
    is_last_verified,
    own_pods_as_seen,
    pods_by_version,
    serving_words,
    version_words,
)
from gate.report.words.worst import rank_workloads

MOST_LINES = 40
_MOST_LISTED = 8
_FEW_LISTED = 2
_TRIES = ((_MOST_LISTED, False), (_FEW_LISTED, False), (_FEW_LISTED, True))
"""How many workloads are listed, and whether rows are tight: until there is room for evidence.

Where they are, it is left out where it ran: the commands of the next steps name that, too.
"""
_MOST_CAUSES = 3
_CLOCKS = (Reason.PROGRESS_DEADLINE_EXCEEDED, Reason.TIMEOUT)
"""Rules that say nothing of what was wrong: the first cause does, also of several workloads."""
_POD_COUNT = re.compile(r" \(\d+ of \d+ (?:created pods|pods created)\)$")
"""How many pods a cause holds for, as written in documents of this and of earlier versions."""
_MOST_STEP_LINES = 5
"""What is to be typed comes at the end of a step, as a flag: no advice of ours is longer."""
_MOST_CHECK_LINES = 4
_LEAST_EVIDENCE_LINES = 12
"""What evidence gets where nobody counts lines, and before warnings of the lint on a screen."""
_MOST_NAMED = 6
_MOST_IMAGE_LINES = 4


def verdict_text(result: Result, style: Style, *, is_whole: bool = False) -> str:
    """Return the verdict block, at most 40 lines, with a line feed at its end.

    On a terminal two lines have to do for what happened. `is_whole` where nobody counts lines, as
    in the log of a CI job: then nothing is cut, and there may be more.
    """
    detailed = select_detailed(result)
    quote = partial(evidence_lines, result["checks"], detailed, style, is_whole=is_whole)
    if is_whole:
        top = _above(result, style, detailed, _MOST_LISTED, is_whole=True)
        below = _below(Block(style, is_whole=True), result, SHARES[0])
        room = max(MOST_LINES - len(top) - len(below), _LEAST_EVIDENCE_LINES)
        return "\n".join([*top, *quote(room), *below]) + "\n"
    wanted = len(quote(_LEAST_EVIDENCE_LINES))
    top, below, quoted = [], [], []
    for most_listed, is_tight in _TRIES:
        top = _above(result, style, detailed, most_listed, is_tight=is_tight)
        below = _fit_below(result, style, MOST_LINES - len(top) - wanted, is_tight=is_tight)
        left = MOST_LINES - len(top) - len(below)
        quoted = quote(max(0, left))
        if left >= 0 and (quoted or not wanted):
            break
    if wanted and not quoted:
        quoted = quote(LEAST_ROOM)
    top = top[: max(0, MOST_LINES - len(quoted) - len(below))]
    return "\n".join([*top, *quoted, *below]) + "\n"


def _above(
    result: Result,
    style: Style,
    detailed: Sequence[WorkloadResult],
    most_listed: int,
    *,
    is_whole: bool = False,
    is_tight: bool = False,
) -> list[str]:
    """Return the lines of what happened, and why."""
    block = Block(style, is_whole=is_whole, is_tight=is_tight)
    if not is_tight:
        _where(block, result)
    _listing(block, result, style, most_listed)
    for workload in detailed:
        _details(block, result, workload)
    add_left_out(block, result, detailed)
    if not detailed and (result["workloads"] or result["outcome"] != Outcome.APPLIED):
        block.row("why", f"{result['reason']}: {result['message']}", lines=4)
    for line in check_lines(result["checks"], style):
        block.row("checks", line, _MOST_CHECK_LINES)
    return [*headline(result, style, is_whole=is_whole), *block.lines]


def _fit_below(result: Result, style: Style, room: int, *, is_tight: bool) -> list[str]:
    """Return what was done and what to do, as whole as there is room for."""
    tries = [_below(Block(style, is_tight=is_tight), result, share) for share in SHARES]
    return next((lines for lines in tries if len(lines) <= room), tries[-1])


def _below(block: Block, result: Result, share: Share) -> list[str]:
    """Return the lines of what was done and what to do."""
    _changes(block, result, share.name_lines)
    add_warnings(block, result, share)
    _next(block, result)
    return block.lines


def _where(block: Block, result: Result) -> None:
    parts = [f"namespace {name}" for name in namespaces_of(result)]
    parts += [f"context {result['context']}"] if result["context"] else []
    parts += [result["server"]] if result["server"] else []
    if parts:
        block.row("where", ", ".join(parts))
    run = [f"attempt {result['attempt']}"] if result["attempt"] else []
    run += [result["run_url"]] if result["run_url"] else []
    run = [*command_words(result), f"took {format_seconds(result['duration_seconds'])}", *run]
    block.row("run", ", ".join(run))


def _listing(block: Block, result: Result, style: Style, most: int) -> None:
    """List several workloads, the one that decided first."""
    if len(result["workloads"]) < 2:  # noqa: PLR2004 - several
        return
    ranked = rank_workloads(result)
    rows = [_make_row(result, workload, style) for workload in ranked[:most]]
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        block.cells("ended", "  ".join(pad(cell, width) for cell, width in cells).rstrip())
    left = len(ranked) - len(rows)
    if left:
        block.pointer("ended", f"and {left} more: {describe_elsewhere(left)}")


def _make_row(result: Result, workload: WorkloadResult, style: Style) -> tuple[str, ...]:
    has_run = registry.of_entry(workload).runs_once and not is_unwritten(workload)
    runs = workload["new"] if has_run else _running_version(workload)
    verb = verb_of_run(workload) if has_run else "runs"
    words = ", ".join(runs["images"]) if runs is not None else _RUNNING[workload["running"]]
    if workload["deletion"] is not None:
        words = deletion_words(workload)
    elif workload["running"] == "other" and not has_run:
        words = _other(result, workload)
    ended, name = ending_word(result, workload), workload_name(result, workload)
    return (
        ended,
        style.printable(name),
        workload["reason"],
        f"{verb} {style.printable(words)}",
    )


_RUNNING: Final[Mapping[Running, str]] = {
    "new": "the new version",
    "baseline": "what ran before",
    "mixed": "several versions",
    "none": "no pod",
    "other": "other",
    "unknown": "unknown",
}


def _running_version(workload: WorkloadResult) -> Version | None:
    match workload["running"]:
        case "new":
            return workload["new"]
        case "baseline":
            return workload["baseline"]
        case _:
            return None


def _details(block: Block, result: Result, workload: WorkloadResult) -> None:
    alone = len(result["workloads"]) == 1
    kind = registry.of_entry(workload)
    if not alone:
        block.row("about", f"{kind.call(workload['name'])}, namespace {workload['namespace']}", 1)
    is_whole = alone or workload["outcome"] == Outcome.ROLLBACK_FAILED
    most = 2 if workload["reason"] in _CLOCKS else 1
    for line in _why(result, workload)[: None if is_whole else most]:
        block.row("why", line, lines=4)
    _runs(block, result, workload)


def _why(result: Result, workload: WorkloadResult) -> list[str]:
    """Return the rule that decided and the causes underneath, each thing once."""
    if has_only_failed_checks(result, workload):
        return [f"{result['reason']}: {result['message']}"]
    causes = workload["causes"][:_MOST_CAUSES]
    message = _own_message(result, workload) or (causes[0]["message"] if causes else "")
    if not message:
        return []
    alike = [cause for cause in causes if _says_as_much(message, cause["message"])]
    same = [cause["reason"] for cause in alike]
    if alike and not message.startswith(alike[0]["message"]):
        message = alike[0]["message"]
    decided = result if how_it_ended(result) and _is_alone(result) else workload
    own = [] if workload["outcome"] == Outcome.INTERRUPTED else [decided["reason"]]
    reasons = ", ".join(dict.fromkeys([*own, *same]))
    rest = [one for one in causes if one not in alike and not message.endswith(one["message"])]
    return [f"{reasons}: {message}", *(f"{c['reason']}: {c['message']}" for c in rest)]


def _is_alone(result: Result) -> bool:
    return len(result["workloads"]) == 1


def _says_as_much(message: str, cause: str) -> bool:
    """Tell whether a message says what a cause does, and at most adds to it."""
    return message.startswith(cause) or _without_count(cause) == _without_count(message)


def _without_count(message: str) -> str:
    """Return a message without its count of pods, which may have grown since the verdict."""
    return _POD_COUNT.sub("", message)


def _own_message(result: Result, workload: WorkloadResult) -> str:
    """Return the deciding message, the attempt's if there is one workload; "" if none decided."""
    if result["outcome"] in (Outcome.OBSERVED, Outcome.INTERRUPTED):
        return ""
    if _is_alone(result) and workload["reason"] == result["reason"]:
        return result["message"]
    return workload["message"]


def _runs(block: Block, result: Result, workload: WorkloadResult) -> None:
    new, baseline = workload["new"], workload["baseline"]
    if registry.of_entry(workload).runs_once and not is_unwritten(workload):
        runs = deletion_words(workload) or _version(workload, new)
        block.row(label_of_run(workload), runs, _MOST_IMAGE_LINES)
        return
    if workload["deletion"] is not None:
        block.row("runs", deletion_words(workload))
        _both(block, workload)
        return
    match workload["running"]:
        case "none" if not registry.of_entry(workload).runs_once:
            _without_pods(block, workload)
        case "new":
            block.row("runs", _version(workload, new), _MOST_IMAGE_LINES)
        case "baseline" if baseline is not None:
            block.row("runs", _version(workload, baseline), _MOST_IMAGE_LINES)
            is_named = is_failed_promotion(workload) or not has_one_version(workload)
            if result["outcome"] != Outcome.REFUSED and is_named:
                _row_of_new(block, workload, "applied" if workload["outcome"] in WELL else "failed")
        case "mixed":
            block.row("runs", "pods of more than one version, as last seen")
            if (serving := find_serving(workload)) is not None:
                block.row("serves", serving_words(serving), _MOST_IMAGE_LINES)
            _both(block, workload)
        case "other" | "none":
            block.row("runs", _other(result, workload))
            _both(block, workload)
        case _:
            block.row("runs", "not known")
            _both(block, workload)


def _without_pods(block: Block, workload: WorkloadResult) -> None:
    runs, baseline = describe_no_pod(workload), workload["baseline"]
    if workload["outcome"] == Outcome.ROLLED_BACK and baseline is not None:
        block.row("runs", f"{runs}, with {_version(workload, baseline)}")
        _row_of_new(block, workload, "failed")
        return
    block.row("runs", runs)
    if workload["reason"] != Reason.VACUOUS:
        _both(block, workload)


def _both(block: Block, workload: WorkloadResult) -> None:
    _row_of_new(block, workload, "restored" if workload["new"]["restored"] else "applied")
    if workload["baseline"] is not None:
        label = "verified" if is_last_verified(workload) else "before"
        block.row(label, _version(workload, workload["baseline"]), _MOST_IMAGE_LINES)


_NO_FAULT_OF_ITS_OWN: Final = (Reason.APPLY_REJECTED, Reason.INTERRUPTED, Reason.SIBLING_FAILED)
"""Reasons for which a version goes back although nothing was found against it."""


def _row_of_new(block: Block, workload: WorkloadResult, label: str) -> None:
    """Name the new version: if it was never written, it was neither applied nor did it fail."""
    new = workload["new"]
    if is_unwritten(workload):
        if new["images"]:
            block.row("wanted", _version(workload, new), _MOST_IMAGE_LINES)
    elif label == "failed" and workload["reason"] == Reason.PAUSED:
        block.row("applied", _version(workload, new), _MOST_IMAGE_LINES)
    elif label == "failed" and _is_not_at_fault(workload):
        is_back = workload["outcome"] == Outcome.ROLLED_BACK
        block.row("undone" if is_back else "applied", _version(workload, new), _MOST_IMAGE_LINES)
    else:
        block.row(label, _version(workload, new), _MOST_IMAGE_LINES)


def _is_not_at_fault(workload: WorkloadResult) -> bool:
    return workload["reason"] in _NO_FAULT_OF_ITS_OWN or verb_of(workload) != "failed"


def _other(result: Result, workload: WorkloadResult) -> str:
    if workload["reason"] in LOCK_REASONS and not is_changed_by_others(result, workload):
        return "no pod of either version"
    is_theirs = workload["outcome"] == Outcome.REFUSED and workload["baseline"] is not None
    if workload["outcome"] != Outcome.SUPERSEDED and not is_theirs:
        return _nothing(result, workload)
    return own_pods_as_seen(workload) or "what somebody else applied"


def _nothing(result: Result, workload: WorkloadResult) -> str:
    """Say which others run; an object that may have been written has an action all the same."""
    actions = {one["action"] for one in list_own_objects(result, workload)}
    if workload["pod_shares"] and actions.isdisjoint({"deleted", "deleting", "gone"}):
        return pods_by_version(workload)
    if not is_unwritten(workload):
        return "no pod"
    if not actions.isdisjoint({"created", "changed", "in-doubt"}):
        return "unknown: whether it was written is not known"
    return "nothing: it was not written"


def _version(workload: WorkloadResult, version: Version) -> str:
    name = version["name"]
    called = f" ({registry.of_entry(workload).call_version(name)})" if name else ""
    return version_words(version) + called


def _changes(block: Block, result: Result, name_lines: int) -> None:
    rollback = result["rollback"]
    if rollback is not None:
        block.row("rollback", describe_rollback(result, rollback))
    for action in _ACTIONS:
        names = [
            object_name(result, item) for item in result["objects"] if item["action"] == action
        ]
        if names:
            block.row(action, block.join_names(names, name_lines), name_lines)
    unjudged = [object_name(result, item) for item in list_not_judged(result)]
    if unjudged and result["outcome"] == Outcome.VERIFIED:
        block.row("unjudged", some_names(unjudged, _MOST_NAMED))


_ACTIONS: Sequence[Action] = tuple(action for action in get_args(Action) if action != "unchanged")
"""What is reported; objects that stayed as they were are left out."""


def _next(block: Block, result: Result) -> None:
    for step in next_steps(result):
        block.pointer("next", step.text, _MOST_STEP_LINES)
        if step.command.isprintable() and step.command:
            block.command("next", step.command)
