"""What the tests of the sandbox are given: clusters in virtual time."""

from __future__ import annotations

import pytest

from sandbox.api.api import Api, Key
from sandbox.times import Names, Timers
from tests.unit.sandbox.bed import STARTED, Bed


@pytest.fixture
def bed() -> Bed:
    """Return an API with its controllers and its kubelet."""
    return Bed()


@pytest.fixture
def timers() -> Timers:
    """Return the time, which begins on New Year's morning."""
    return Timers(STARTED)


@pytest.fixture
def api(timers: Timers) -> Api:
    """Return an API without controllers."""
    return Api(timers, Names(7))


@pytest.fixture
def web() -> Key:
    """Return where the Deployment of most tests is."""
    return Key("deployments.apps", "default", "web")
