"""What the checks decide with real numbers: kept, rolled back, or not to be told."""

from __future__ import annotations

import re

import pytest

from tests.bed.expectations import assert_ended, assert_runs, assert_verified
from tests.bed.scene import web
from tests.cluster.command import Result
from tests.e2e.checks.conftest import TrialOf
from tests.e2e.checks.trial import (
    OF_ALL,
    OF_PODS,
    Trial,
    assert_failed_by_a_check,
    errors,
    latency,
    overlapping,
    p99,
    query,
    row,
    share_of_errors,
)
from tests.engines.engine import Engine
from tests.engines.traffic import METRIC, QUIET, Load


@pytest.mark.contract("B480", "B400", "B431")
def test_a_version_with_many_errors_is_rolled_back(trial: Trial) -> None:
    """One response in five is a 5xx: the version goes, and the share is named everywhere."""
    trial.scene.serve(web())
    trial.direct(2, Load(error_share=0.2))
    trial.configure(errors())
    result = trial.apply()
    assert_failed_by_a_check(result, r"error-rate: 0\.[12]\d* is not <= 0\.01")
    assert_runs(trial.scene.objects, "shop/web:1", revision=3)
    said = row(result, "error-rate")
    assert (said["source"], said["verdict"], said["required"]) == ("prometheus", "fail", True)
    assert said["last_value"] == pytest.approx(0.2, rel=0.2)
    assert said["failures"] == 1


@pytest.mark.contract("B480", "B417")
def test_a_version_with_few_errors_is_kept(trial: Trial) -> None:
    """One response in a thousand is a 5xx: the version stays, with evidence from its own window."""
    trial.scene.serve(web())
    trial.direct(2, Load(error_share=0.001))
    trial.configure(errors(), latency())
    result = trial.apply()
    assert_verified(result)
    assert_runs(trial.scene.objects, "shop/web:2", revision=2)
    for name, most in (("error-rate", 0.01), ("latency-p99", 1.0)):
        said = row(result, name)
        assert (said["verdict"], said["failures"]) == ("pass", 0), said
        assert said["measurements"] > 1
        assert 0 <= said["last_value"] <= most


@pytest.mark.contract("B481", "B402", "B407", "B414")
def test_a_version_without_traffic_is_not_a_good_one(trial: Trial) -> None:
    """Nobody asks the new pods: that is no evidence, and is said so."""
    trial.scene.serve(web())
    trial.direct(2, QUIET)
    trial.configure(errors(), bake="9s")
    result = trial.apply()
    assert_ended(result, 7, "inconclusive", "CheckInconclusive", running="new")
    assert_runs(trial.scene.objects, "shop/web:2", revision=2)
    said = row(result, "error-rate")
    assert (said["verdict"], said["last_value"]) == ("inconclusive", None), said


@pytest.mark.contract("B480", "B431")
def test_a_slow_version_is_rolled_back(trial_of: TrialOf, prometheus: Engine) -> None:
    """Responses that take two seconds fail the check of latency; that of errors has passed."""
    trial = trial_of(prometheus.url)
    trial.scene.serve(web())
    trial.direct(2, Load(latency_seconds=2.0))
    trial.configure(latency(), errors())
    result = trial.apply()
    assert_failed_by_a_check(result, r"latency-p99: 2\.\d+ is not <= 1")
    assert row(result, "latency-p99")["verdict"] == "fail"
    assert row(result, "error-rate")["failures"] == 0


def asked_of_all_pods(trial: Trial, engine: Engine, window: str) -> Result:
    """Replace a version that fails every second request by a good one, and ask about all pods.

    No pod of the one serves beside a pod of the other.
    """
    in_turn = {"strategy": {"type": "Recreate"}}
    trial.direct(1, Load(error_share=0.5))
    trial.direct(2, Load())
    trial.scene.serve(web(**in_turn))
    of_old = f'namespace="{trial.scene.objects.namespace}",http_response_status_code="500"'
    engine.wait_for(f"count_over_time({METRIC}_count{{{of_old}}}[20s]) > 3")
    every_pod = share_of_errors(OF_ALL, window)
    trial.configure(query("errors", every_pod, max=0.01, window="40s"), bake="18s")
    return trial.apply(**in_turn)


@pytest.mark.contract("B482", "B419")
def test_the_old_versions_errors_are_not_the_new_ones(
    trial_of: TrialOf, prometheus: Engine
) -> None:
    """A query over all pods sees the new version alone where its window is `${window}`."""
    result = asked_of_all_pods(trial_of(prometheus.url), prometheus, "${window}")
    assert_verified(result)
    assert row(result, "errors")["last_value"] == 0


@pytest.mark.contract("B483", "B420")
@pytest.mark.parametrize(("share", "code"), [(0.06, 4), (0.021, 0)])
def test_new_is_compared_with_old_by_ratio(
    trial_of: TrialOf, prometheus: Engine, share: float, code: int
) -> None:
    """Thrice the old version's share of errors is too much; a little over it is tolerated."""
    trial = trial_of(prometheus.url)
    trial.direct(1, Load(error_share=0.02))
    trial.direct(2, Load(error_share=share))
    trial.scene.serve(web())
    compare = {"max-ratio": 1.5, "min-delta": 0.005}
    by_ratio = query("errors", share_of_errors(OF_PODS), compare=compare, during="rollout")
    trial.configure(by_ratio)
    result = trial.apply(**overlapping(20))
    assert result.exit_code == code, str(result)
    said = row(result, "errors")
    assert said["verdict"] == ("fail" if code else "pass")
    assert said["last_value"] == pytest.approx(share, rel=0.3)
    assert re.search(r"0\.0[12]\d*", said["message"]), said


@pytest.mark.contract("B483", "B421")
def test_new_is_compared_with_old_by_rank(trial_of: TrialOf, prometheus: Engine) -> None:
    """Samples of both versions, taken at the same times, tell which one is slower."""
    trial = trial_of(prometheus.url)
    trial.direct(1, Load(latency_seconds=0.1))
    trial.direct(2, Load(latency_seconds=0.4))
    trial.scene.serve(web())
    compare = {"test": "mann-whitney"}
    trial.configure(query("latency", p99(OF_PODS), compare=compare, during="rollout"))
    result = trial.apply(**overlapping(33))
    assert result.exit_code == 4, str(result)
    assert row(result, "latency")["verdict"] == "fail"
