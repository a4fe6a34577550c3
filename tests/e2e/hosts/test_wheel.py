"""The wheel: built from the checkout, run by the tools that install a command for one run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.hosts.place import ROOT
from tests.hosts.programs import Kind, program, search_path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once."""
    folder = tmp_path_factory.mktemp("dist")
    done = _run(folder, Kind.UV, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT))
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = folder.glob("*.whl")
    return built


@pytest.mark.contract("B605")
@pytest.mark.parametrize(
    ("runner", "words"), [(Kind.UVX, ("--from",)), (Kind.PIPX, ("run", "--spec"))]
)
def test_the_wheel_shows_the_demo(
    wheel: Path, tmp_path: Path, runner: Kind, words: tuple[str, ...]
) -> None:
    """A rollback in the sandbox needs every data file of the package."""
    done = _run(tmp_path, runner, *words, str(wheel), "rollout-gate", "demo", "crash")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "ROLLED BACK (exit 4): deployment/web failed" in said


def _run(folder: Path, kind: Kind, *words: str) -> subprocess.CompletedProcess[str]:
    """Run an installer in a folder of the test's own, which keeps all that it installs."""
    env = os.environ | {
        "PATH": search_path(),
        "PIPX_HOME": str(folder / "pipx"),
        "UV_TOOL_DIR": str(folder / "tools"),
    }
    env.pop("PYTHONPATH", None)
    return subprocess.run(
        [str(program(kind)), *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
