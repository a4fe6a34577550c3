"""The result as JUnit XML: one case for each phase, workload and check.

A fault of the version is a failure, what kept the gate from a verdict is an error, and what could
not be decided is skipped, so that a test report agrees with the exit code; so is an object that was
applied and that nobody judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.core.frozen import dataclass
from gate.core.model.outcome import Reason
from gate.report.kinds import registry
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.result import (
    EvidenceResult,
    Result,
    WorkloadResult,
)
from gate.report.words.grade import Grade, check_grade, grade, result_grade
from gate.report.words.not_judged import list_not_judged

if TYPE_CHECKING:
    from junitparser import TestCase

_NAME: Final = "rollout-gate"
_DECLARATION: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_NO_CHARACTER: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document may hold, not even as a reference (`Char`, section 2.2)."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """What a case that did not pass says."""

    grade: Grade
    message: str
    reason: str
    details: str = ""


def junit(result: Result) -> str:
    """Return the document as JUnit XML, ending in a line feed."""
    from junitparser import JUnitXml, TestSuite

    suite = TestSuite(_NAME)
    suite.timestamp = _text(result["started_at"])
    for name in ("outcome", "exit_code", "reason", "message", "run_url", "attempt", "version"):
        suite.add_property(name, _text("" if result[name] is None else str(result[name])))
    suite.add_property("traceparent", _text(result["traceparent"]))
    for case in _cases(result):
        suite.add_testcase(case)
    suite.time = result["duration_seconds"]
    document = JUnitXml(_NAME)
    document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]
    data: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return f"{_DECLARATION}{data.decode().strip()}\n"


def _cases(result: Result) -> Iterator[TestCase]:
    yield from _phases(result)
    tolerant = not result["exit_code"]
    for workload in result["workloads"]:
        name = f"{workload['namespace']}/{workload['name']}"
        group = registry.of_entry(workload).name.lower()
        case = _case(group, name, 0.0, _of_workload(workload), tolerant=tolerant)
        case.system_out = _text("\n\n".join(map(_piece, workload["evidence"])))
        yield case
    for item in list_not_judged(result):
        name = "/".join(filter(None, (item["namespace"], item["name"])))
        said = _Finding(Grade.UNSURE, f"{item['action']}, and not judged", "NotJudged")
        yield _case(item["kind"].lower(), name, 0.0, said, tolerant=tolerant)
    for check in result["checks"]:
        case = _case("check", check["name"], 0.0, _of_check(check), tolerant=tolerant)
        case.system_out = _text(check["output"] or check["message"])
        yield case


def _phases(result: Result) -> Iterator[TestCase]:
    """Yield the phases that the run reached; preflight or, if reached, rollout has its outcome."""
    rollback, ended = result["rollback"], _of_all(result)
    if not _got_past_preflight(result):
        yield _case("phase", "preflight", result["duration_seconds"], ended)
        return
    back_seconds = rollback["duration_seconds"] if rollback is not None else 0.0
    before_seconds = _preflight_seconds(result)
    yield _case("phase", "preflight", before_seconds)
    out_seconds = max(0.0, result["duration_seconds"] - before_seconds - back_seconds)
    yield _case("phase", "rollout", out_seconds, ended)
    if rollback is not None:
        unverified = _Finding(Grade.BAD, "the rollback is not verified", rollback["reason"])
        yield _case("phase", "rollback", back_seconds, None if rollback["verified"] else unverified)


def _got_past_preflight(result: Result) -> bool:
    good = result_grade(result) is Grade.GOOD
    return good or bool(result["workloads"] or result["objects"])


def _preflight_seconds(result: Result) -> float:
    lines = (line["at_seconds"] for line in result["timeline"] if line["event"] == "applied")
    return next(lines, 0.0)


def _of_all(result: Result) -> _Finding:
    return _Finding(result_grade(result), result["message"], result["reason"])


def _of_workload(workload: WorkloadResult) -> _Finding:
    causes = [f"{cause['reason']}: {cause['message']}" for cause in workload["causes"]]
    said = causes[0] if causes else f"{workload['outcome']}: {workload['reason']}"
    return _Finding(grade(workload["outcome"]), said, workload["reason"], "\n".join(causes))


def _of_check(check: CheckResult) -> _Finding:
    required = "" if check["required"] else " (not required)"
    said = f"{check['verdict']}{required}: {check['message']}"
    return _Finding(check_grade(check), said, Reason.CHECK_FAILED)


def _piece(piece: EvidenceResult) -> str:
    where = "/".join(filter(None, (piece["pod"], piece["container"])))
    kind = f"previous {piece['kind']}" if piece["previous"] else piece["kind"]
    return f"[{kind}] {where} {piece['at']}".rstrip() + f"\n{piece['text']}"


def _case(
    group: str, name: str, seconds: float, found: _Finding | None = None, *, tolerant: bool = False
) -> TestCase:
    """Return a case; if the job is `tolerant`, as with `--observe`, nothing fails it."""
    from junitparser import Error, Failure, Skipped, TestCase

    case = TestCase(_text(name), f"{_NAME}.{group}", round(seconds, 3))
    if found is None or found.grade is Grade.GOOD:
        return case
    kinds = {Grade.BAD: Failure, Grade.BROKEN: Error}
    kind = Skipped if tolerant else kinds.get(found.grade, Skipped)
    entry = kind(_text(found.message), _text(found.reason))
    entry.text = _text(found.details or found.message)
    case.result = [entry]
    return case


def _text(text: str) -> str:
    return _NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)
