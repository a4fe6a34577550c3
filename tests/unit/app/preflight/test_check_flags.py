"""The flags that an advised `rollout-gate checks` needs: typed as printed, it asks the same."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from responses import RequestsMock

from gate.app.preflight.check_flags import check_flags, secret_variables
from gate.config import Settings, load
from gate.config.limits import all_checks
from gate.report.advice.checks import ask_again
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate
from tests.unit.app.server import Server
from tests.unit.report.results import example

QUERY = 'slow: sum(rate(errors{pod=~"${replicaset}-.*"}[${window}])) <= 0.5'
EXPLAIN = "--explain"
URL = "http://shop.example/live"


def settings(folder: Path, **given: Any) -> Settings:
    """Return what these options come to."""
    return load("apply", given, environ={}, folder=folder)


@pytest.mark.contract("B463")
def test_the_flags_ask_what_the_run_was_asked_to_check(tmp_path: Path) -> None:
    """Read back they are the same checks, of the same server."""
    given = {
        "check": [QUERY, "up: sum(up) >= 2"],
        "http_check": [URL],
        "smoke_test": ["./smoke.sh --only 'a b'"],
        "smoke_test_env": ["TOKEN"],
        "prometheus_url": "https://prom.example",
    }
    then = settings(tmp_path, **given)
    flags = check_flags(then)
    assert flags is not None
    again: dict[str, Any] = {}
    for flag, value in zip(flags[::2], flags[1::2], strict=True):
        again.setdefault(flag.removeprefix("--").replace("-", "_"), []).append(value)
    again["prometheus_url"] = again["prometheus_url"][0]
    now = load("checks", again, environ={}, folder=tmp_path)
    assert all_checks(now) == all_checks(then)
    assert now.smoke_test_env == then.smoke_test_env


@pytest.mark.contract("B463", "B878")
def test_what_lets_a_run_in_is_named_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of flags, and the variables that hold a secret; also for the checks of a file."""
    for name in ("token", "tenant"):
        (tmp_path / name).write_text("c4nary")
    (tmp_path / "rollout-gate.yaml").write_text("checks:\n- name: up\n  query: sum(up)\n  min: 1\n")
    given: dict[str, Any] = {
        "prometheus_url": "https://prom.example",
        "prometheus_token_file": str(tmp_path / "token"),
        "prometheus_header": [f"X-Scope-OrgID={tmp_path / 'tenant'}"],
    }
    flags = check_flags(settings(tmp_path, **given))
    assert flags == (
        *("--prometheus-url", "https://prom.example"),
        *("--prometheus-token-file", str(tmp_path / "token")),
        *("--prometheus-header", f"X-Scope-OrgID={tmp_path / 'tenant'}"),
    )
    monkeypatch.setenv("ROLLOUT_GATE_PROMETHEUS_TOKEN", "c4nary")
    assert secret_variables(settings(tmp_path, **given)) == ()
    url = {"prometheus_url": "https://prom.example"}
    assert secret_variables(settings(tmp_path, **url)) == ("ROLLOUT_GATE_PROMETHEUS_TOKEN",)
    assert secret_variables(settings(tmp_path)) == ()


@pytest.mark.contract("B878")
def test_the_advice_names_the_variables() -> None:
    """Whoever types the command elsewhere has to set them."""
    result = example("rolled-back")
    result["check_variables"] = ["ROLLOUT_GATE_PROMETHEUS_TOKEN"]
    result["check_flags"] = []
    step = ask_again(result, "ask the checks again", "web", [])
    assert step.text == (
        "ask the checks again, with ROLLOUT_GATE_PROMETHEUS_TOKEN set as in the run:"
    )


@pytest.mark.contract("B463")
def test_what_may_be_secret_is_not_told(tmp_path: Path) -> None:
    """Behind a question mark stands what a URL is given to be let in."""
    assert check_flags(settings(tmp_path, http_check=[URL, f"{URL}?token=c4nary"])) is None
    assert check_flags(settings(tmp_path, check=["up: sum(up)\n  # all\n >= 2"])) is None


@pytest.mark.contract("B463")
def test_what_the_default_file_has_needs_no_flag(tmp_path: Path) -> None:
    """The file of that name in the folder is read by itself; another one is named."""
    (tmp_path / "rollout-gate.yaml").write_text("checks:\n- name: pay\n  command: ['true']\n")
    assert check_flags(settings(tmp_path)) == ()
    other = tmp_path / "other.yaml"
    other.write_text("{}\n")
    assert check_flags(settings(tmp_path, config=[str(other)])) == ("--config", str(other))


@pytest.mark.contract("B461", "B463")
def test_the_advised_command_asks_the_same_as_it_is_printed(
    gate: Gate, server: Server, tmp_path: Path
) -> None:
    """Typed in by whoever reads the report, it needs nothing added."""
    server.put(web())
    with RequestsMock() as shop:
        shop.get(URL, status=404)
        ended = gate("verify", ("web",), http_check=[URL], output="text")
        assert ended.code == 6, ended.out
        command, explain, _ = ended.out[ended.out.index("rollout-gate checks") :].partition(EXPLAIN)
        words = shlex.split(command + explain)
        assert words[:3] == ["rollout-gate", "checks", "web"]
        assert words[-3:] == ["--http-check", URL, EXPLAIN]
        assert "flags added" not in ended.out
        again = gate("checks", ("web",), http_check=[words[-2]], output="text")
    assert (again.code, "the status is 404" in again.out) == (6, True), again.err
