"""`sandbox`: what is served, and what is said of it; the serving itself has tests of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.app.rehearsal import serve
from gate.config import load
from sandbox.face import Cluster
from sandbox.server import Endpoint, Ready, ServeOptions
from tests.unit.app.rehearsal.conftest import Played


def test_a_scenario_plays_in_what_is_served(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its seconds count from the start; the options reach the server, the address the user."""
    scenario, kubeconfig = tmp_path / "day.yaml", tmp_path / "kubeconfig"
    scenario.write_text("events: {20s: quota pods=4}\n")
    quotas: list[int] = []

    def served(cluster: Cluster, ready: Ready, options: ServeOptions, _: object) -> None:
        assert options == ServeOptions(6443, 10.0, kubeconfig)
        ready(Endpoint("https://127.0.0.1:6443", 6443, ""))
        for second in (19.0, 21.0):
            cluster.timers.run_due(second)
            quotas.append(len(cluster.api.store.items("resourcequotas")))

    monkeypatch.setattr(serve, "serve_until_signalled", served)
    flags = {
        "kubeconfig": str(kubeconfig),
        "port": "6443",
        "speed": "10",
        "scenario": str(scenario),
    }
    assert serve.sandbox(played.world, load("sandbox", flags, environ={})) == 0
    assert quotas == [0, 1]
    assert played.out.getvalue() == f"export KUBECONFIG={kubeconfig}\n"
    assert "listens on https://127.0.0.1:6443, time x 10" in played.err.getvalue()
