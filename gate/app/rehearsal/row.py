"""The result of a rehearsed run as one line: what was decided, when and why, and what runs now."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from gate.app.rehearsal.mending import setting_for
from gate.app.rehearsal.trouble import CAUGHT, End, Trouble
from gate.core.checks.run import ConclusionKind
from gate.core.model.outcome import Outcome, Reason
from gate.duration import format_seconds
from gate.report.kinds import registry
from gate.report.views.rehearsals import RehearsalResult
from gate.report.words.half_applied import is_innocent
from sandbox.face import Event, Happening, Play, Scenario

_DECISIONS: Final = ("failed", "superseded", "rejected", "unwritten")
SEEN_SECONDS: Final = 60.0
"""Within this time most trouble becomes visible: three restarts take half a minute."""

_AGAINST: Final[dict[str, ConclusionKind]] = {
    Reason.CHECK_FAILED: ConclusionKind.FAIL,
    Reason.CHECK_INCONCLUSIVE: ConclusionKind.INCONCLUSIVE,
    Reason.CHECK_ERROR: ConclusionKind.INCONCLUSIVE,
}
_DOUBTED: Final = (Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR)
_GOOD: Final = frozenset({Reason.COMPLETE, Reason.NO_CHANGE}) | registry.ENDS


def row_of(
    trouble: Trouble, result: dict[str, Any], comparisons: Collection[str] = ()
) -> RehearsalResult:
    """Return the row for a result document (`rollout-gate/result/v1`) of a rehearsal.

    `comparisons` are the names of the checks that compare with the old version.
    """
    fine = None if trouble.end is End.UNSAID else _as_expected(trouble, result)
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
        "as_expected": fine,
        "mend": setting_for(trouble, result, comparisons) if fine is False else "",
    }


def at_fault(result: dict[str, Any]) -> list[str]:
    """Return the workloads that it went wrong in, by their own results."""
    return [_call(one) for one in _list_guilty(result)]


def _list_guilty(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what failed by itself or, where nothing did, what was found amiss beside a failure."""
    bad = [one for one in result["workloads"] if not _is_good(one) and not is_innocent(one)]
    return [one for one in bad if one["reason"] != Reason.SIBLING_FAILED] or bad


def _call(workload: dict[str, Any]) -> str:
    name: str = registry.of_entry(workload).call(workload["name"])
    return name


def _is_good(workload: dict[str, Any]) -> bool:
    is_well = workload["outcome"] in (Outcome.VERIFIED, Outcome.APPLIED)
    return is_well and workload["reason"] in _GOOD


def remarks(trouble: Trouble, result: dict[str, Any], play: Play) -> Iterator[str]:
    """Yield what did not happen as requested: it came too late, or the server refused it."""
    over = result["duration_seconds"] - play.waited_seconds
    if trouble.begins and over < 0.0:
        yield f"{trouble} did not strike: the workload that it is about was never written"
        return
    if trouble.at and trouble.at >= over:
        late = f"{trouble} comes after the verdict, {format_seconds(over)} after the write"
        yield late + _window_for(trouble.at, over, result)
    for happening in play.happened:
        if happening.refusal:
            yield f"{_at(happening)} was refused: {happening.refusal}"


def late_changes(scenario: Scenario, result: dict[str, Any], play: Play) -> Iterator[str]:
    """Yield what of a user's scenario comes after the verdict, and would see a good one changed.

    The seconds of a scenario count from the beginning of the run.
    """
    over: float = result["duration_seconds"]
    late = f"comes after the verdict, {format_seconds(over)} after apply began"
    if result["reason"] in _GOOD:
        for name, at in scenario.iter_changes(over):
            yield f"{name} at {format_seconds(at)} {late}{_window_for(at, over, result)}"
    for event in play.ahead:
        yield f"{_at(event)} {late}"


def _window_for(at: float, over: float, result: dict[str, Any]) -> str:
    """Return the advice that lets a run see what begins at a second; "" where none can."""
    if all(registry.of_entry(one).runs_once for one in result["workloads"]):
        return ""
    return f": --bake {format_seconds(at - over + SEEN_SECONDS)} would see it"


def _at(event: Event | Happening) -> str:
    return f'"{event.text}" at {format_seconds(event.at)}'


def _as_expected(trouble: Trouble, result: dict[str, Any]) -> bool:
    """Tell whether it ended as it should; with --observe the reason says so, not the outcome."""
    verified = result["reason"] in _GOOD
    caught = not verified and result["outcome"] in (*CAUGHT, Outcome.OBSERVED)
    kept = result["outcome"] in (Outcome.INCONCLUSIVE, Outcome.OBSERVED)
    doubted = kept and result["reason"] in _DOUBTED
    return trouble.end.is_met(verified=verified, caught=caught, doubted=doubted)


def _why(result: dict[str, Any]) -> str:
    """Return what decided, and the first cause of the first workload that is at fault.

    Without a cause it is the deciding check, or the message if it ended before any write. Of
    several workloads the one at fault is named.
    """
    for one in _list_guilty(result):
        for cause in one["causes"][:1]:
            reasons = ", ".join(dict.fromkeys((one["reason"], cause["reason"])))
            about = f"{_call(one)}: " if len(result["workloads"]) > 1 else ""
            return f"{about}{reasons}: {cause['message']}"
    summary = _of_check(result) if result["workloads"] else result["message"]
    return f"{result['reason']}: {summary}" if summary else str(result["reason"])


def _of_check(result: dict[str, Any]) -> str:
    """Return the deciding check with its message, "" if no check decided."""
    against = _AGAINST.get(result["reason"])
    checks = (each for each in result["checks"] if each["required"] and each["verdict"] == against)
    return next((f"{each['name']}: {each['message']}" for each in checks), "")


def _decided_at(result: dict[str, Any]) -> float:
    """Return the time of the first decision, in seconds; for a good version, the end."""
    decided = (each["at_seconds"] for each in result["timeline"] if each["event"] in _DECISIONS)
    return float(next(decided, result["duration_seconds"]))


def _returned_to(result: dict[str, Any]) -> str:
    """Return the version that was returned to, "" if there was none."""
    if result["outcome"] != Outcome.ROLLED_BACK:
        return ""
    served = (each["baseline"] for each in result["workloads"] if each["baseline"])
    return next((f"revision {each['was_revision'] or each['revision']}" for each in served), "")
