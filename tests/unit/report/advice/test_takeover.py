"""Which flags a conflict is answered with, by the command that met it."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.report.advice.takeover import claims_of
from tests.table import each
from tests.unit.report.results import result_of, workload_result

NUMBER = (
    'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1:'
    " .spec.replicas"
)
BOTH = f"{NUMBER}, .spec.paused"
TAKING = ["--take-over kubectl", "--force-conflicts"]
CHOOSING = ["--replicas keep", "--replicas apply"]


@pytest.mark.contract("B1873")
@each(
    ("command", "message", "flags"),
    [
        ("apply", NUMBER, CHOOSING),
        ("apply", BOTH, TAKING),
        ("undo", NUMBER, TAKING),
    ],
)
def test_the_flags_are_those_that_the_command_has(
    command: str, message: str, flags: list[str]
) -> None:
    """`undo` has none for the number, and one for the number alone does not settle the rest."""
    result = result_of(workload_result(Outcome.FAILED, Reason.APPLY_REJECTED))
    result["command"] = command
    steps = [*claims_of(result, message)]
    assert [step.command.endswith(flag) for step, flag in zip(steps, flags, strict=True)] == [
        True,
        True,
    ]
