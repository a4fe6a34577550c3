"""Objects that nobody judged are named wherever something is called good."""

from __future__ import annotations

import pytest
from junitparser import JUnitXml, Skipped

from gate.core.model.outcome import Outcome, Reason
from gate.report.formats.files import render_result
from gate.report.formats.format import Format
from gate.report.formats.outputs import outputs
from gate.report.schema.result import Result
from tests.table import each
from tests.unit.report.results import first_line_of, object_result, result_of, workload_result

NAMES = "statefulset/db-0, statefulset/db-1, statefulset/db-2"
FIVE = f"; 5 objects applied, not judged: {NAMES} and 2 more"


def with_objects(outcome: Outcome, action: str, count: int = 1) -> Result:
    """Return the result of a Deployment beside StatefulSets that nobody judged, and a ConfigMap."""
    result = result_of(workload_result(outcome, Reason.COMPLETE, "new"))
    sets = [
        object_result(kind="StatefulSet", name=f"db-{n}", coverage="not-judged", action=action)
        for n in range(count)
    ]
    result["objects"] = [object_result(), *sets]
    return result


@pytest.mark.contract("B1031")
@each(
    ("outcome", "action", "count", "words"),
    [
        (Outcome.VERIFIED, "changed", 1, "; 1 object applied, not judged: statefulset/db-0"),
        (Outcome.VERIFIED, "unchanged", 1, "; 1 object applied, not judged: statefulset/db-0"),
        (Outcome.VERIFIED, "created", 5, FIVE),
        (Outcome.INCONCLUSIVE, "changed", 1, "; 1 object applied, not judged: statefulset/db-0"),
        (Outcome.ROLLED_BACK, "restored", 1, "; 1 object restored, not judged: statefulset/db-0"),
        (Outcome.ROLLED_BACK, "deleted", 1, ""),
        (Outcome.FAILED, "changed", 1, ""),
    ],
)
def test_the_first_line_ends_with_what_nobody_judged(
    outcome: Outcome, action: str, count: int, words: str
) -> None:
    """Only beside what is called good: a failure claims nothing of the rest."""
    line = first_line_of(with_objects(outcome, action, count))
    assert line.endswith(words)
    assert ("not judged" in line) is bool(words)


@pytest.mark.contract("B1031", "B562")
def test_each_format_has_them() -> None:
    """A pipeline can count them; a test report shows them as skipped."""
    result = with_objects(Outcome.VERIFIED, "changed", 2)
    for form in (Format.TEXT, Format.MARKDOWN, Format.HTML):
        said = render_result(form, result).replace("\\", "")
        assert "2 objects applied, not judged: statefulset/db-0" in " ".join(said.split()), form
    assert outputs(result)["not-judged"] == "2"
    assert "GATE_NOT_JUDGED=2" in render_result(Format.DOTENV, result)
    cases = JUnitXml.fromstring(render_result(Format.JUNIT, result).encode())
    found = [case for suite in cases for case in suite]
    skipped = [case.name for case in found if any(isinstance(r, Skipped) for r in case.result)]
    assert skipped == ["shop/db-0", "shop/db-1"]
