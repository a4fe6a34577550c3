"""What failed where the pods are of one version all along: the change of something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.model.outcome import Reason
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import verb_of
from gate.report.words.object_names import list_own_objects, workload_name
from gate.report.words.several_workloads import why_back

_FIELDS: Final = {
    "spec.replicas": "replicas",
    "spec.strategy": "strategy",
    "spec.updateStrategy": "strategy",
}
"""What the fields of a workload that change no pod template are called, by their paths."""


def why_change_went_back(result: Result, workload: WorkloadResult) -> str:
    """Say what led back where no pod is of a new version: what was changed, and not a version."""
    parts = list(dict.fromkeys(_changed_parts(result, workload)))
    if not parts or result["takes_back"] or result["reason"] == Reason.INTERRUPTED:
        return why_back(result, [workload])
    name = workload_name(result, workload)
    return f"the change of {' and '.join(parts)} of {name} {verb_of(workload)}"


def _changed_parts(result: Result, workload: WorkloadResult) -> Iterator[str]:
    for one in list_own_objects(result, workload):
        for change in one["changes"]:
            for path, name in _FIELDS.items():
                if change["path"] == path or change["path"].startswith(f"{path}."):
                    yield name
    others = (one for one in result["objects"] if not registry.is_workload(one["kind"]))
    if any(one["action"] == "restored" for one in others):
        yield "configuration"
