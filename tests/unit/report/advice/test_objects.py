"""What to do about objects that do not stand as the run left them."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.report.advice.objects import object_advice
from gate.report.schema.result import AtEnd, ObjectResult
from tests.unit.report.results import object_result, result_of, workload_result

LEFT = (
    "configmap/settings: still as this run wrote it; apply again if yours should win, or apply"
    " the configuration that belongs to theirs"
)
CHANGED = "configmap/flags: find out who did that; apply again if yours should win"


def at_end(name: str, state: str, *managers: str) -> ObjectResult:
    """Return a ConfigMap that the run changed, as it stood at the end."""
    found: AtEnd = {"state": state, "managers": [*managers], "fields": [], "finalizers": []}  # type: ignore[typeddict-item]
    return object_result(name=name, at_end=found)


@pytest.mark.contract("B145", "B175", "B911")
@pytest.mark.parametrize(
    ("objects", "advice"),
    [
        ([at_end("settings", "as-written")], [LEFT]),
        ([at_end("flags", "changed")], [CHANGED]),
        ([at_end("settings", "as-written"), at_end("flags", "changed")], [LEFT]),
        (
            [at_end("flags", "changed", "kubectl-edit", "rollout-gate", "my tool")],
            [f"{CHANGED}, with --take-over kubectl-edit --take-over 'my tool'"],
        ),
    ],
)
def test_beside_somebody_elses_deployment_one_advice_says_whose_is_to_win(
    objects: list[ObjectResult], advice: list[str]
) -> None:
    """To apply again decides of all objects: it is said once, with what it has to take over."""
    result = result_of(workload_result(Outcome.SUPERSEDED, Reason.SUPERSEDED, "other"))
    result["objects"] = objects
    assert list(object_advice(result)) == [(text, "") for text in advice]
