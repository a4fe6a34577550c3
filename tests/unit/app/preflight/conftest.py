"""What the tests of checks before a rollout have in common."""

from __future__ import annotations

import pytest

from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Manifest
from tests.unit.app.server import Server


@pytest.fixture
def nothing_is_written(server: Server) -> object:
    """Hold a test to it."""
    yield
    assert server.writes() == []


@pytest.fixture
def path(server: Server, manifest: Manifest) -> str:
    """Return the manifest of a new version of what serves."""
    server.put(web())
    return manifest(web("2"))


def warnings(ended: Ended) -> list[str]:
    """Return what was warned of a check."""
    return [warning for warning in ended.warnings if warning.startswith("check ")]


def notes(ended: Ended) -> list[str]:
    """Return what was said that checks will ask."""
    return [line["message"] for line in ended.document["timeline"] if line["event"] == "check"]
