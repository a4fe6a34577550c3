"""Which setting would make a rehearsal end as it should."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from gate.app.rehearsal.trouble import End, Trouble
from gate.core.checks.run import ConclusionKind
from gate.core.model.outcome import ON_THEIR_WAY, Outcome, Reason
from gate.report.kinds import registry

_LIMITS: Final[dict[str, str]] = {
    Reason.CRASH_LOOP: "crash",
    Reason.OUT_OF_MEMORY: "crash",
    Reason.READINESS_LOST: "readiness-lost",
    Reason.IMAGE_PULL: "image-pull",
    Reason.CONTAINER_CONFIG: "container-config",
    Reason.POD_CREATE_DENIED: "pod-create",
    **registry.LIMITS,
}
"""The kind of `--fail-fast` for each reason."""
_CANNOT_TELL: Final = (Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR)
_CLOCKS: Final = (Reason.PROGRESS_DEADLINE_EXCEEDED, *ON_THEIR_WAY)


def setting_for(trouble: Trouble, result: dict[str, Any], comparisons: Collection[str]) -> str:
    """Return, in words, the setting to change after a run that did not end as it should.

    `result` is its document (`rollout-gate/result/v1`), `comparisons` are the names of the checks
    that compare with the old version.
    """
    doubtful = _list_doubtful(result) if result["reason"] in _CANNOT_TELL else []
    if any(name in comparisons for name in doubtful):
        names = ", ".join(name for name in doubtful if name in comparisons)
        return (
            f"{names} saw too little of both versions side by side: old pods have to serve for"
            " longer (a partition, a canary), or take a check with a bound of its own, as use:"
            " error-rate"
        )
    match result["outcome"]:
        case Outcome.APPLIED:
            return "nothing was tried: its strategy replaces no pod by itself"
        case Outcome.ROLLBACK_FAILED:
            return "give the way back more time with --rollback-timeout"
        case Outcome.REFUSED:
            return f"nothing was tried: {result['message']}"
        case Outcome.INCONCLUSIVE if trouble.end is End.CAUGHT:
            return "--on-inconclusive rollback returns where the checks cannot tell"
        case _ if trouble.end is End.CAUGHT:
            return _to_catch(trouble)
        case _:
            return _to_let_pass(trouble, result["reason"], doubtful)


def _list_doubtful(result: dict[str, Any]) -> list[str]:
    """Return the names of the checks that decide and could not."""
    return [
        each["name"]
        for each in result["checks"]
        if each["required"] and each["verdict"] == ConclusionKind.INCONCLUSIVE
    ]


def _to_catch(trouble: Trouble) -> str:
    """Return what would have caught a missed failure; "" for a late one, which has a warning."""
    if trouble.at:
        return ""
    if trouble.checks is not None:
        return "it came to be measured too late: a longer --bake sees it"
    return "the new pods count before it shows: minReadySeconds in the manifest, or --bake 1m"


def _to_let_pass(trouble: Trouble, reason: str, doubtful: Collection[str]) -> str:
    """Return which setting is too strict for a version that turns out good."""
    if doubtful and trouble.end is not End.KEPT:
        return f"required: false on {', '.join(doubtful)} lets it report, and decide nothing"
    if reason in _LIMITS:
        return f"--fail-fast {_LIMITS[reason]} is too strict: give it more, or its default"
    if reason == Reason.TIMEOUT:
        return "--timeout is too short for it"
    if reason in _CLOCKS:
        return "progressDeadlineSeconds in the manifest is too short for it"
    if reason in (Reason.CHECK_FAILED, Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR):
        return "--on-inconclusive keep keeps a version whose checks cannot tell"
    return f"it ended by {reason}"
