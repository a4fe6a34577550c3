"""A short soak: attempts in a row in one process, over a network that fails."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cluster.programs import REPOSITORY

ATTEMPTS = 20
END_SECONDS = 600.0


@pytest.mark.contract("B517")
def test_nothing_is_left_behind() -> None:
    """No wrong verdict, thread or descriptor; the growth of so few says nothing about memory."""
    command = [sys.executable, "-m", "tests.soak", str(ATTEMPTS)]
    ended = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=END_SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{ATTEMPTS} attempts" in ended.stdout
