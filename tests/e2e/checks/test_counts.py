"""Comparisons by counts on real engines: counters of pods that come in the middle of the phase."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bed.expectations import assert_ended, assert_runs, assert_verified
from tests.bed.scene import web
from tests.e2e.checks.conftest import TrialOf
from tests.e2e.checks.trial import Trial, overlapping, row
from tests.engines.engine import Engine
from tests.engines.traffic import QUIET, Load

OVERLAP_SECONDS = 25


def compared(trial: Trial, old: Load, new: Load, use: str = "error-share") -> tuple[Any, Any]:
    """Apply version 2 beside version 1; return the result, and the comparison's row.

    It looks each second, at counters as they were four seconds ago.
    """
    trial.direct(1, old)
    trial.direct(2, new)
    trial.scene.serve(web())
    brisk = {"interval": "1s", "scrape-interval": "4s", "during": "rollout"}
    trial.configure({"use": use, "name": "compared", **brisk})
    result = trial.apply(**overlapping(OVERLAP_SECONDS))
    return result, row(result, "compared")


@pytest.mark.contract("B1151", "B1150", "B1213")
def test_a_worse_version_is_rolled_back_by_its_counters(trial: Trial) -> None:
    """Thrice the errors of the old version, by counters that are born in the rollout."""
    result, said = compared(trial, Load(error_share=0.02), Load(error_share=0.06))
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    assert_runs(trial.scene.objects, "shop/web:1", revision=3)
    assert said["verdict"] == "fail"
    assert said["comparison"]["ratio"] == pytest.approx(3, rel=0.2)
    assert said["comparison"]["low"] >= 1.25


@pytest.mark.contract("B1151", "B1150")
def test_an_equal_version_passes_by_its_counters(trial: Trial) -> None:
    """And is verified; no increment of the new counters is lost, nor one of the old made up."""
    result, said = compared(trial, Load(error_share=0.02), Load(error_share=0.02))
    assert_verified(result)
    assert said["verdict"] == "pass"
    assert said["comparison"]["ratio"] == pytest.approx(1, rel=0.1)
    for side in ("new", "old"):
        counted = said["comparison"][side]
        assert counted["bad"] / counted["total"] == pytest.approx(0.02, rel=0.05)


@pytest.mark.contract("B1151", "B1213")
def test_a_slower_version_is_rolled_back_by_its_buckets(
    trial_of: TrialOf, prometheus: Engine
) -> None:
    """All its responses take over half a second, those of the old version less."""
    trial = trial_of(prometheus.url)
    result, said = compared(trial, Load(), Load(latency_seconds=0.7), "slow-share")
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    assert said["comparison"]["new"]["bad"] == said["comparison"]["new"]["total"]
    assert said["comparison"]["old"]["bad"] == 0


@pytest.mark.contract("B1152")
def test_a_version_without_traffic_is_inconclusive_by_its_counters(trial: Trial) -> None:
    """Never a pass."""
    result, said = compared(trial, Load(error_share=0.02), QUIET)
    assert_ended(result, 7, "inconclusive", "CheckInconclusive", running="new")
    assert said["verdict"] == "inconclusive"
    assert "the new version served nothing meanwhile" in said["message"]
