"""The flags that an advised `rollout-gate checks` needs: typed as printed, it asks the same."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from responses import RequestsMock

from gate.app.preflight.check_flags import check_flags
from gate.config import Settings, load
from gate.config.limits import all_checks
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate
from tests.unit.app.server import ApiServer

QUERY = 'slow: sum(rate(errors{pod=~"${replicaset}-.*"}[${window}])) <= 0.5'
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
    gate: Gate, server: ApiServer, tmp_path: Path
) -> None:
    """Typed in by whoever reads the report, it needs nothing added."""
    server.put(web())
    with RequestsMock() as shop:
        shop.get(URL, status=404)
        ended = gate("verify", ("web",), http_check=[URL], output="text")
        assert ended.code == 6, ended.out
        words = shlex.split(ended.out[ended.out.index("rollout-gate checks") :].split("\n\n")[0])
        assert words[:3] == ["rollout-gate", "checks", "web"]
        assert words[-3:] == ["--http-check", URL, "--explain"]
        assert "flags added" not in ended.out
        again = gate("checks", ("web",), http_check=[words[-2]], output="text")
    assert (again.code, "the status is 404" in again.out) == (6, True), again.err
