"""Which process this is, and which have ended: on this machine, and where /proc tells less."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gate.core.model.lock_holder import Process
from gate.processes import SystemProcesses

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/ns/pid").is_symlink(), reason="this system has no /proc"
)
DESCRIBE = """
import sys
from gate.processes import SystemProcesses
p = SystemProcesses().this()
print(p.host, p.boot_id, p.namespaces.replace(" ", "+"), p.pid, p.start_ticks, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """Run a process that says which it is, and ends with its stdin."""
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", DESCRIBE]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as running:
        yield running
        running.kill()


def described(child: subprocess.Popen[str]) -> Process:
    """Return what a child says of itself."""
    assert child.stdout is not None
    host, boot_id, namespaces, pid, start_ticks = child.stdout.readline().split()
    return Process(host, boot_id, namespaces.replace("+", " "), int(pid), int(start_ticks))


@pytest.mark.contract("B539")
def test_a_process_is_known_from_its_start_to_its_end(child: subprocess.Popen[str]) -> None:
    """A child shares our pids; it runs, is a zombie that nobody has waited for, and is gone."""
    processes, theirs = SystemProcesses(), described(child)
    this = processes.this()
    assert this is not None
    assert this.pid == os.getpid()
    assert this.shares_pids_with(theirs)
    assert not processes.has_ended(theirs)
    assert not processes.has_ended(this)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert processes.has_ended(theirs), "a zombie runs no more"
    child.wait()
    assert processes.has_ended(theirs)


@pytest.mark.contract("B539")
def test_a_pid_that_another_process_has_now_is_none_of_the_first() -> None:
    """The start time tells them apart."""
    processes = SystemProcesses()
    this = processes.this()
    assert this is not None
    assert processes.has_ended(replace(this, start_ticks=this.start_ticks - 1))


@pytest.mark.contract("B539")
def test_what_proc_hides_is_not_gone(child: subprocess.Popen[str], tmp_path: Path) -> None:
    """With `hidepid` /proc has no folder of a process that runs: only kill(2) is believed."""
    theirs = described(child)
    assert not SystemProcesses(tmp_path).has_ended(theirs)
    child.kill()
    child.wait()
    assert SystemProcesses(tmp_path).has_ended(theirs)


@pytest.mark.contract("B539")
def test_without_a_proc_of_its_own_it_knows_nothing(tmp_path: Path) -> None:
    """None at all, as on macOS, or one of another PID namespace."""
    assert SystemProcesses(tmp_path / "none").this() is None
    (tmp_path / "sys/kernel/random").mkdir(parents=True)
    (tmp_path / "sys/kernel/random/boot_id").write_text("boot\n")
    (tmp_path / "self").symlink_to("1")
    assert SystemProcesses(tmp_path).this() is None


@pytest.mark.contract("B539")
@pytest.mark.parametrize("pid", [0, -1, 1 << 40])
def test_what_is_no_pid_proves_nothing(pid: int) -> None:
    """A Lease is what somebody wrote: its pid may be anything, a group's too."""
    assert not SystemProcesses().has_ended(Process("h", "b", "n", pid, 1))
