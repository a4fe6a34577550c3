"""A GitHub runner: `act` on this machine, with a repository whose workflow uses the Action.

The Action comes from a copy of what a release has of it, under the name and the tag that the
examples give it; other actions are stood in for by steps that say what they were given.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.command import Program, Running
from tests.hosts.place import ROOT, environment
from tests.hosts.programs import Kind, program, search_path

OURS = "rollout-gate/rollout-gate@v0.1.0"
ENTRY_SECONDS = 300.0
"""For a line of a job that installs the gate first, on a machine that is busy."""
_UPLOAD = """\
name: stand-in
description: Says what it was given
inputs: {name: {description: name, default: ''}, path: {description: path, default: ''}}
runs:
  using: composite
  steps:
    - shell: bash
      env: {PATHS: "${{ inputs.path }}"}
      run: for path in $PATHS; do test -s "$path" && echo "uploaded $path"; done
"""
_USES = re.compile(r"uses: (actions/(?!checkout)\S+@[0-9a-f]{40})")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with one workflow, and the folder beside it for what a runner needs."""

    folder: Path

    @property
    def checkout(self) -> Path:
        """Where its files are."""
        return self.folder / "repository"

    @property
    def left(self) -> Path:
        """Where a step may copy what it leaves: a runner's own folders go with it."""
        return self.folder / "left"

    def add(self, workflow: Path) -> None:
        """Commit what is there, with this workflow."""
        target = self.checkout / ".github" / "workflows" / workflow.name
        target.parent.mkdir(parents=True)
        shutil.copy(workflow, target)
        who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "all"]):
            subprocess.run(["git", *words], cwd=self.checkout, check=True)

    def push(self, kubeconfig: str) -> Running:
        """Start what a push starts, with a kubeconfig as the secret."""
        flags = ["push", "-P", "ubuntu-latest=-self-hosted", "--pull=false"]
        flags += [
            "-s",
            "KUBECONFIG_DATA",
            "--env",
            f"LEFT={self.left}",
            "--env",
            f"PIP_CACHE_DIR={self._pip_cache()}",
        ]
        flags += ["--local-repository", f"{OURS}={self._action()}"]
        for uses in sorted(set(_USES.findall(self._workflow()))):
            flags += ["--local-repository", f"{uses}={self._stand_in()}"]
        env = environment(self.folder / "home") | {"KUBECONFIG_DATA": kubeconfig}
        env |= {"PATH": search_path()}
        return Program((str(program(Kind.ACT)),), env, self.checkout).start(*flags)

    def _workflow(self) -> str:
        [path] = (self.checkout / ".github" / "workflows").iterdir()
        return path.read_text(encoding="utf-8")

    def _action(self) -> Path:
        """Return a folder with what the Action has in a checkout of its own."""
        folder = self.folder / "action"
        if not folder.exists():
            folder.mkdir()
            for name in ("action.yml", "requirements.lock"):
                shutil.copy(ROOT / name, folder)
            for package in ("gate", "sandbox"):
                compiled = shutil.ignore_patterns("__py*")
                shutil.copytree(ROOT / package, folder / package, ignore=compiled)
        return folder

    def _stand_in(self) -> Path:
        folder = self.folder / "stand-in"
        folder.mkdir(exist_ok=True)
        (folder / "action.yml").write_text(_UPLOAD, encoding="utf-8")
        return folder

    def _pip_cache(self) -> Path:
        base = os.environ.get("PIP_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
        return Path(base) if base else Path.home() / ".cache" / "pip"


def entry_of(runner: Running) -> int:
    """Return the process that the runner started for its step and would signal: its own child.

    Raises `AssertionError` where that is no gate, as where a shell stands between the two.
    """
    children = Path(f"/proc/{runner.pid}/task")
    found = {
        int(pid) for task in children.iterdir() for pid in (task / "children").read_text().split()
    }
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in found}
    gates = [pid for pid, words in lines.items() if words[1:4] == [b"-I", b"-m", b"gate"]]
    assert len(gates) == 1, f"the runner's own children are {lines}"
    return gates[0]


def cancel(runner: Running) -> float:
    """Signal the step's entry as a runner that cancels does; return how long it took to end."""
    entry = entry_of(runner)
    began = time.monotonic()
    os.kill(entry, signal.SIGINT)
    while Path(f"/proc/{entry}").exists() and time.monotonic() < began + ENTRY_SECONDS:
        time.sleep(0.02)
    return time.monotonic() - began
