"""The program as a process: how it ends, under signals and unread, and what it loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gate.app.execution import run as execution
from tests.long import longer
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Manifest
from tests.unit.app.processes import (
    DEPLOYMENT,
    LONGEST_SECONDS,
    ROOT,
    Start,
    applying,
    arrival,
    ended,
)
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Hang, Seen
from tests.unit.test_output import Pipe

# -- endings ---------------------------------------------------------------------------------------


def ignore_all() -> None:
    """Leave the signals as Jenkins and `nohup` leave them."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@pytest.mark.long
@pytest.mark.contract("B16", "B20", "B177")
def test_it_ends_with_its_verdict_though_its_watches_still_run(
    start: Start, server: Server, manifest: Manifest
) -> None:
    """Promptly, with a stderr that is closed, and without a word of the interpreter."""
    code, out, _ = ended(start(*applying("-f", manifest(web("2"))), preexec_fn=lambda: os.close(2)))
    assert (code, json.loads(out)["outcome"]) == (0, "verified")
    code, out, err = ended(start(*applying("-f", manifest(web("crash")))))
    assert (code, json.loads(out)["outcome"]) == (4, "rolled-back")
    assert "Fatal" not in err
    assert "Traceback" not in err
    assert all(str(seen.header("User-Agent")).startswith("rollout-gate/") for seen in server.seen)


@pytest.mark.long
@pytest.mark.contract("B29", "B150", "B155")
def test_a_signal_in_preflight_ends_it(start: Start, server: Server, manifest: Manifest) -> None:
    """Also where the parent had it ignored, in the middle of a question to the server."""
    server.on("GET", DEPLOYMENT, Hang())
    asked = arrival(server, lambda seen: seen.path == DEPLOYMENT)
    process = start(*applying("-f", manifest(web("2"))), preexec_fn=ignore_all)
    assert asked.wait(LONGEST_SECONDS)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, json.loads(out)["outcome"], server.writes()) == (130, "interrupted", [])
    assert "SIGINT ended it before anything was written" in err


@pytest.mark.long
@pytest.mark.contract("B270")
def test_a_replay_needs_no_kubernetes_client() -> None:
    """It loads none of the libraries that talk to a cluster."""
    program = """
import sys
from gate.cli.main import run
code = run(["replay", sys.argv[1], "--output", "json"])
loaded = {name.partition(".")[0] for name in sys.modules}
sys.exit(code or ",".join(loaded & {"kubernetes", "urllib3", "requests"}) or 0)
"""
    trace = ROOT / "tests" / "traces" / "noop.jsonl"
    command = [sys.executable, "-c", program, str(trace)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


EARLY = """
import os, runpy, signal, sys

class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Signalling())
sys.argv = ["rollout-gate", "version"]
runpy.run_module("gate", run_name="__main__", alter_sys=True)
"""
"""A program in which a signal comes in the middle of the gate's own imports."""


@pytest.mark.contract("B1018")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_first_imports_leaves_no_traceback(number: signal.Signals) -> None:
    """One line, and the exit code of the signal."""
    program = [sys.executable, "-c", EARLY.format(number=int(number))]
    ended = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 128 + number
    assert ended.stderr == f"{number.name} ended it at once: nothing was done\n"
    assert ended.stdout == ""


# -- output that nobody reads, or slowly -----------------------------------------------------------


@pytest.fixture
def unread() -> Iterator[Pipe]:
    """Return a full pipe that nobody reads."""
    pipe = Pipe()
    yield pipe
    pipe.end()
    pipe.close()


def code_of(process: subprocess.Popen[str]) -> int:
    """Return the exit code of a process that comes to an end by itself."""
    return process.wait(LONGEST_SECONDS)


@pytest.mark.contract("B152", "B179")
def test_a_stderr_that_nobody_reads_holds_up_no_rollback(
    start: Start, server: Server, manifest: Manifest, unread: Pipe
) -> None:
    """The bad version is applied and rolled back; who reads later misses nothing."""
    code, out, _ = ended(start(*applying("-f", manifest(web("crash"))), stderr=unread.theirs))
    assert (code, json.loads(out)["outcome"]) == (4, "rolled-back")
    assert len(server.writes()) == 2
    assert "applied     deployment/web" in unread.rest()
    assert unread.rest().endswith(" 2 of 2 old pods available\n")


@pytest.mark.long
@pytest.mark.contract("B152", "B179")
@pytest.mark.parametrize("output", ["json", "text"])
def test_a_stdout_that_nobody_reads_changes_no_exit_code(
    start: Start, manifest: Manifest, unread: Pipe, output: str
) -> None:
    """Nor does both of them being one full pipe."""
    command = ("apply", "-n", "shop", "--output", output, "-f", manifest(web("crash")))
    assert code_of(start(*command, stdout=unread.theirs)) == 4
    assert code_of(start(*command, stdout=unread.theirs, stderr=unread.theirs)) == 4


@pytest.mark.contract("B153", "B152")
@pytest.mark.parametrize("number", [signal.SIGTERM, longer(signal.SIGINT)])
def test_a_signal_ends_it_though_nobody_reads(
    start: Start, server: Server, manifest: Manifest, unread: Pipe, number: signal.Signals
) -> None:
    """In mid-flight, with both streams full."""
    applied = arrival(server, lambda seen: seen in server.writes())
    arguments = applying("-f", manifest(web("pending")))
    process = start(*arguments, stdout=unread.theirs, stderr=unread.theirs)
    assert applied.wait(LONGEST_SECONDS)
    process.send_signal(number)
    assert code_of(process) == 128 + number


@pytest.mark.long
@pytest.mark.contract("B153", "B152")
@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_a_second_signal_ends_it_though_nobody_reads(
    start: Start, server: Server, manifest: Manifest, unread: Pipe, method: str
) -> None:
    """In preflight and in the attempt, where the server hangs as well."""
    hanging = threading.Event()

    def hang(seen: Seen) -> None:
        asked = (seen.method, seen.path, seen.query.get("dryRun"))
        if asked == (method, DEPLOYMENT, None):
            server.on(method, DEPLOYMENT, Hang())
            hanging.set()

    server.on_request = hang
    process = start(*applying("-f", manifest(web("2"))), stderr=unread.theirs)
    assert hanging.wait(LONGEST_SECONDS)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGHUP)
    assert code_of(process) in (129, 143), "two of them may arrive in either order"


@pytest.mark.long
@pytest.mark.contract("B171")
def test_a_report_into_a_pipe_that_nobody_reads_is_a_warning(
    start: Start, manifest: Manifest, tmp_path: Path
) -> None:
    """The verdict and its exit code stand."""
    pipe = tmp_path / "report"
    os.mkfifo(pipe)
    code, out, err = ended(start(*applying("-f", manifest(web("2")), "--report", f"text={pipe}")))
    assert (code, json.loads(out)["outcome"]) == (0, "verified")
    assert f"the report text={pipe} could not be written: nobody reads this pipe" in err


# -- what is loaded, and when ----------------------------------------------------------------------


APPLY_USES = {"click", "kubernetes", "msgspec", "tenacity", "urllib3", "yaml"}
THESE_NEED = {"cython_runtime", "typing_extensions"}
"""Libraries of others: those of a run, and what those need themselves."""
PARTS = {"client", "utils"}
"""Of the official client: the second is what the first imports."""
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


@pytest.mark.contract("B203", "B462")
def test_an_apply_loads_what_it_uses_and_what_reports_its_end_after_its_write(
    start: Start, manifest: Manifest
) -> None:
    """A whole run, without checks, metrics, a terminal, or a log in JSON."""
    program = """
import json, sys
from gate.cli.main import run
before = set(sys.modules)
from gate.kube.connection.api import Api
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
print(json.dumps([code, at_write, at_verdict, sorted(set(sys.modules) - before)]))
"""
    arguments = ("apply", "-n", "shop", "-f", manifest(web("2")))
    _, out, err = ended(start(*arguments, program=("-c", program)))
    code, at_write, at_verdict, loaded = json.loads(out.splitlines()[-1])
    assert code == 0, err
    assert at_write
    assert {*NOT_YET, *NEVER} & set(at_write) == set()
    assert at_verdict
    assert {*NEVER} & set(at_verdict) == set()
    names = [name.split(".") for name in loaded if not name.startswith("_")]
    libraries = {name[0] for name in names} - sys.stdlib_module_names - {"gate"}
    assert libraries <= APPLY_USES | THESE_NEED
    assert {name[1] for name in names if name[0] == "kubernetes" and name[1:]} == PARTS


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
