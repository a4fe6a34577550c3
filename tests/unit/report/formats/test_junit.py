"""The test report: what a CI host counts."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from gate.report.formats.junit import junit
from gate.report.schema.result import Result
from tests.table import each
from tests.unit.report.results import NAMES, example, with_checks


def cases(result: Result) -> dict[str, str]:
    """Return the cases by group and name, each with how it ended; "" is a pass."""
    root = ET.fromstring(junit(result))  # noqa: S314 - our own
    return {
        f"{case.attrib['classname']}/{case.attrib['name']}": "".join(
            child.tag for child in case if child.tag in ("failure", "error", "skipped")
        )
        for case in root.iter("testcase")
    }


@pytest.mark.contract("B562")
def test_there_is_a_case_for_all_that_was_judged() -> None:
    """Phases, the Deployment, and the checks; a check that is not required never fails."""
    assert cases(with_checks("rolled-back")) == {
        "rollout-gate.phase/preflight": "",
        "rollout-gate.phase/rollout": "failure",
        "rollout-gate.phase/rollback": "",
        "rollout-gate.deployment/shop/web": "failure",
        "rollout-gate.check/errors": "failure",
        "rollout-gate.check/smoke": "skipped",
        "rollout-gate.check/against before": "failure",
    }


@pytest.mark.contract("B562")
@each("name", sorted(NAMES))
def test_it_fails_where_the_exit_code_does(name: str) -> None:
    """A host that goes by the report comes to the same end as one that goes by the code."""
    result = example(name)
    ends = set(cases(result).values())
    assert bool(ends & {"failure", "error"}) is (result["exit_code"] not in (0, 7))


@pytest.mark.contract("B562")
def test_what_is_only_observed_fails_nothing() -> None:
    """The Deployment that would have failed is skipped, and says why."""
    found = cases(example("observed"))
    assert found["rollout-gate.deployment/shop/web"] == "skipped"
    assert "would have rolled back" in junit(example("observed"))


@pytest.mark.contract("B562")
@pytest.mark.parametrize(
    ("outcome", "code", "end"), [("refused", 3, "failure"), ("internal-error", 1, "error")]
)
def test_an_end_before_the_first_write_is_of_the_preflight(
    outcome: str, code: int, end: str
) -> None:
    """There is no other phase."""
    result = example("verified")
    ended: Result = {**result, "outcome": outcome, "exit_code": code, "workloads": [],  # type: ignore[typeddict-item]
                     "objects": []}  # fmt: skip
    assert cases(ended) == {"rollout-gate.phase/preflight": end}
