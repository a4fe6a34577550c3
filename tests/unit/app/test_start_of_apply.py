"""What an apply leaves for later, so that its first write comes soon."""

from __future__ import annotations

import json
import threading

import pytest

from gate.kube.client import Client
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate, Manifest, Start
from tests.unit.app.server import ApiServer
from tests.unit.app.test_process import ended
from tests.unit.kube.scripted import Seen

NOT_YET = (
    *("gate.app.runtime.end_report", "gate.ci.publishing", "gate.report.document.document"),
    *("gate.report.formats.text", "gate.report.words.headline"),
)
"""What reports the end: needed by every apply, after its write."""
NEVER = (
    *("gate.app.rehearsal", "gate.app.replay", "gate.app.runtime.metrics_delivery"),
    *("gate.config.access", "gate.config.checks.keys", "gate.config.json_schema"),
    *("gate.metrics.run", "gate.report.html", "gate.report.live.attempts", "gate.wire.recorder"),
)
"""What checks, metrics, recordings and terminals need."""


@pytest.mark.contract("B203")
def test_an_apply_loads_what_reports_its_end_while_its_rollout_goes_on(
    start: Start, server: ApiServer, manifest: Manifest
) -> None:
    """Not before its write; what a run without checks and metrics never uses stays unloaded."""
    program = """
import json, sys
from gate.cli.main import run
from gate.kube.api import Api
request, at_write, at_verdict = Api.request, [], []
def observed(self, method, path, query, *rest):
    is_write = method == "PATCH" and path.endswith("/deployments/web")
    if is_write and ("dryRun", "All") not in query:
        at_write.extend(sys.modules)
    elif at_write and method == "GET" and path.endswith("/deployments/web"):
        at_verdict.extend(sys.modules)
    return request(self, method, path, query, *rest)
Api.request = observed
code = run(sys.argv[1:])
print(json.dumps([code, at_write, at_verdict]))
"""
    server.put(web())
    arguments = ("apply", "--allow-insecure", "-f", manifest(web("2")))
    _, out, err = ended(start(*arguments, program=("-c", program)))
    code, at_write, at_verdict = json.loads(out.splitlines()[-1])
    assert code == 0, err
    assert at_write
    assert {*NOT_YET, *NEVER} & set(at_write) == set()
    assert at_verdict
    assert {*NEVER} & set(at_verdict) == set()


def test_nothing_is_prepared_before_the_first_write_is_answered(
    gate: Gate, server: ApiServer, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handshake in another thread would delay the write."""
    prepared, before = threading.Event(), []

    def keep(_: Client) -> None:
        prepared.set()

    def note(seen: Seen) -> None:
        if seen in server.writes():
            before.append(prepared.is_set())

    monkeypatch.setattr(Client, "keep_ready", keep)
    server.put(web())
    server.on_request = note
    assert gate("apply", file=[manifest(web("2"))]).code == 0
    assert before == [False]
