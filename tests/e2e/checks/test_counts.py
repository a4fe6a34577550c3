"""Comparisons by counts on real engines: counters of pods that come in the middle of the phase.

Scrapes and looks are a second apart, traffic is even. For most of the rollout one pod of each
version serves: of two new ones one takes its time, and of two old ones one stays for that long.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.bed.expectations import assert_ended, assert_runs, assert_verified
from tests.bed.scene import web
from tests.cluster.kubelet.api import JSON, STRATEGIC_PATCH
from tests.cluster.objects import Objects, is_ready
from tests.e2e.checks.conftest import FrontBefore, TrialOf
from tests.e2e.checks.trial import BOTH_AT_ONCE, OF_PODS, Trial, overlapping, row
from tests.engines.engine import Engine
from tests.engines.front import Front
from tests.engines.traffic import METRIC, QUIET, Counted, Load

TOTAL = f"{METRIC}_count{{{OF_PODS}}}"
LOOKS_SECONDS = 60.0
DELAY_SECONDS = 4
"""Looks a second apart see counters as they were so long ago: the scrape interval."""

FIRST_REQUESTS = Load(error_share=0.5, requests_per_second=20)
"""So few that VictoriaMetrics may show the new series late: up to 30 count at once (B1150)."""


def of_status(pattern: str) -> str:
    """Return the counters of responses with such a status."""
    return f'{METRIC}_count{{{OF_PODS},http_response_status_code=~"{pattern}"}}'


def by_counts(name: str = "errors", status: str = "5..", **over: object) -> dict[str, Any]:
    """Return a comparison that looks each second, at counters as they were a few seconds ago."""
    brisk = {"interval": "1s", "scrape-interval": f"{DELAY_SECONDS}s", "during": "rollout"}
    return {"name": name, "bad": of_status(status), "total": TOTAL, **brisk, **over}


def counted(said: Mapping[str, Any], side: str) -> Counted:
    """Return what the gate counted of a version."""
    found = said["comparison"][side]
    return Counted(round(found["bad"]), round(found["total"]))


@pytest.mark.contract("B1151", "B1150", "B1163")
def test_a_worse_version_is_rolled_back_within_150_seconds_of_traffic(
    trial: Trial, engine: Engine
) -> None:
    """Thrice the errors of the old version, of which 1 % fail, at 10 requests a second.

    Tenfold traffic in a tenth of the time gives the same counts at each look. The old version is
    known before the gate asks: VictoriaMetrics remembers for ten seconds that it knew nothing. The
    recording counts the requests again, under a tolerance for which that is not too much.
    """
    trial.direct(1, Load(error_share=0.01, requests_per_second=100))
    trial.direct(2, Load(error_share=0.03, requests_per_second=100))
    trial.scene.serve(web())
    of_old = f'{METRIC}_count{{namespace="{trial.scene.objects.namespace}"}}'
    engine.wait_for(f"count({of_old} offset {DELAY_SECONDS}s) >= 2")
    trial.configure(by_counts())
    result = trial.apply("--record", "run.jsonl", **overlapping(25))
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    assert_runs(trial.scene.objects, "shop/web:1", revision=3)
    said = row(result, "errors")
    assert said["verdict"] == "fail"
    assert said["comparison"]["ratio"] == pytest.approx(3, rel=0.2)
    assert said["comparison"]["low"] >= 1.25
    # On a busy machine a look may be left out, which costs one more.
    assert counted(said, "new").asked <= (150 + 10) * 10
    wide = {"test": "counts", "tolerance": 9, "harm": 20}
    trial.configure(by_counts(compare=wide))
    judged = trial.scene.gate("backtest", "run.jsonl", "--output", "json")
    [recording] = judged.document["recordings"]
    assert recording["then"]["reason"] == "CheckFailed"
    assert (recording["now"]["verdict"], recording["turned"]) == ("progressing", True)


def wait_for_looks(front: Front, number: int) -> None:
    """Return once so many more looks at the errors of both versions have their answers."""

    def answered() -> int:
        return sum(each.ended_at is not None for each in front.queries('=~"5.."'))

    wanted, deadline = answered() + 2 * number, time.monotonic() + LOOKS_SECONDS
    while answered() < wanted:
        assert time.monotonic() < deadline, f"{answered()} of {wanted} looks"
        # Looks come with real time: there is nothing to wait on.
        time.sleep(0.05)


def pods_of(trial: Trial, image: str) -> list[JSON]:
    """Return the pods of a version."""
    pods = trial.scene.objects.list_all("pods")
    return [each for each in pods if each["spec"]["containers"][0]["image"] == image]


def let_be_ready(objects: Objects) -> None:
    """Let the new pod that never would be ready by itself be ready."""
    [pod] = [each for each in objects.list_all("pods") if not is_ready(each)]
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    ready = {"status": "True", "lastTransitionTime": now}
    conditions = [{"type": name, **ready} for name in ("ContainersReady", "Ready")]
    status = {"conditions": conditions, "containerStatuses": [{"name": "web", "ready": True}]}
    name = pod["metadata"]["name"]
    objects.patch("pods", name, {"status": status}, STRATEGIC_PATCH, "status")


@pytest.mark.contract("B1150", "B1151", "B1152", "B1158", "B1160")
def test_an_equal_version_passes_early_and_not_one_request_is_lost(
    trial_of: TrialOf, engine: Engine, front: FrontBefore
) -> None:
    """Through a missed scrape, processes that begin again, and series that are born in the rollout.

    The second new pod is ready only once all has been counted: the rollout cannot end before. The
    gate counts exactly what the pods did. They are quiet where counting starts and ends, and
    for a moment before the restart: what no scrape has seen, nobody can count. Another check passes
    by errors that have never occurred, which takes 6,905 requests at a look (99.9 % sure of less
    than 0.1 %): a second of this traffic brings 5,000.
    """
    before = front(engine.url)
    trial = trial_of(before.url)
    application, namespace = trial.application, trial.scene.objects.namespace
    load = Load(error_share=0.02, requests_per_second=5000)

    def pods_counted() -> list[Counted]:
        return [application.counted(namespace, f"shop/web:{one}") for one in (2, 1)]

    def direct(load: Load) -> None:
        trial.direct(1, load)
        trial.direct(2, load)

    def be_quiet_until_scraped() -> None:
        direct(QUIET)
        engine.wait_for(f'sum(increase({METRIC}_count{{namespace="{namespace}"}}[4s])) == 0')

    trial.direct(1, load)
    trial.scene.serve(web())
    of_old = f'{METRIC}_count{{namespace="{namespace}",http_response_status_code="500"}}'
    engine.wait_for(f"{of_old} > 5")
    be_quiet_until_scraped()
    early = {"during": "both"}
    trial.configure(
        by_counts(**early),
        by_counts("unheard of", "503", **early),
        bake="10m",
        **{"bake-early": True},
    )
    began = pods_counted()
    with trial.applying(behaviour="never-ready;only=1", strategy=BOTH_AT_ONCE) as running:
        wait_for_looks(before, 1)
        application.ask_at_once(namespace, "shop/web:2", FIRST_REQUESTS)
        names = "|".join(each["metadata"]["name"] for each in pods_of(trial, "shop/web:2"))
        of_new = f'{METRIC}_count{{namespace="{namespace}",pod=~"{names}"}}'
        engine.wait_for(f"count({of_new}) == 2")
        wait_for_looks(before, DELAY_SECONDS + 2)
        direct(load)
        wait_for_looks(before, 3)
        with application.unreachable():
            engine.wait_for('up{namespace=""} == 0')
        wait_for_looks(before, 1)
        be_quiet_until_scraped()
        for version in (1, 2):
            application.restart(namespace, f"shop/web:{version}")
        direct(load)
        wait_for_looks(before, 7)
        be_quiet_until_scraped()
        wait_for_looks(before, DELAY_SECONDS + 2)
        grown = [now - then for now, then in zip(pods_counted(), began, strict=True)]
        let_be_ready(trial.scene.objects)
        result = running.wait()
    assert_verified(result)
    assert result.duration_seconds < 300
    errors, unheard = row(result, "errors"), row(result, "unheard of")
    assert [counted(errors, side) for side in ("new", "old")] == grown
    assert errors["verdict"] == unheard["verdict"] == "pass"
    assert counted(unheard, "new") == Counted(0, grown[0].asked)
    assert "neither version has a series of bad, which counts as 0" in unheard["message"]


@pytest.mark.contract("B1151", "B1213")
def test_a_slower_version_is_rolled_back_by_its_buckets(
    trial_of: TrialOf, prometheus: Engine
) -> None:
    """By the ready-made check: all its responses take over half a second, none of the old ones."""
    trial = trial_of(prometheus.url)
    trial.direct(1, Load())
    trial.direct(2, Load(latency_seconds=0.7))
    trial.scene.serve(web())
    brisk = {"interval": "1s", "scrape-interval": f"{DELAY_SECONDS}s", "during": "rollout"}
    trial.configure({"use": "slow-share", **brisk})
    result = trial.apply(**overlapping(25))
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    found = row(result, "slow-share")["comparison"]
    assert found["new"]["bad"] == found["new"]["total"] > 0
    assert found["old"]["bad"] == 0 < found["old"]["total"]


@pytest.mark.contract("B1152")
def test_a_version_without_traffic_is_inconclusive_by_its_counters(trial: Trial) -> None:
    """Never a pass."""
    trial.direct(1, Load(error_share=0.02))
    trial.direct(2, QUIET)
    trial.scene.serve(web())
    trial.configure(by_counts())
    result = trial.apply(**overlapping(9))
    assert_ended(result, 7, "inconclusive", "CheckInconclusive", running="new")
    said = row(result, "errors")
    assert said["verdict"] == "inconclusive"
    assert "the new version served nothing meanwhile" in said["message"]


@pytest.mark.contract("B423", "B1152")
def test_a_version_that_serves_alone_passes_by_a_negligible_rate(
    trial_of: TrialOf, prometheus: Engine
) -> None:
    """As `verify` judges a complete one, with no old pod left."""
    trial = trial_of(prometheus.url)
    trial.direct(1, Load(requests_per_second=5000))
    trial.scene.serve(web())
    trial.configure(by_counts(during="bake"), bake="10m", **{"bake-early": True})
    result = trial.scene.gate("verify", "web", "--output", "json")
    assert_verified(result)
    said = row(result, "errors")
    assert said["verdict"] == "pass"
    assert "with no version before it to compare with" in said["message"]
