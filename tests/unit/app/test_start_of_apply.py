"""What an apply leaves for later, so that its first write comes soon."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gate.app.execution import run as execution
from tests.unit.app.bodies import web

LONGEST_SECONDS = 60
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
    start: Callable[..., Any], manifest: Callable[..., str]
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
    arguments = ("apply", "--allow-insecure", "-n", "shop", "-f", manifest(web("2")))
    process = start(*arguments, program=("-c", program))
    out, err = process.communicate(timeout=LONGEST_SECONDS)
    code, at_write, at_verdict = json.loads(out.splitlines()[-1])
    assert code == 0, err
    assert at_write
    assert {*NOT_YET, *NEVER} & set(at_write) == set()
    assert at_verdict
    assert {*NEVER} & set(at_verdict) == set()


@pytest.mark.parametrize("stops", [True, False])
def test_nothing_is_prepared_before_the_first_write_is_answered(stops: bool) -> None:
    """A handshake in another thread would delay it; a run that ends before needs none."""
    stopping, has_written = threading.Event(), threading.Event()
    order: list[str] = []

    def write(_: object) -> str:
        order.append("written")
        if stops:
            stopping.set()
        return "answer"

    perform: Any = execution._then_set(has_written, write)  # type: ignore[arg-type]
    clock: Any = SimpleNamespace(wait=lambda _, event: perform(None) and event.is_set())
    client: Any = SimpleNamespace(keep_ready=lambda: order.append("prepared"))
    execution._prepare_end(clock, client, has_written, stopping)
    assert has_written.is_set()
    assert order == (["written"] if stops else ["written", "prepared"])
