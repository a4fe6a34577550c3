"""The result of a rehearsed run as one line: what was decided when, why, and what runs then."""

from __future__ import annotations

from typing import Any, Final

from gate.app.rehearsal.trouble import Trouble
from gate.core.outcome import Outcome, Reason
from gate.duration import format_seconds
from gate.report.rehearsals import RehearsalResult

_DECISIONS: Final = ("failed", "superseded", "rejected")
SEEN_SECONDS: Final = 60.0
"""How long after it began most trouble is seen: three restarts take half a minute."""

_GOOD: Final = (Reason.COMPLETE, Reason.NO_CHANGE, Reason.VACUOUS)


def row_of(trouble: Trouble, result: dict[str, Any]) -> RehearsalResult:
    """Return what a result document (`rollout-gate/result/v1`) says of a rehearsal."""
    return {
        "kind": str(trouble),
        "says": trouble.says,
        "outcome": result["outcome"],
        "exit_code": result["exit_code"],
        "reason": result["reason"],
        "why": _why(result),
        "decided_at_seconds": _decided_at(result),
        "duration_seconds": result["duration_seconds"],
        "returned_to": _returned_to(result),
        "as_expected": (result["reason"] in _GOOD) is trouble.harmless,
    }


def came_too_late(trouble: Trouble, result: dict[str, Any]) -> str:
    """Say so where a trouble came after the verdict; empty where it did not."""
    over = result["duration_seconds"]
    if trouble.harmless or trouble.at < over:
        return ""
    window = format_seconds(trouble.at - over + SEEN_SECONDS)
    late = f"{trouble} comes after the verdict, at {format_seconds(over)}"
    return f"{late}: --bake {window} would see it"


def _why(result: dict[str, Any]) -> str:
    causes = [cause for each in result["deployments"] for cause in each["causes"]]
    if not causes:
        return str(result["reason"])
    return f"{causes[0]['reason']}: {causes[0]['message']}"


def _decided_at(result: dict[str, Any]) -> float:
    """Return the second of the first decision; of a good version that is the end."""
    decided = (each["at_seconds"] for each in result["timeline"] if each["event"] in _DECISIONS)
    return float(next(decided, result["duration_seconds"]))


def _returned_to(result: dict[str, Any]) -> str:
    """Return the version that was returned to, empty where none was."""
    if result["outcome"] != Outcome.ROLLED_BACK:
        return ""
    served = (each["baseline"] for each in result["deployments"] if each["baseline"])
    return next((f"revision {each['revision']}" for each in served), "")
