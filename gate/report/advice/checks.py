"""What to do next about a check: the command that asks it again, with the flags of the run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from gate.core.checks.measurement import NO_OLD_VERSION
from gate.core.checks.run import ConclusionKind
from gate.core.model.outcome import Reason
from gate.duration import format_seconds
from gate.report.advice.step import Step
from gate.report.schema.check_verdict import ComparisonResult
from gate.report.schema.result import Result, WorkloadResult

_AGAINST: Final = (ConclusionKind.FAIL, ConclusionKind.INCONCLUSIVE)
_FIXED_BOUND: Final = "check with a fixed bound, which needs the new version alone"
_ADDED: Final = ", with this run's check flags added"
_ADDED_AFTER_RECOVERY: Final = ", with the check flags of the run that was cut off added"


def ask_again(result: Result, text: str, name: str, place: list[str]) -> Step:
    """Return the step that asks the run's checks again; it says so if their flags are unknown."""
    return _ask(result, text, name, place, "--explain")


def decides_by_counts(result: Result) -> bool:
    """Tell whether what decided are comparisons by counts alone: one look compares nothing."""
    decided = [one for one in result["checks"] if one["verdict"] in _AGAINST and one["required"]]
    return bool(decided) and all(one["comparison"] is not None for one in decided)


def lacks_old_version(result: Result) -> bool:
    """Tell whether comparisons decided nothing about what others rolled out: it serves alone."""
    decided = [one for one in result["checks"] if one["verdict"] in _AGAINST and one["required"]]
    alone = [one for one in decided if one["message"] == NO_OLD_VERSION]
    return result["command"] == "verify" and bool(decided) and alone == decided


def advise_on_counts(
    result: Result, worst: WorkloadResult, name: str, place: list[str]
) -> Iterator[Step]:
    """Yield what to do about a comparison: to mend the version, or to give it more evidence."""
    if any(one["verdict"] == ConclusionKind.FAIL for one in result["checks"]):
        yield Step("find out which requests fail in the new version, fix that, then apply again")
        return
    if result["reason"] == Reason.CHECK_ERROR:
        text = "mend the check first: the report says why its counters decide nothing; step by step"
        yield ask_again(result, text, name, place)
        return
    shared = _find_shared_seconds(result)
    if shared is None and result["command"] == "verify":
        yield Step(
            "begin to verify while both versions serve, as soon as the rollout begins; or take a"
            f" {_FIXED_BOUND}"
        )
        return
    if shared is None and worst["baseline"] is None:
        yield Step(
            f"no version served before, so there is nothing to compare with: take a {_FIXED_BOUND}"
        )
        return
    found = "twice as bad is found in such a time; for less, " if _had_enough(result) else ""
    text = (
        f"{found}let both versions serve side by side for longer (a longer minReadySeconds; of a"
        " StatefulSet, a partition)"
    )
    if shared is None:
        yield _ask(result, f"{text}; this says for how long", name, place, "--power")
        return
    together = format_seconds(max(1, round(shared)))
    text = f"{text}; this says what {together} can show, and how long it takes"
    yield _ask(result, text, name, place, "--power", "--bake", together)


def _find_shared_seconds(result: Result) -> float | None:
    """Return the least time that both versions of an undecided comparison served; None for none."""
    found = [one["shared_seconds"] for one in _open_comparisons(result)]
    return min((seconds for seconds in found if seconds), default=None)


def _had_enough(result: Result) -> bool:
    """Tell whether each undecided comparison would have found twice as bad four times in five."""
    times = [(one["enough_seconds"], one["shared_seconds"]) for one in _open_comparisons(result)]
    return all(enough and shared and enough <= shared for enough, shared in times)


def _open_comparisons(result: Result) -> list[ComparisonResult]:
    open_ones = [one for one in result["checks"] if one["verdict"] in _AGAINST and one["required"]]
    return [one["comparison"] for one in open_ones if one["comparison"]]


def _ask(result: Result, text: str, name: str, place: list[str], *how: str) -> Step:
    flags = result["check_flags"]
    words = ["rollout-gate", "checks", *filter(None, (name,)), *place, *(flags or ()), *how]
    names = result["check_variables"]
    set_ = f", with {' and '.join(names)} set as in the run" if names else ""
    added = _ADDED_AFTER_RECOVERY if result["command"] == "recover" else _ADDED
    return Step(f"{text}{added if flags is None else ''}{set_}:", shlex.join(words))
