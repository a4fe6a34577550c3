"""The scene of the tests of sources: virtual time, and `requests` without a network."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import responses

from gate.virtual_time import VirtualClock
from tests.unit.kube.conftest import certificate, server  # noqa: F401 - fixtures

STARTED = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> VirtualClock:
    """Return a clock at 1,000 s that never sleeps."""
    return VirtualClock(1000.0, started=STARTED)


@pytest.fixture
def web() -> Iterator[responses.RequestsMock]:
    """Return the answers to `requests`; what is not answered is a refused connection."""
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock
