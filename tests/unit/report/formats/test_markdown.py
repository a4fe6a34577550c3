"""The page for a step's summary."""

from __future__ import annotations

import copy

import pytest

from gate.report.formats.markdown import BUDGET_BYTES, markdown
from gate.report.schema.result import Result
from tests.unit.report.results import example, spoilt


def many(count: int, log_characters: int) -> Result:
    """Return a result of many Deployments with long logs."""
    result = spoilt(example("rolled-back"), "w" * log_characters)
    one = result["workloads"][0]
    result["workloads"] = [{**copy.deepcopy(one), "name": f"web-{n}"} for n in range(count)]
    return result


@pytest.mark.contract("B563")
@pytest.mark.parametrize("budget_bytes", [400, 2_000, 20_000, BUDGET_BYTES])
def test_any_budget_is_kept(budget_bytes: int) -> None:
    """Also one nearly used up; the verdict is never left out, and what is left out is told."""
    page = markdown(many(80, 4000), budget_bytes)
    assert len(page.encode()) <= budget_bytes
    assert "ROLLED BACK (exit 4)" in page.splitlines()[0]
    assert budget_bytes < 2_000 or "more parts are left out" in page


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a.example/ b", "https://a>b"])
def test_only_a_web_address_is_a_link(url: str) -> None:
    """What the environment says of the run is not trusted either: the page is as without it."""
    result = example("verified")
    result["run_url"] = "https://a.example/runs/1"
    assert "[this run](<https://a.example/runs/1>)" in markdown(result)
    without = markdown({**result, "run_url": ""})
    assert markdown({**result, "run_url": url}) == without
    assert "this run" not in without
