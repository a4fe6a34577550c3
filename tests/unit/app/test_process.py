"""The program as a process: how it ends while its threads still run, and under signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.app.bodies import web
from tests.unit.app.conftest import Manifest, Start
from tests.unit.app.server import ApiServer
from tests.unit.kube.scripted import Hang, Seen

ROOT = Path(__file__).parents[3]
LONGEST_SECONDS = 60
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"

APPLY_USES = {"click", "kubernetes", "msgspec", "tenacity", "urllib3", "yaml"}
THESE_NEED = {"cython_runtime", "typing_extensions"}
"""Libraries of others: those of a run, and what those need themselves."""
PARTS = {"client", "utils"}
"""Of the official client: the second is what the first imports."""


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end; return the exit code, stdout and stderr."""
    out, err = process.communicate(timeout=LONGEST_SECONDS)
    return process.returncode, out, err


def once(server: ApiServer, is_meant: Callable[[Seen], bool]) -> threading.Event:
    """Return what is set when a request of that kind arrives."""
    arrived = threading.Event()

    def happen(seen: Seen) -> None:
        if is_meant(seen):
            arrived.set()

    server.on_request = happen
    return arrived


def applying(*arguments: str) -> list[str]:
    """Return the arguments of an apply with a document."""
    return ["apply", "--allow-insecure", "--output", "json", *arguments]


def ignore_all() -> None:
    """Leave the signals as Jenkins and `nohup` leave them."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@pytest.mark.long
@pytest.mark.contract("B16", "B20", "B177")
def test_it_ends_with_its_verdict_though_its_watches_still_run(
    start: Start, server: ApiServer, manifest: Manifest
) -> None:
    """Promptly, with a stderr that is closed, and without a word of the interpreter."""
    server.put(web())
    code, out, _ = ended(start(*applying("-f", manifest(web("2"))), preexec_fn=lambda: os.close(2)))
    assert (code, json.loads(out)["outcome"]) == (0, "verified")
    code, out, err = ended(start(*applying("-f", manifest(web("crash")))))
    assert (code, json.loads(out)["outcome"]) == (4, "rolled-back")
    assert "Fatal" not in err
    assert "Traceback" not in err
    assert all(str(seen.header("User-Agent")).startswith("rollout-gate/") for seen in server.seen)


@pytest.mark.long
@pytest.mark.contract("B29", "B150", "B155")
def test_a_signal_in_preflight_ends_it(start: Start, server: ApiServer, manifest: Manifest) -> None:
    """Also where the parent had it ignored, in the middle of a question to the server."""
    server.on("GET", DEPLOYMENT, Hang())
    asked = once(server, lambda seen: seen.path == DEPLOYMENT)
    process = start(*applying("-f", manifest(web())), preexec_fn=ignore_all)
    assert asked.wait(LONGEST_SECONDS)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, json.loads(out)["outcome"], server.writes()) == (130, "interrupted", [])
    assert "SIGINT ended it before anything was written" in err


@pytest.mark.long
@pytest.mark.contract("B29", "B151", "B153")
def test_a_signal_in_mid_flight_leaves_the_rollout(
    start: Start, server: ApiServer, manifest: Manifest
) -> None:
    """Without evidence against it, it is left as it is; the report says so."""
    server.put(web())
    applied = once(server, lambda seen: seen in server.writes())
    process = start(*applying("-f", manifest(web("pending"))), preexec_fn=ignore_all)
    assert applied.wait(LONGEST_SECONDS)
    process.send_signal(signal.SIGTERM)
    code, out, _ = ended(process)
    document = json.loads(out)
    assert (code, document["outcome"], document["exit_code"]) == (143, "interrupted", 143)
    assert len(server.writes()) == 1


@pytest.mark.long
@pytest.mark.contract("B153")
def test_a_second_signal_ends_it_at_once(
    start: Start, server: ApiServer, manifest: Manifest
) -> None:
    """Whatever it waits for: here, for the answer to its write."""
    server.put(web())

    def hang(seen: Seen) -> None:
        if seen.method == "PATCH":
            server.forget("PATCH", DEPLOYMENT)
            if seen.query.get("dryRun") != "All":
                server.on("PATCH", DEPLOYMENT, Hang())
                writing.set()

    writing = threading.Event()
    server.on_request = hang
    process = start(*applying("-f", manifest(web("2"))))
    assert writing.wait(LONGEST_SECONDS)
    process.send_signal(signal.SIGTERM)
    line = ""
    while "signal" not in line:
        line = process.stderr.readline()  # type: ignore[union-attr]
        assert line
    process.send_signal(signal.SIGHUP)
    code, out, _ = ended(process)
    assert (code, out) == (129, "")


@pytest.mark.contract("B203", "B462")
def test_an_apply_loads_what_it_uses(start: Start, server: ApiServer, manifest: Manifest) -> None:
    """A whole run, without checks, metrics, a terminal, or a log in JSON."""
    program = """
import json, sys
from gate.cli.main import run
before = set(sys.modules)
code = run(sys.argv[1:])
print(json.dumps({"code": code, "loaded": sorted(set(sys.modules) - before)}))
"""
    server.put(web())
    arguments = ("apply", "--allow-insecure", "-f", manifest(web("2")))
    _, out, err = ended(start(*arguments, program=("-c", program)))
    said = json.loads(out.splitlines()[-1])
    assert said["code"] == 0, err
    names = [name.split(".") for name in said["loaded"] if not name.startswith("_")]
    libraries = {name[0] for name in names} - sys.stdlib_module_names - {"gate"}
    assert libraries <= APPLY_USES | THESE_NEED
    assert {name[1] for name in names if name[0] == "kubernetes" and name[1:]} == PARTS


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
