"""What a recording holds of how its run ended, and the report that is made of it."""

from __future__ import annotations

import json

import pytest

from gate.report.schema.recorded_result import recorded_end, with_recorded_end
from tests.unit.report.results import NAMES, cause_of, example, with_checks

CANARY = "s3cr3t-canary"


@pytest.mark.contract("B750")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_an_end_with_its_own_judgement_is_the_result_again(name: str) -> None:
    """But for what is not recorded, which is the recording's own."""
    result = example(name)
    again = with_recorded_end(result, recorded_end(result))
    for one in result["objects"]:
        one.update({"file": "", "line": 0, "changes": []})
    assert again == {**result}


@pytest.mark.contract("B466", "B750")
def test_an_end_holds_no_log_no_value_and_no_output() -> None:
    """A recording is shown to others: what a check was answered may hold a secret, too."""
    result = with_checks("rolled-back")
    result.update({"reason": "CheckFailed", "message": CANARY, "server": CANARY})
    result.update({"kubeconfig": CANARY, "warnings": [CANARY]})
    (deployment,) = result["workloads"]
    deployment["causes"] = [cause_of("CheckFailed", CANARY)]
    for piece in deployment["evidence"]:
        piece["text"] = CANARY
    result["objects"][0]["changes"] = [{"path": "data.a", "before": None, "after": CANARY}]
    result["checks"][0]["message"] = CANARY
    end = recorded_end(result)
    assert CANARY not in json.dumps(end)
    again = with_recorded_end({**result, "message": "again"}, end)
    assert again["message"] == "again"
