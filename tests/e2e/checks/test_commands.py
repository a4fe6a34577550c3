"""Checks apart from a rollout: asked by hand against what runs, and read from a recording."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from gate.sources.ready_made import READY_MADE
from tests.bed.scene import web
from tests.e2e.checks.conftest import TrialOf
from tests.e2e.checks.trial import Trial, assert_failed_by_a_check, errors, latency, rows
from tests.engines.engine import Engine
from tests.engines.traffic import METRIC, QUIET, Load

BRISK_LOOK: dict[bool, dict[str, str]] = {True: {"scrape-interval": "2s"}}
"""By whether a check compares counters: they are read as they stood a moment ago."""
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.contract("B490")
@pytest.mark.parametrize(
    ("load", "code", "verdict"),
    [
        (Load(), 0, "pass"),
        (Load(error_share=0.2), 6, "fail"),
        (QUIET, 7, "no-data"),
    ],
    ids=["good", "bad", "quiet"],
)
def test_checks_are_asked_by_hand(
    trial: Trial, engine: Engine, load: Load, code: int, verdict: str
) -> None:
    """`checks` asks about the version that runs, says what came, and its exit code is the worst."""
    trial.direct(1, load)
    trial.scene.serve(web())
    namespace = trial.scene.objects.namespace
    if load is not QUIET:
        every = f'sum(rate({METRIC}_count{{namespace="{namespace}"}}[3s]))'
        engine.wait_for(f"{every} > 900")
    trial.configure(errors(), latency())
    manifest = trial.scene.manifest(web())
    result = trial.scene.gate("checks", "-f", manifest, "--output", "json")
    assert result.exit_code == code, str(result)
    [found] = [each for each in rows(result) if each["name"] == "error-rate"]
    assert found["verdict"] == verdict, found
    text = trial.scene.gate("checks", "-f", manifest, "--explain")
    assert text.exit_code == code, str(text)
    assert f'namespace="{namespace}"' in text.stdout


@pytest.mark.contract("B490")
def test_the_check_of_the_readme_passes_a_service_without_errors(
    trial_of: TrialOf, prometheus: Engine
) -> None:
    """Word for word: a service that never had an error has no series of them."""
    trial = trial_of(prometheus.url)
    trial.scene.serve(web())
    prometheus.wait_for(f'count(up{{namespace="{trial.scene.objects.namespace}"}}) > 1')
    check = re.findall(r"--check '([^']*)'", (ROOT / "README.md").read_text(encoding="utf-8"))[0]
    flags = ["--prometheus-url", prometheus.url, "--check", check]
    result = trial.scene.gate("checks", "web", *flags, "--output", "json")
    assert result.exit_code == 0, str(result)
    [found] = rows(result)
    assert found["verdict"] == "pass", found
    without = check.replace(' or 0 * sum(up{pod=~"${replicaset}-.*"})', "")
    assert without != check
    assert trial.scene.gate("checks", "web", *flags[:3], without).exit_code == 7


@pytest.mark.contract("B1213", "B1215", "B431")
def test_every_ready_made_check_can_be_asked(trial_of: TrialOf, prometheus: Engine) -> None:
    """As it is printed. Only of the metrics that are there it has a value.

    A bucket that is not there is none of these metrics, and not a version that is never slow.
    """
    trial = trial_of(prometheus.url)
    trial.direct(1, Load(latency_seconds=0.3))
    trial.scene.serve(web())
    of_pods = f'namespace="{trial.scene.objects.namespace}"'
    prometheus.wait_for(f"sum(increase({METRIC}_count{{{of_pods}}}[10s])) > 20")
    # Checks by counts read what was there a moment ago.
    prometheus.wait_for(f"count({METRIC}_count{{{of_pods}}} offset 3s) == 2")
    printed = [
        {
            **check,
            "name": f"{check['name']}-{made.metrics}",
            **BRISK_LOOK.get(made.is_by_counts, {}),
        }
        for made in READY_MADE
        for check in yaml.safe_load(made.as_configuration())["checks"]
    ]
    slow = next(check for check in printed if check["name"] == "slow-share-opentelemetry")
    odd = {key: str(slow[key]).replace('le="0.5"', 'le="0.6"') for key in ("bad", "total")}
    trial.configure(*printed, {**slow, **odd, "name": "no-bucket"})
    result = trial.scene.gate("checks", "web", "--output", "json")
    found = {each["name"]: each for each in rows(result)}
    assert len(found) == len(READY_MADE) + 1, str(result)
    there = {name for name, said in found.items() if said["value"] is not None}
    names = ("error-rate", "latency-p99", "error-share", "slow-share")
    assert there == {f"{name}-opentelemetry" for name in names}, str(result)
    assert {said["verdict"] for said in found.values()} == {"pass", "no-data"}
    for name, seen in (("error", "2 series of total, 0 of bad"), ("slow", "2 series of total, 2")):
        assert seen in found[f"{name}-share-opentelemetry"]["message"]
    assert "bad gives no series although total does" in found["no-bucket"]["message"]


@pytest.mark.contract("B491")
def test_a_recorded_rollout_is_judged_the_same_again(trial_of: TrialOf, prometheus: Engine) -> None:
    """`replay` says of a recording what the gate said of the rollout, without any server."""
    trial = trial_of(prometheus.url)
    trial.scene.serve(web())
    trial.direct(2, Load(error_share=0.2))
    trial.configure(errors())
    result = trial.apply("--record", "record.jsonl")
    assert_failed_by_a_check(result, "error-rate: 0")
    (trial.scene.folder / "rollout-gate.yaml").unlink()
    again = trial.scene.gate("replay", "record.jsonl", "--output", "json")
    assert again.exit_code == 0, str(again)
    assert (again.document["verdict"], again.document["reason"]) == ("failed", "CheckFailed")
    [then], [now] = rows(result), rows(again)
    assert (now["verdict"], now["last_value"]) == (then["verdict"], then["last_value"])
