"""What failed where the pods are of one version all along: the change of something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.report.document.changes import MASKED
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import has_one_version
from gate.report.words.object_names import list_own_objects, some_names, workload_name

_MOST_NAMED: Final = 3
_FIELDS: Final = {
    "spec.replicas": "replicas",
    "spec.strategy": "strategy",
    "spec.updateStrategy": "strategy",
}
"""What the fields of a workload that change no pod template are called, by their paths."""

_DID: Final[Mapping[str, str]] = {
    Reason.CHECK_FAILED: "failed",
    Reason.CHECK_INCONCLUSIVE: "was not verified",
    Reason.CHECK_ERROR: "was not verified",
}
"""What a change did that went back, by what a check said of it."""


def describe_change(result: Result, workload: WorkloadResult) -> str:
    """Return what was changed and went back where no pod is of a new version, "" for a version."""
    is_undone = result["takes_back"] or result["reason"] == Reason.INTERRUPTED
    if is_undone or not has_one_version(workload):
        return ""
    parts = list(dict.fromkeys(_changed_parts(result, workload)))
    return f"the change of {' and '.join(parts)}" if parts else ""


def describe_hidden_values(result: Result) -> str:
    """Say why values are not shown among what an apply changed, "" where all are."""
    changes = (change for one in result["objects"] for change in one["changes"])
    if not any(MASKED in (change["before"], change["after"]) for change in changes):
        return ""
    return f"{MASKED}: the value may be secret, as any of a ConfigMap may, so no report shows it"


def describe_configuration_back(result: Result) -> str:
    """Say that configuration alone went back, and no workload had changed; "" for anything else."""
    workloads = result["workloads"]
    untouched = [one for one in workloads if one["outcome"] == Outcome.VERIFIED]
    is_alone = all(one in untouched and not one["changed"] for one in workloads)
    if result["outcome"] != Outcome.ROLLED_BACK or not workloads or not is_alone:
        return ""
    did = _DID.get(result["reason"], "did not complete")
    if result["undecided_check"]:
        did = "was not verified"
    names = some_names([workload_name(result, one) for one in workloads], _MOST_NAMED)
    runs = "runs" if len(workloads) == 1 else "run"
    return f"the change of configuration {did} and went back; {names} {runs} as before"


def _changed_parts(result: Result, workload: WorkloadResult) -> Iterator[str]:
    for one in list_own_objects(result, workload):
        for change in one["changes"]:
            for path, name in _FIELDS.items():
                if change["path"] == path or change["path"].startswith(f"{path}."):
                    yield name
    others = (one for one in result["objects"] if not registry.is_workload(one["kind"]))
    if any(one["action"] == "restored" for one in others):
        yield "configuration"
