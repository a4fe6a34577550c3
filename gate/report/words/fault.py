"""Whether a version is at fault, or was kept from starting by its surroundings."""

from __future__ import annotations

from typing import Final

from gate.core.model.outcome import ON_THEIR_WAY, WELL, Outcome, Reason
from gate.core.model.remedy import Remedy
from gate.core.versions.surroundings import is_excused
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.object_names import list_own_objects

_OF_THE_VERSION = registry.FAILURES.union(
    {
        Reason.CRASH_LOOP,
        Reason.OUT_OF_MEMORY,
        Reason.READINESS_LOST,
        Reason.AVAILABILITY_LOST,
        Reason.CHECK_FAILED,
        Reason.IMAGE_PULL,
        Reason.CONTAINER_CONFIG,
        Reason.NOT_READY,
    }
)

OF_CHECKS: Final = (Reason.CHECK_FAILED, Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR)


def verb_of(workload: WorkloadResult) -> str:
    """Say whether a version failed or did not complete: one that could not start may be good.

    One that was complete, but for an object beside it or for a check that did not decide, did
    neither. Nor did one of which no pod was seen when a check failed: what the check measured was
    something else.
    """
    if workload["reason"] == Reason.OBJECT_NOT_READY:
        return "was not verified"
    if has_no_new_pod(workload) and workload["reason"] in OF_CHECKS:
        return "failed the checks with no new pod seen"
    if workload["reason"] in (Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR):
        return "was not verified"
    if workload["reason"] == Reason.CHECK_FAILED:
        return "failed"
    own = [c["reason"] for c in workload["causes"] if c["reason"] != Reason.SIBLING_FAILED]
    is_against = not _OF_THE_VERSION.isdisjoint((workload["reason"], *own))
    if is_excused(workload["reason"], own) or not is_against:
        return "did not complete"
    return "failed"


def find_fault(workload: WorkloadResult) -> str | None:
    """Return the most telling cause beside the end itself and pods on their way, None for none."""
    others = (*ON_THEIR_WAY, Reason.SIBLING_FAILED, workload["reason"])
    found = (one["reason"] for one in workload["causes"])
    return next((one for one in found if one not in others), None)


def find_fault_at_zero(result: Result, workload: WorkloadResult) -> str | None:
    """Return what was wrong with a new version, not judged yet, as somebody scaled it to 0.

    It may have gone back since, because of another workload. Nothing was wrong with one that was
    never written: what is said of the write is about the scaling.
    """
    if not workload["changed"]:
        return None
    is_beside = any(one["reason"] == Reason.SIBLING_FAILED for one in workload["causes"])
    is_judged = is_restored(result, workload) and not is_beside
    is_scaled = workload["reason"] == Reason.SCALED_TO_ZERO and not is_judged
    return find_fault(workload) if is_scaled else None


def is_restored(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether the way back has brought a workload to what it was."""
    return any(one["action"] == "restored" for one in list_own_objects(result, workload))


def has_only_failed_checks(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether a check that is about no workload is all that went wrong beside a good one."""
    is_well = workload["outcome"] in WELL
    ends = (Outcome.FAILED, Outcome.INCONCLUSIVE, Outcome.ROLLED_BACK)
    is_against = result["outcome"] in ends
    return is_well and is_against and result["reason"] in OF_CHECKS


def has_no_new_pod(workload: WorkloadResult) -> bool:
    """Tell whether no pod of the new version was seen by the time of the verdict.

    It may be to come, or its strategy replaces none (`NoRollout`). False where nobody looked.
    """
    judged = [tree for tree in workload["trees"] if tree["moment"] == "verdict"]
    revisions = [one for tree in judged for one in tree["revisions"]]
    return bool(judged) and not any(one["pods"] for one in revisions if one["role"] == "new")


def is_failed_promotion(workload: WorkloadResult) -> bool:
    """Tell whether the canary that was promoted failed, and its partition brings no pod back."""
    is_below = any(cause["remedy"] == Remedy.LOWER_PARTITION for cause in workload["causes"])
    return is_below and workload["running"] == "baseline" and has_one_version(workload)


def has_one_version(workload: WorkloadResult) -> bool:
    """Tell whether its pods were of one version all along, as where configuration alone changed."""
    baseline = workload["baseline"]
    return (
        baseline is not None
        and bool(baseline["name"])
        and baseline["name"] == workload["new"]["name"]
    )


def why_unverified(workload: WorkloadResult) -> str:
    """Return the reason why what served before was left unverified, "" if it was not."""
    return workload["baseline"]["unverified"] if workload["baseline"] is not None else ""
