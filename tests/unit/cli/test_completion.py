"""Shell completion, in the shells themselves where they are installed."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gate.cli.catalog import COMMANDS
from tests.long import longer

pytestmark = pytest.mark.contract("B207")

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()
BEGIN = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], ""),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit && compinit -u -d dump\n"),
    "fish": (["fish", "--no-config", "-i"], ""),
}
"""How each shell is started without anybody's configuration, and what it needs first."""
ON_ITS_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Makes stdin the terminal of the session: fish wants to be its foreground process group."""
PATIENCE_SECONDS = 60


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return a PATH on which `rollout-gate` is this checkout."""
    program = tmp_path / "rollout-gate"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gate "$@"\n')
    program.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def install_line(shell: str) -> str:
    """Return the line of the README that installs the completion in a shell."""
    [line] = [one for one in README.splitlines() if f"COMPLETE={shell}_source" in one]
    return line


def run(words: list[str], path: str, folder: Path, **environ: str) -> str:
    """Run a program and return its stdout."""
    env = {"PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(folder), **environ}
    done = subprocess.run(words, env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def type_into(shell: str, path: str, folder: Path, typed: str, expected: str) -> None:
    """Type into a shell on a terminal until it shows what is expected of the Tab key."""
    words, first = BEGIN[shell]
    env = {"PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(folder), "TERM": "dumb"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", ON_ITS_TERMINAL, *words],
        env=env,
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        os.write(ours, f"{first}{install_line(shell)}\n{typed}\t".encode())
        said = ""
        while expected not in said and select.select([ours], [], [], PATIENCE_SECONDS)[0]:
            said += os.read(ours, 1024).decode(errors="replace")
        process.kill()
    os.close(ours)
    assert expected in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("rollout-gate rec", "recover"),
        longer("rollout-gate apply --on-fa", "--on-failure"),
        longer("rollout-gate apply --on-failure ke", "--on-failure keep"),
        longer("rollout-gate apply -f dep", "-f deploy.yaml"),
    ],
)
def test_a_shell_completes_what_is_typed(
    shell: str, path: str, tmp_path: Path, typed: str, expected: str
) -> None:
    """With the line of the README, on a terminal, by the Tab key.

    Each Tab starts the program again.
    """
    if shutil.which(shell) is None:  # `.ci/run` installs all three, so that none is skipped there
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "deploy.yaml").touch()
    type_into(shell, path, tmp_path, typed, expected)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_answered(shell: str, path: str, tmp_path: Path) -> None:
    """The protocol of each, also where the shell is not installed."""
    words = {"COMP_WORDS": "rollout-gate ", "COMP_CWORD": "" if shell == "fish" else "1"}
    how = {"_ROLLOUT_GATE_COMPLETE": f"{shell}_complete"}
    said = run(["rollout-gate"], path, tmp_path, **words, **how)
    assert all(name in said for name in COMMANDS)
    source = {"_ROLLOUT_GATE_COMPLETE": f"{shell}_source"}
    assert "_rollout_gate_completion" in run(["rollout-gate"], path, tmp_path, **source)
