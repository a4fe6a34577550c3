"""What to say of an apply that did not come to all its writes, and of what it never wrote.

Reads the result document alone, so that a report that is rendered again says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.report.schema.result import DeploymentResult, Result

_HOW: Final[Mapping[str, str]] = {
    Reason.APPLY_REJECTED: "the apply was rejected half-way",
    Reason.INTERRUPTED: "the apply broke off half-way",
}


def how_it_ended(result: Result) -> str:
    """Say what cut an apply off half-way, "" where a version came to its own end."""
    how = _HOW.get(result["reason"], "")
    if result["reason"] == Reason.APPLY_REJECTED:
        return how
    if not result["deployments"]:
        return how if any(item["action"] == "unchanged" for item in result["objects"]) else ""
    return how if any(map(is_unwritten, result["deployments"])) else ""


def has_failed_itself(deployment: DeploymentResult) -> bool:
    """Tell a Deployment whose own version led back: no refused write, no end of the gate did."""
    return not is_innocent(deployment) and deployment["reason"] not in _HOW


def is_unwritten(deployment: DeploymentResult) -> bool:
    """Tell whether an attempt with writes never came to a Deployment."""
    return not (deployment["changed"] or deployment["new"]["replicaset"])


def stays_as_created(deployment: DeploymentResult) -> bool:
    """Tell whether an apply created a Deployment, was cut off, and left it when it went back."""
    return deployment["outcome"] == Outcome.INCONCLUSIVE and deployment["reason"] in _HOW


def is_unchanged(result: Result, deployment: DeploymentResult) -> bool:
    """Tell a Deployment that a run with writes found and left as it was."""
    return _has_written(result) and not deployment["changed"] and not is_unwritten(deployment)


def has_changed_nothing(result: Result) -> bool:
    """Tell whether a run had objects to write, and every one of them was as it was to be."""
    actions = {item["action"] for item in result["objects"]}
    return _has_written(result) and actions == {"unchanged"}


def _has_written(result: Result) -> bool:
    """Tell a run that applied its objects from one that only looked: it looks for them again."""
    return any(one["at_end"] or one["action"] != "unchanged" for one in result["objects"])


def is_innocent(deployment: DeploymentResult) -> bool:
    """Tell a Deployment against which nothing was found from the one whose failure it shares."""
    causes = {cause["reason"] for cause in deployment["causes"]}
    return deployment["reason"] == Reason.SIBLING_FAILED and causes <= {Reason.SIBLING_FAILED}


def is_left_alone(result: Result, deployment: DeploymentResult) -> bool:
    """Tell a Deployment that is somebody else's by now from what else of the attempt went back."""
    superseded = deployment["outcome"] == Outcome.SUPERSEDED
    return superseded and result["rollback"] is not None and is_unwritten(deployment)
