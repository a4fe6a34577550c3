"""An engine that is away, or does not answer: no verdict by itself, and in nobody's way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import web
from tests.cluster.audit import Trail
from tests.e2e.checks.conftest import FrontBefore, TrialOf
from tests.e2e.checks.trial import errors, overlapping, query, row
from tests.engines.engine import Engine
from tests.engines.traffic import METRIC, Load

GOOD = "check +error-rate: pass"
AWAY = "check +error-rate: error: .* refuses the connection"
SLOW = "sum(slow_answers)"
NOTICED = timedelta(seconds=1)
"""More than a front takes to notice that nobody waits any more."""
AT_ONCE = {"initial-delay": "0s", "required": False}


@pytest.mark.contract("B484", "B408", "B414")
def test_an_outage_alone_never_rolls_back(trial_of: TrialOf, prometheus: Engine) -> None:
    """An engine that is stopped in mid-rollout leaves a good version running, unverified."""
    trial = trial_of(prometheus.url)
    trial.scene.serve(web())
    trial.direct(2, Load())
    trial.configure(errors(), bake="11s")
    with trial.applying(**overlapping(11)) as running:
        running.wait_for_line(GOOD)
        prometheus.process.stop()
        running.wait_for_line("baking")
        result = running.wait()
    document = result.document
    assert document["reason"] in ("CheckError", "CheckInconclusive"), str(result)
    assert_ended(result, 7, "inconclusive", document["reason"], running="new")
    assert_runs(trial.scene.objects, "shop/web:2", revision=2)
    said = row(result, "error-rate")
    assert (said["verdict"], said["failures"]) == ("inconclusive", 0), said
    assert document["rollback"] is None


@pytest.mark.contract("B484", "B408")
def test_a_check_goes_on_after_an_outage(trial_of: TrialOf, prometheus: Engine) -> None:
    """An engine that comes back in time is asked again, and the version is verified."""
    trial = trial_of(prometheus.url)
    trial.scene.serve(web())
    trial.direct(2, Load())
    trial.configure(errors(), bake="30s")
    with trial.applying() as running:
        running.wait_for_line(GOOD)
        prometheus.process.stop()
        running.wait_for_line(AWAY)
        prometheus.restart()
        result = running.wait()
    assert_verified(result)
    assert_runs(trial.scene.objects, "shop/web:2", revision=2)
    assert row(result, "error-rate")["verdict"] == "pass"


@pytest.mark.contract("B485")
def test_a_slow_query_delays_no_verdict_about_pods(
    trial_of: TrialOf, prometheus: Engine, front: FrontBefore, audit: Trail
) -> None:
    """A crash loop is rolled back while a query that came before it waits for its answer."""
    slow = front(prometheus.url)
    trial = trial_of(slow.url)
    unhurried = {"strategy": {"type": "Recreate"}}
    trial.scene.serve(web(behaviour="ready=3", **unhurried))
    slow.hold(SLOW, after=1)  # the one before the apply
    trial.configure(query("slow", SLOW, max=1, **AT_ONCE))
    result = trial.apply(behaviour="crash=0.2", **unhurried)
    assert_rolled_back(result, "CrashLoop")
    _, held, *_ = slow.queries(SLOW)
    held_until = held.wait_for_end()
    writes = audit.requests().writes()
    _, back = [each for each in writes if each.resource == "deployments" and each.succeeded]
    assert held.began_at < back.at < held_until - NOTICED


@pytest.mark.contract("B485")
def test_a_slow_query_delays_no_other(
    trial_of: TrialOf, prometheus: Engine, front: FrontBefore
) -> None:
    """While one query waits for its answer, another check is asked at each tick of its grid."""
    slow = front(prometheus.url)
    trial = trial_of(slow.url)
    trial.scene.serve(web())
    trial.direct(2, Load())
    slow.hold(SLOW, after=1)
    trial.configure(query("slow", SLOW, max=1, **AT_ONCE), errors())
    result = trial.apply()
    assert_verified(result)
    assert row(result, "error-rate")["measurements"] > 3
    assert row(result, "slow")["measurements"] == 0
    _, held, *_ = slow.queries(SLOW)
    held_until = held.wait_for_end()
    meanwhile = [each for each in slow.queries(METRIC) if held.began_at < each.began_at]
    answered = [each for each in meanwhile if each.ended_at and each.ended_at < held_until]
    assert len(answered) > 3
