"""What a page says about a result besides its details: the words that Markdown and HTML share.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import Outcome
from gate.duration import format_seconds
from gate.report.document.deletion import deletion_words
from gate.report.kinds import registry
from gate.report.kinds.kind import Stage
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.result import (
    EvidenceResult,
    ObjectResult,
    Result,
    Running,
    StateAtEnd,
    WorkloadResult,
)
from gate.report.style.style import Style
from gate.report.words.grade import Grade, result_grade
from gate.report.words.half_applied import is_unwritten, keeps_version
from gate.report.words.headline import headline
from gate.report.words.moment import moment
from gate.report.words.object_names import namespaces_of
from gate.report.words.single_run import stage_of, verb_of_run
from gate.report.words.version_names import baseline_words, own_pods_as_seen, version_words

_NAMED_COMMANDS: Final = ("undo", "restart", "recover")
_ONE_LINE: Final = Style(width=1_000_000)
_RUNS: Final[Mapping[Running, str]] = {
    "new": "the new version",
    "mixed": "pods of more than one version",
    "other": "none of these versions",
    "unknown": "not known",
}
_STANDS: Final[Mapping[StateAtEnd, str]] = {
    "as-written": "as this run left it",
    "changed": "changed since",
    "not-as-sent": "not as it was sent",
    "deleted": "does not exist",
    "being-deleted": "being deleted",
    "recreated": "created again",
    "unread": "not known",
    "written-late": "written after all, too late to be taken back",
}
_KINDS: Final = {"log": "log of", "termination": "last termination of", "event": "event about"}


def sentence(result: Result) -> str:
    """Return what the outcome means here, in one sentence."""
    return headline(result, _ONE_LINE)[0].partition("): ")[2]


def command_words(result: Result) -> list[str]:
    """Return the command of a run that does not apply a manifest, nothing for one that does."""
    return [result["command"]] if result["command"] in _NAMED_COMMANDS else []


def surroundings(result: Result) -> list[tuple[str, str]]:
    """Return where and when the run was, as labels and texts."""
    rows = [
        ("command", ", ".join(command_words(result))),
        ("namespace", ", ".join(namespaces_of(result))),
        ("context", result["context"]),
        ("server", result["server"]),
        ("started", moment(result["started_at"])),
        ("took", format_seconds(result["duration_seconds"])),
        ("attempt", result["attempt"]),
        ("trace", _trace_id(result["traceparent"])),
    ]
    return [(label, text) for label, text in rows if text]


def _trace_id(traceparent: str) -> str:
    """Return the id to look up in a tracing system (W3C Trace Context: the second field)."""
    return traceparent.partition("-")[2].partition("-")[0]


def describe_no_pod(workload: WorkloadResult) -> str:
    """Say that no pod of a workload runs, and why none is wanted."""
    return f"no pod: {registry.of_entry(workload).when_empty}"


def runs_now(result: Result, workload: WorkloadResult) -> str:
    """Say whose pods run, and what they run."""
    if workload["deletion"] is not None:
        return deletion_words(workload)
    if registry.of_entry(workload).runs_once:
        if is_unwritten(workload):
            is_known = workload["outcome"] != Outcome.INCONCLUSIVE
            return "nothing: it was not written" if is_known else "not known: it may have run"
        now = {Stage.RUNNING: "", None: "not known; "}.get(stage_of(workload), "nothing; ")
        return f"{now}it {verb_of_run(workload)} {version_words(workload['new'])}"
    running = workload["running"]
    version = {"new": workload["new"], "baseline": workload["baseline"]}.get(running)
    if running == "none":
        return describe_no_pod(workload)
    if running == "other" and (seen := own_pods_as_seen(workload)):
        return seen
    is_same = keeps_version(result, workload) and version is not None
    if is_same:
        said = f"{baseline_words(workload)}, unchanged"
    else:
        said = baseline_words(workload) if running == "baseline" else _RUNS[running]
    return f"{said}: {version_words(version)}" if version is not None else said


def not_taken_back(result: Result) -> list[ObjectResult]:
    """Return the objects that are still as this attempt left them although it failed, or may be."""
    if result_grade(result) is Grade.GOOD:
        return []
    return [item for item in result["objects"] if item["action"] in _NOT_TAKEN_BACK]


_NOT_TAKEN_BACK: Final = ("created", "changed", "kept", "left", "deleting", "in-doubt")


def action_words(item: ObjectResult) -> str:
    """Say what was done to an object; of a write without a clear answer nobody knows."""
    is_in_doubt = item["action"] == "in-doubt"
    return "in doubt, its last write has no clear answer" if is_in_doubt else item["action"]


def stands(item: ObjectResult) -> str:
    """Say how an object was found at the end, "" if nobody looked."""
    at_end = item["at_end"]
    if at_end is None:
        return ""
    words = _STANDS[at_end["state"]]
    did = ", with fields of" if at_end["state"] == "as-written" else " by"
    by = f"{did} {', '.join(at_end['managers'])}" if at_end["managers"] else ""
    what = ", ".join(at_end["fields"] or at_end["finalizers"])
    return f"{words}{by}" + (f": {what}" if what else "")


def piece_title(workload: WorkloadResult, piece: EvidenceResult) -> str:
    """Say what a piece of evidence about a workload is."""
    version = registry.of_entry(workload).version
    where = f"pod/{piece['pod']}" if piece["pod"] else f"the {version}"
    where += f", container {piece['container']}" if piece["container"] else ""
    at = f", {moment(piece['at'])}" if piece["at"] else ""
    previous = "previous " if piece["previous"] else ""
    return f"{previous}{_KINDS[piece['kind']]} {where}{at}"


def output_title(check: CheckResult) -> str:
    """Say what the output of a check's program is."""
    return f"output of the check {check['name']}"
