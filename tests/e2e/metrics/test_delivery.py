"""Metrics as those read them who are to: a real Prometheus, a real Pushgateway, promtool."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest
import yaml

from gate.app.rehearsal.virtual_world import Played, User
from sandbox.face import Cluster, ClusterOptions, Names, Pace, Timers, Writer
from tests.bed.expectations import assert_rolled_back, assert_verified
from tests.bed.scene import Scene, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.control_plane import free_ports
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.e2e.metrics.conftest import Promtool
from tests.engines.engine import Engine
from tests.engines.programs import Kind
from tests.engines.pushgateway import Gateway
from tests.played.client import PlayedClient
from tests.played.gate import PlayedGate

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "metrics"
DIRECT = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
"""Whatever proxy the environment names, loopback is asked directly."""
NAME, PASSWORD = "gate", "sesame-8d1f2c7a90"
HASH = "$2b$04$4zkTSIHk.9VvDkGSguPXhOMN0ufsf/qYT.Vro9kR99AA2Am7lvev."
"""Of the password, by bcrypt."""


def key(scene: Scene, deployment: str = "web", **more: str) -> tuple[tuple[str, str], ...]:
    """Return the labels of a Deployment's group."""
    place = {"namespace": scene.objects.namespace, "deployment": deployment}
    return tuple(sorted({"job": "rollout-gate", **place, **more}.items()))


def applied(scene: Scene, *bodies: object, flags: tuple[str, ...], **env: str) -> Result:
    """Apply objects with more in the environment, with a result document on stdout."""
    path = scene.manifest(*bodies)  # type: ignore[arg-type]
    words = ("apply", "-f", str(path), *flags, "--output", "json")
    with scene.gate.start(*words, env={**DIRECT, **env}) as running:
        return running.wait()


def outcome_in(group: Mapping[str, list[dict[str, object]]]) -> str:
    """Return the outcome of the last attempt of a group."""
    states = group["rollout_gate_last_attempt_outcome"]
    [found] = [state["labels"] for state in states if state["value"] == "1"]
    return str(found["outcome"])  # type: ignore[index]


# -- Prometheus ------------------------------------------------------------------------------------


@pytest.mark.contract("B613")
def test_prometheus_scrapes_a_run_while_it_goes_on(scene: Scene, tmp_path: Path) -> None:
    """It sees the phase that lasts and the requests; once the run has ended nothing listens."""
    [port] = free_ports(1)
    flags = ["--bake", "15s", "--metrics-listen", str(port)]
    with scene.applying(web(), flags=flags) as running:
        running.wait_for_line("baking")
        with Engine(Kind.PROMETHEUS, f"127.0.0.1:{port}", tmp_path) as engine:
            place = f'namespace="{scene.objects.namespace}",deployment="web"'
            baking = f'rollout_gate_phase_duration_seconds{{{place},phase="baking"}}'
            assert 0 < engine.wait_for(baking) < 16
            engine.wait_for(f"changes({baking}[5s]) > 0")
            sent = f'sum(rollout_gate_api_requests_total{{{place},code="200"}})'
            assert engine.wait_for(sent) > 5
            assert_verified(running.wait())
    with pytest.raises(URLError, match="refused"):
        build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}/metrics", timeout=5.0)


@pytest.mark.contract("B620")
def test_every_query_of_the_dashboard_and_the_alerts_is_answered(
    scene: Scene, pushgateway: Gateway, tmp_path: Path
) -> None:
    """With what a run that was rolled back has pushed; what has no data has none to show."""
    scene.serve(web())
    flags = ("--pushgateway", pushgateway.url, "--smoke-test", "true")
    bad = web(2, behaviour="crash=0.1")
    assert_rolled_back(applied(scene, bad, flags=flags), "CrashLoop")
    with Engine(Kind.PROMETHEUS, pushgateway.target, tmp_path) as engine:
        engine.wait_for("rollout_gate_last_attempt_info")
        assert engine.wait_for('ALERTS{alertname="none"} or vector(1)') == 1
        silent = {title for title, query in _queries() if not engine.ask(query)}
    assert silent == {
        "Measurements of checks A",  # the command was to run once the version is complete
        "Rollbacks",  # one attempt is no change of its time
        "RolloutNeedsSomebody",
        "RolloutInterrupted",
        "RolloutInconclusive",
        "RollbackSlow",
        "RolloutChecksErring",
    }


def _queries() -> Iterator[tuple[str, str]]:
    """Yield each query with its title; what Grafana fills in stands for all there is."""
    dashboard = json.loads((EXAMPLES / "dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield f"{panel['title']} {target['refId']}", _filled_in(target["expr"])
    for each in dashboard["annotations"]["list"]:
        yield each["name"], _filled_in(each["expr"])
    for group in yaml.safe_load((EXAMPLES / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]


def _filled_in(query: str) -> str:
    for name, value in {"$__range": "1h", "$__interval": "1m"}.items():
        query = query.replace(name, value)
    return query.replace("$namespace", ".*").replace("$workload", ".*")


# -- promtool --------------------------------------------------------------------------------------


@pytest.mark.contract("B612")
def test_promtool_finds_nothing_in_the_file(scene: Scene, promtool: Promtool) -> None:
    """Of a run that has measured all there is to measure."""
    scene.serve(web())
    flags = ("--metrics-textfile", "gate.prom", "--smoke-test", "true")
    applied(scene, web(2, behaviour="crash=0.1"), flags=flags)
    text = (scene.folder / "gate.prom").read_text()
    assert "rollout_gate_evidence_to_rollback_seconds{" in text
    assert not promtool("check", "metrics", stdin=text).strip()


def alerts() -> set[str]:
    """Return the names of the alerts."""
    groups = yaml.safe_load((EXAMPLES / "alerts.yaml").read_text())["groups"]
    return {rule["alert"] for group in groups for rule in group["rules"]}


def fired(tests: JSON) -> set[str]:
    """Return the alerts that a test of rules sees fire."""
    seen = (each for test in tests["tests"] for each in test["alert_rule_test"])
    return {each["alertname"] for each in seen if each.get("exp_alerts")}


@pytest.mark.contract("B620")
def test_promtool_finds_nothing_in_the_alerts(promtool: Promtool, tmp_path: Path) -> None:
    """They are rules, and each fires when it should, with words that make sense."""
    promtool("check", "rules", "--lint=all", "--lint-fatal", EXAMPLES / "alerts.yaml")
    shutil.copy(EXAMPLES / "alerts.yaml", tmp_path)
    played = Path(shutil.copy(Path(__file__).with_name("alerts_test.yaml"), tmp_path))
    promtool("test", "rules", played)
    assert fired(yaml.safe_load(played.read_text())) == alerts()


# -- the Pushgateway -------------------------------------------------------------------------------


@pytest.mark.contract("B614")
def test_a_pushgateway_has_the_last_attempt_of_each_deployment(
    scene: Scene, pushgateway: Gateway
) -> None:
    """Whatever an attempt before had pushed is gone with the next."""
    flags = ("--pushgateway", pushgateway.url)
    assert_verified(applied(scene, web(), web(name="api"), flags=flags))
    assert set(pushgateway.groups()) == {key(scene), key(scene, "api")}
    bad = applied(scene, web(2, behaviour="crash=0.1"), flags=flags)
    assert_rolled_back(bad, "CrashLoop")
    groups = pushgateway.groups()
    assert {labels: outcome_in(group) for labels, group in groups.items()} == {
        key(scene): "rolled-back",
        key(scene, "api"): "verified",
    }
    assert "rollout_gate_evidence_to_rollback_seconds" in groups[key(scene)]
    assert_verified(applied(scene, web(3), flags=flags))
    web_group = pushgateway.groups()[key(scene)]
    assert "rollout_gate_evidence_to_rollback_seconds" not in web_group
    assert len(web_group["rollout_gate_attempts_total"]) == 1


@pytest.mark.contract("B623")
def test_a_pushgateway_may_ask_for_credentials(scene: Scene, tmp_path: Path) -> None:
    """They come from the environment, and over plain HTTP with leave alone; no output has them.

    Without leave it is told before anything is sent.
    """
    users = yaml.safe_dump({"basic_auth_users": {NAME: HASH}})
    variables = "ROLLOUT_GATE_PUSHGATEWAY_USER", "ROLLOUT_GATE_PUSHGATEWAY_PASSWORD"
    env = dict(zip(variables, (NAME, PASSWORD), strict=True))
    with Gateway(tmp_path, users) as gateway:
        flags = ("--pushgateway", gateway.url)
        without = applied(scene, web(), flags=flags)
        assert "answered 401" in without.stderr
        kept = applied(scene, web(), flags=flags, **env)
        assert "--pushgateway: credentials would go to" in kept.stderr
        pushed = applied(scene, web(), flags=(*flags, "--allow-insecure"), **env)
    for result, code in ((without, 0), (kept, 2), (pushed, 0)):
        assert result.exit_code == code, str(result)
        assert PASSWORD not in result.stdout + result.stderr
    assert "were not pushed" not in pushed.stderr


# -- stale groups ----------------------------------------------------------------------------------


@pytest.mark.contract("B615")
def test_the_group_of_a_deployment_that_is_gone_is_deleted(
    pushgateway: Gateway, tmp_path: Path
) -> None:
    """With the next push in its namespace; that of a namespace that is not the run's stays.

    The sandbox's clock goes an hour before the Pushgateway's, so that what was pushed is old.
    """
    timers = Timers(datetime.now(UTC) + timedelta(hours=1))
    played = Played.of(Cluster(timers, Names(), ClusterOptions(pace=Pace.SHORT)))
    gate = PlayedGate(played, tmp_path, User(namespace="shop"))
    try:
        for namespace in ("shop", "bank"):
            _make_namespace(played, namespace)
            for name in ("old", "web"):
                _play(gate, namespace, name, pushgateway)
        for namespace in ("shop", "bank"):
            _delete(played, namespace, "old")
        said = _play(gate, "shop", "web", pushgateway)
    finally:
        played.clock.end()
    found = {
        (dict(labels)["namespace"], dict(labels)["deployment"]) for labels in pushgateway.groups()
    }
    assert found == {("shop", "web"), ("bank", "old"), ("bank", "web")}
    assert "deployment/old of shop is gone, and so is its group in the Pushgateway" in said


def _play(gate: PlayedGate, namespace: str, name: str, gateway: Gateway) -> str:
    """Apply a Deployment, and push."""
    path = gate.cwd / f"{namespace}-{name}-{time.monotonic_ns()}.yaml"
    path.write_text(manifests.yaml_text(manifests.deployment(name=name)))
    words = ("apply", "-f", path, "-n", namespace, "--pushgateway", gateway.url)
    result = gate(*words, env=DIRECT, check=True)
    assert "were not pushed" not in result.stderr, str(result)
    return result.stderr


def _make_namespace(played: Played, name: str) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    played.cluster.api.create("namespaces", "", body, Writer("system:admin", "tests"))


def _delete(played: Played, namespace: str, name: str) -> None:
    Objects(PlayedClient(played, "tests/admin"), namespace).delete("deployments", name)
