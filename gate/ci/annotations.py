"""What deserves an annotation in the code: each with its level and its place in the manifest."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import Final

from gate.core.frozen import dataclass
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.grade import Grade, check_grade, grade, result_grade
from gate.report.words.headline import exit_words, outcome_words
from gate.report.words.object_names import list_own_objects, workload_name
from gate.report.words.worst import worst_workload

MOST_OF_A_LEVEL: Final = 10
"""GitHub keeps no more per level and step."""
_PROGRAM: Final = "rollout-gate"
_PLACE: Final = re.compile(r"(?P<file>[^\s:][^:]*):(?P<line>\d+)(?::\d+)?: (?P<rest>.*)", re.DOTALL)
"""How a message about a manifest begins (`gate.manifests.source`)."""


class Level(enum.StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation; `file` is "" and `line` 0 if it has no place."""

    level: Level
    title: str
    message: str
    file: str = ""
    line: int = 0


def marks(result: Result) -> list[Annotation]:
    """Return at most ten annotations of each level: errors first, the most telling ones first."""
    found = [*_of_all(result), *_of_workloads(result), *_of_checks(result), *_warnings(result)]
    levels = ([one for one in found if one.level is level] for level in Level)
    return [one for alike in levels for one in alike[:MOST_OF_A_LEVEL]]


def _level(result: Result, kind: Grade) -> Level | None:
    """Return the level, None for a good grade; nothing is an error if the job does not fail."""
    if kind is Grade.GOOD:
        return None
    broken = kind in (Grade.BAD, Grade.BROKEN)
    return Level.ERROR if broken and result["exit_code"] else Level.WARNING


def _of_all(result: Result) -> Iterator[Annotation]:
    level = _level(result, result_grade(result))
    if level is None:
        return
    title = f"{_PROGRAM}: {outcome_words(result)} ({exit_words(result)})"
    message = f"{result['reason']}: {result['message']}"
    worst = worst_workload(result)
    file, line = _place(result, worst) if worst is not None else _place_in(result["message"])
    yield Annotation(level, title, message, file, line)


def _of_workloads(result: Result) -> Iterator[Annotation]:
    """Yield what else failed: each workload but the one that `_of_all` is about."""
    headline_subject = worst_workload(result) if result_grade(result) is not Grade.GOOD else None
    for workload in result["workloads"]:
        level = _level(result, grade(workload["outcome"]))
        if level is not None and workload is not headline_subject:
            causes = [f"{cause['reason']}: {cause['message']}" for cause in workload["causes"]]
            title = f"{workload_name(result, workload)}: {workload['outcome']}"
            message = causes[0] if causes else workload["reason"]
            yield Annotation(level, title, message, *_place(result, workload))


def _of_checks(result: Result) -> Iterator[Annotation]:
    for check in result["checks"]:
        level = _level(result, check_grade(check))
        if level is not None and check["verdict"] != "undecided":
            yield Annotation(level, f"check {check['name']}: {check['verdict']}", check["message"])


def _warnings(result: Result) -> Iterator[Annotation]:
    for warning in result["warnings"]:
        yield Annotation(Level.WARNING, _PROGRAM, warning, *_place_in(warning))


def _place(result: Result, workload: WorkloadResult) -> tuple[str, int]:
    for item in list_own_objects(result, workload):
        return item["file"], item["line"]
    return "", 0


def _place_in(message: str) -> tuple[str, int]:
    found = _PLACE.fullmatch(message)
    return (found["file"], int(found["line"])) if found is not None else ("", 0)
