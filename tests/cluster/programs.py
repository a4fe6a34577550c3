"""The programs that end-to-end tests run, in an environment that holds only what they need."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.cluster.command import Program

REPOSITORY = Path(__file__).parents[2]


def gate(kubeconfig: Path, cwd: Path) -> Program:
    """Return the gate as `python -m gate`, out of this checkout; relative paths are under `cwd`.

    Only coverage's own variables come through from outside: no `ROLLOUT_GATE_*`, no CI host.
    """
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    own = {"PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1", **measured}
    return Program((sys.executable, "-m", "gate"), _environment(kubeconfig, cwd) | own, cwd)


def kubectl(binary: Path, kubeconfig: Path, cwd: Path) -> Program:
    """Return the real kubectl, with a discovery cache of its own."""
    own = {"KUBECACHEDIR": str(cwd / "kubectl-cache")}
    return Program((str(binary),), _environment(kubeconfig, cwd) | own, cwd)


def _environment(kubeconfig: Path, home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "KUBECONFIG": str(kubeconfig),
    }
