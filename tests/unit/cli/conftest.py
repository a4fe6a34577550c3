"""The command line without what it runs."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import gate.app
from gate import log
from gate.cli.catalog import COMMANDS
from tests.unit.cli.listener import App


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[App]:
    """Replace the commands, in an empty folder and without variables of ours."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith("ROLLOUT_GATE_"):
            monkeypatch.delenv(name)
    listener = App()
    functions = {name: listener.function(name) for name in COMMANDS}
    commands = types.SimpleNamespace(**functions)
    monkeypatch.setitem(sys.modules, "gate.app.entry", commands)
    monkeypatch.setattr(gate.app, "entry", commands, raising=False)
    yield listener
    log.configure("console", "info")
