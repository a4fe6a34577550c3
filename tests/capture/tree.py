"""The live tree of the demo on a screen of 80 columns, and its place in README.md."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "README.md"
COLUMNS: Final = 80
ROWS: Final = 24
MOMENT: Final = "CrashLoopBackOff; 2 restarts"
"""The tree that is taken is the first one that says so."""

_PLACE: Final = re.compile(r"(?<=<!-- make capture -->\n```\n)(.*?)(?=\n```\n)", re.DOTALL)
_LONGEST_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.1


def taken() -> list[str]:
    """Run the demo in a terminal; return the tree's lines at the moment."""
    socket = ("tmux", "-L", "rollout-gate-capture")
    demo = shlex.join(["env", "-u", "CI", "-u", "NO_COLOR", sys.executable, "-m", "gate", "demo"])
    size = ("-x", str(COLUMNS), "-y", str(ROWS))
    _run(*socket, "new-session", "-d", "-s", "demo", *size, "-c", str(ROOT), demo)
    try:
        ends_at = time.monotonic() + _LONGEST_SECONDS
        while time.monotonic() < ends_at:
            tree = tree_of(_run(*socket, "capture-pane", "-p", "-t", "demo").splitlines())
            if any(MOMENT in line for line in tree):
                return tree
            time.sleep(_LOOK_SECONDS)
        raise TimeoutError(f"no tree said {MOMENT!r} in {_LONGEST_SECONDS:.0f} s")
    finally:
        subprocess.run([*socket, "kill-server"], check=False)


def tree_of(screen: Sequence[str]) -> list[str]:
    """Return the lines from the tree's heading on; none where there is no tree."""
    lines = [line.rstrip() for line in screen]
    starts = [number for number, line in enumerate(lines) if line.startswith("── ")]
    return [line for line in lines[starts[-1] :] if line] if starts else []


def captured() -> list[str]:
    """Return the tree that README.md shows."""
    found = _PLACE.search(README.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("README.md has no place for a tree")
    return found.group().splitlines()


def put(tree: Sequence[str]) -> None:
    """Have README.md show a tree."""
    text = README.read_text(encoding="utf-8")
    README.write_text(_PLACE.sub(lambda _: "\n".join(tree), text), encoding="utf-8")


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
