"""The program as a process: how it ends while its threads still run, and under signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

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

APPLY_USES = {"click", "kubernetes", "msgspec", "tenacity", "urllib3", "yaml"}
THESE_NEED = {"cython_runtime", "typing_extensions"}
"""Libraries of others: those of a run, and what those need themselves."""
PARTS = {"client", "utils"}
"""Of the official client: the second is what the first imports."""


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
@pytest.mark.contract("B153")
def test_a_second_signal_ends_it_at_once(start: Start, server: Server, manifest: Manifest) -> None:
    """Whatever it waits for: here, for the answer to its write."""
    writing = threading.Event()

    def hang(seen: Seen) -> None:
        if seen.method == "PATCH" and seen.path == DEPLOYMENT and "dryRun" not in seen.query:
            server.on("PATCH", DEPLOYMENT, Hang())
            writing.set()

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
def test_an_apply_loads_what_it_uses(start: Start, manifest: Manifest) -> None:
    """A whole run, without checks, metrics, a terminal, or a log in JSON."""
    program = """
import json, sys
from gate.cli.main import run
before = set(sys.modules)
code = run(sys.argv[1:])
print(json.dumps({"code": code, "loaded": sorted(set(sys.modules) - before)}))
"""
    arguments = ("apply", "-n", "shop", "-f", manifest(web("2")))
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
