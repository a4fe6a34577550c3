"""Health checks in a rehearsal: what they are answered, and what the gate makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gate.app.rehearsal import rehearse as rehearsing
from gate.app.rehearsal.demo import demo
from gate.app.rehearsal.rehearse import rehearse
from gate.app.rehearsal.trouble import TROUBLES
from gate.config import load
from tests.unit.app.rehearsal.conftest import Played, Write

SERVER = "prometheus: {url: 'http://prometheus.invalid'}\n"
CONFIG = """\
checks:
  - name: errors
    query: 'errors{pod=~"${replicaset}-.*"}'
    max: 0.1
  - name: slower
    query: 'avg_over_time(latency{pod=~"${replicaset}-.*"}[5m])'
    compare: {max-ratio: 1.5, min-delta: 0.1}
  - name: smoke
    command: [touch, MARK]
    count: 1
    during: bake
  - name: front
    http: {url: 'http://127.0.0.1:9/health', max-latency: 2s}
  - name: reports
    query: other
    min: 3
    required: false
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Return a configuration with a check of each kind."""
    path = tmp_path / "gate.yaml"
    path.write_text(SERVER + CONFIG.replace("MARK", str(tmp_path / "mark")))
    return str(path)


def scenario(tmp_path: Path, text: str) -> str:
    """Write a scenario file."""
    path = tmp_path / "day.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.long
@pytest.mark.contract("B473")
def test_without_trouble_all_is_well_and_nothing_is_run(
    played: Played, manifest: Write, config: str, tmp_path: Path
) -> None:
    """No server is asked, no request sent, no command run."""
    code, (row,), _ = played.judge(manifest(), config=[config])
    assert (code, row["outcome"], row["why"]) == (0, "verified", "Complete")
    assert not (tmp_path / "mark").exists()
    assert row["duration_seconds"] > 90, "the checks ask for a bake window"


@pytest.mark.contract("B474")
def test_bad_checks_are_caught_from_their_second_on(
    played: Played, manifest: Write, config: str
) -> None:
    """And the row says which check, with its number."""
    code, (row,), _ = played.judge(manifest(), config=[config], with_="bad-checks@40")
    assert (code, row["reason"], row["as_expected"]) == (4, "CheckFailed", True)
    assert row["decided_at_seconds"] == 40
    assert row["why"] == "CheckFailed: errors: 1.1 is not <= 0.1"


COUNTS = """\
checks:
  - name: errors
    bad: 'requests{revision="${controller_revision_hash}",code=~"5.."}'
    total: 'requests{revision="${controller_revision_hash}"}'
    during: bake
"""
CANARY = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 4
  updateStrategy: {rollingUpdate: {partition: 2}}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "shop/db:2"}]}
"""


@pytest.mark.contract("B1151", "B1161", "B1290")
@pytest.mark.parametrize(
    ("shares", "per_second", "code", "why"),
    [
        pytest.param((0.01, 0.01), "200", 0, "Partitioned", id="equal"),
        pytest.param((0.05, 0.01), "200", 4, "CheckFailed", id="worse"),
        pytest.param((0.003, 0.002), "200", 7, "CheckInconclusive", id="neither"),
        pytest.param((0.01, 0.01), "2", 7, "CheckInconclusive", id="too-little"),
    ],
)
def test_counters_are_compared(
    played: Played,
    tmp_path: Path,
    shares: tuple[float, float],
    per_second: str,
    code: int,
    why: str,
) -> None:
    """An equal version passes early, a worse one fails, and what is neither is inconclusive.

    Half of the pods stay old, so each version gets half of the requests.
    """
    (tmp_path / "gate.yaml").write_text(SERVER + COUNTS)
    (tmp_path / "db.yaml").write_text(CANARY)
    day = scenario(tmp_path, "checks:\n  errors: {}\n  errors:baseline: {}\n".format(*shares))
    options = {"config": [str(tmp_path / "gate.yaml")], "scenario": day, "traffic": per_second}
    ended, (row,), _ = played.judge(str(tmp_path / "db.yaml"), **options)
    assert (ended, row["reason"]) == (code, why)
    assert (row["decided_at_seconds"] > 600) == (why == "CheckInconclusive")
    if why != "CheckInconclusive":
        return
    of_each = 60 * 10 * float(per_second) / 2
    new = float(row["why"].partition(" bad,")[0].rpartition(" of ")[2].replace(",", ""))
    assert new == pytest.approx(of_each, rel=0.05)


@pytest.mark.contract("B1207", "B1290")
def test_pods_that_serve_are_as_old_as_before_any_rollout(played: Played, tmp_path: Path) -> None:
    """None of them is fresh, as none is in a rollout that starts no old pod."""
    fresh = f"{SERVER}{COUNTS}    compare: {{test: counts, baseline: fresh}}\n"
    (tmp_path / "gate.yaml").write_text(fresh)
    (tmp_path / "db.yaml").write_text(CANARY)
    options = {"config": [str(tmp_path / "gate.yaml")]}
    code, (row,), _ = played.judge(str(tmp_path / "db.yaml"), **options)
    assert (code, row["reason"]) == (7, "CheckInconclusive")
    assert "no old pod was started within 60s of a new one: " in row["why"]


ALONE = """\
checks:
  - {use: error-share, during: DURING}
  - name: ratio
    query: 'latency{pod=~"${replicaset}-.*"}'
    compare: {max-ratio: 1.5}
    during: DURING
    required: false
"""


@pytest.mark.contract("B1290", "B1291", "B315")
@pytest.mark.parametrize(
    ("strategy", "during", "warned"),
    [
        ("RollingUpdate", "bake", "keeps none of its pods for the bake window"),
        ("RollingUpdate", "both", ""),
        ("Recreate", "both", "stops it before the new one serves"),
    ],
)
def test_without_old_pods_nothing_is_compared(
    played: Played, manifest: Write, tmp_path: Path, strategy: str, during: str, warned: str
) -> None:
    """As in a real rollout, 7: the row names the check, the advice no policy that hides it."""
    (tmp_path / "gate.yaml").write_text(SERVER + ALONE.replace("DURING", during))
    file = manifest(changes={"replicas: 3": f"replicas: 3\n  strategy: {{type: {strategy}}}"})
    for trouble in ("good", "stale-deadline"):
        options = {"config": [str(tmp_path / "gate.yaml")], "with_": trouble}
        code, (row,), warnings = played.judge(file, **options)
        assert (code, row["reason"], row["as_expected"]) == (7, "CheckInconclusive", False)
        gone = "served nothing meanwhile" if during == "bake" else "no longer serves"
        assert row["why"].startswith("CheckInconclusive: error-share: ")
        assert trouble != "good" or gone in row["why"]
        assert row["mend"].startswith("error-share saw too little of both versions side by side")
        ends = {
            "error-share": "it passes if the new version's bad events prove negligible, and is"
            " inconclusive otherwise",
            "ratio": "it will be inconclusive",
        }
        said = [line for line in warnings if "compares with the old version" in line]
        assert said == [
            f"check {name} compares with the old version, and deployment/web {warned}: {end}"
            for name, end in ends.items()
            if warned
        ]


@pytest.mark.long
@pytest.mark.contract("B474")
@pytest.mark.parametrize(("policy", "code", "fine"), [("keep", 7, True), ("rollback", 4, False)])
def test_an_outage_of_prometheus_alone_is_no_failure(
    played: Played, manifest: Write, config: str, policy: str, code: int, fine: bool
) -> None:
    """Unless the policy takes it for one, which is marked."""
    options = {"config": [config], "with_": "no-metrics", "on_inconclusive": policy}
    found, (row,), _ = played.judge(manifest(), **options)
    assert (found, row["reason"], row["as_expected"]) == (code, "CheckError", fine)
    assert "errors in a row" in row["why"]


def test_what_no_check_can_have_is_left_out(
    played: Played, manifest: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a word where there are checks, without one where there is none at all."""
    some = {name: TROUBLES[name] for name in ("good", "bad-checks", "no-metrics")}
    monkeypatch.setattr(rehearsing, "TROUBLES", some)
    path = tmp_path / "gate.yaml"
    path.write_text("checks: [{name: a, command: ['true'], required: false}]\n")
    _, (row,), warnings = played.judge(manifest(), config=[str(path)], all_=True)
    assert row["kind"] == "good"
    left_out = [f"{kind} is left out: no check can have it" for kind in [*some][1:]]
    assert warnings == left_out


@pytest.mark.contract("B2015")
def test_a_query_needs_a_server_as_in_apply(
    played: Played, manifest: Write, tmp_path: Path
) -> None:
    """Exit 2 with the hint of apply; a flag names one, whose credentials nobody needs here."""
    path = tmp_path / "gate.yaml"
    path.write_text("checks: [{name: a, query: up, min: 0, count: 1}]\n")
    for flags in ({"all_": True}, {"with_": "crash"}):
        said = played.refuse(manifest(), config=[str(path)], **flags)
        assert said.count("error: check a: no Prometheus is configured\n") == 1
        assert "hint: pass --prometheus-url URL, or set prometheus: url" in said
    server = {"prometheus_url": "http://prometheus", "prometheus_token_file": "GONE"}
    code, (row,), _ = played.judge(
        manifest(), config=[str(path)], strict_checks=True, smoke_test_env=["A"], **server
    )
    assert (code, row["outcome"]) == (0, "verified")


@pytest.mark.contract("B2017")
@pytest.mark.parametrize("run", [rehearse, demo])
def test_bad_checks_need_a_check(played: Played, manifest: Write, run: Callable[..., int]) -> None:
    """Exit 2: nothing would go wrong, and that would be taken for the gate's blindness."""
    flags = {"file": [manifest()], "with_": "bad-checks"}
    command = (
        (load("rehearse", flags, environ={}),)
        if run is rehearse
        else (load("demo", {}, environ={}), "bad-checks")
    )
    assert run(played.world, *command) == 2
    said = played.err.getvalue()
    assert "bad-checks cannot be rehearsed here: " in said
    assert run is demo or "hint: checks stand in a configuration file, or: --check, " in said


# -- scenario files --------------------------------------------------------------------------------


@pytest.mark.contract("B473")
def test_a_scenario_says_what_a_check_measures(
    played: Played, manifest: Write, config: str, tmp_path: Path
) -> None:
    """From a second on; checks that it does not name are well."""
    path = scenario(tmp_path, "checks:\n  errors: {0s: 0.05, 40s: 0.2}\n")
    code, (row,), _ = played.judge(manifest(), config=[config], scenario=path)
    assert (code, row["decided_at_seconds"]) == (4, 40)
    assert row["why"] == "CheckFailed: errors: 0.2 is not <= 0.1"


@pytest.mark.long
@pytest.mark.contract("B473")
def test_a_scenario_says_what_the_version_before_measures(
    played: Played, manifest: Write, config: str, tmp_path: Path
) -> None:
    """Under the check's name with `:baseline`."""
    path = scenario(tmp_path, "checks:\n  slower: 0.4\n  'slower:baseline': {2s: 0.1, 5m: 0.9}\n")
    code, (row,), warnings = played.judge(manifest(), config=[config], scenario=path)
    assert (code, warnings) == (4, [])
    assert row["why"].startswith("CheckFailed: slower: 0.4 against 0.1")
