"""A real Pushgateway, and promtool."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.engines.programs import Tool, program
from tests.engines.pushgateway import Gateway


class Promtool(Protocol):
    """Runs promtool, which has to find nothing."""

    def __call__(self, *arguments: str | Path, stdin: str = "") -> str:
        """Return what it says; AssertionError where it finds anything."""


@pytest.fixture
def pushgateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Return an empty Pushgateway."""
    with Gateway(tmp_path_factory.mktemp("pushgateway")) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def promtool() -> Promtool:
    """Return the linter of Prometheus."""
    path = str(program(Tool.PROMTOOL))

    def run(*arguments: str | Path, stdin: str = "") -> str:
        words = [path, *map(str, arguments)]
        done = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        return said

    return run
