"""How a recorded run ended: what a recording holds of its result, and a report made of it.

A recording is there to be shown to others, so it holds no log, no value of a field, no text of a
check, and neither server nor kubeconfig.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gate.core.model.outcome import Reason
from gate.report.schema.earlier_keys import add_workloads
from gate.report.schema.earlier_words import add_values_of_sentences
from gate.report.schema.result import ObjectResult, Result, WorkloadResult

Ended = dict[str, Any]
"""A part of a result document, without the keys in `_LEFT_OUT`."""

_LEFT_OUT: Final = (
    "server",
    "kubeconfig",
    "check_flags",
    "check_variables",
    "checks",
    "timeline",
    "history",
    "warnings",
)
_OF_CHECKS: Final = (Reason.CHECK_FAILED, Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR)
"""The reasons whose message may quote what a check was answered."""


def recorded_end(result: Result) -> Ended:
    """Return what a recording holds of the result of its run."""
    plain: dict[str, Any] = {**result}
    kept = {name: part for name, part in plain.items() if name not in _LEFT_OUT}
    return {
        **kept,
        "message": _without_check_text(result["reason"], result["message"]),
        "workloads": [_workload(one) for one in result["workloads"]],
        "objects": [_object(one) for one in result["objects"]],
    }


def _workload(one: WorkloadResult) -> WorkloadResult:
    causes = [
        {**cause, "message": _without_check_text(cause["reason"], cause["message"])}
        for cause in one["causes"]
    ]
    message = _without_check_text(one["reason"], one["message"])
    return {**one, "message": message, "causes": causes, "evidence": [], "trees": []}  # type: ignore[typeddict-item]


def _object(one: ObjectResult) -> ObjectResult:
    return {**one, "file": "", "line": 0, "changes": []}


def _without_check_text(reason: str, message: str) -> str:
    return "" if reason in _OF_CHECKS else message


def with_recorded_end(judged: Result, ended: Ended) -> dict[str, Any]:
    """Return the result of a recorded run as JSON, which nobody has looked at yet.

    `judged` is its recording judged again: it has what the end lacks, as far as both came to the
    same reason.
    """
    add_workloads(ended)
    add_values_of_sentences(ended)
    found: dict[str, Any] = {**judged, **ended}
    again = {_place(one): one for one in judged["workloads"]}
    if not found["message"] and found["reason"] == judged["reason"]:
        found["message"] = judged["message"]
    found["workloads"] = [_with_evidence(one, again.get(_place(one))) for one in found["workloads"]]
    return found


def _place(one: Mapping[str, Any]) -> tuple[str, str, str]:
    return one["kind"], one["namespace"], one["name"]


def _with_evidence(ended: dict[str, Any], judged: WorkloadResult | None) -> dict[str, Any]:
    if judged is None:
        return ended
    texts = {cause["reason"]: cause["message"] for cause in judged["causes"]}
    causes = [
        {**cause, "message": cause["message"] or texts.get(cause["reason"], "")}
        for cause in ended["causes"]
    ]
    message = ended["message"]
    if not message and ended["reason"] == judged["reason"]:
        message = judged["message"]
    found = {**ended, "message": message, "causes": causes}
    return {**found, "evidence": judged["evidence"], "trees": judged["trees"]}
