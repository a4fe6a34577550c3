"""The program as a process whose output nobody reads, or slowly: what it does meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.long import longer
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Manifest
from tests.unit.app.processes import (
    DEPLOYMENT,
    LONGEST_SECONDS,
    Start,
    applying,
    arrival,
    ended,
)
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Hang, Seen
from tests.unit.test_output import Pipe


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
