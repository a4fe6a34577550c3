"""What the tests of the controllers are given."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.controllers.bed import Bed


@pytest.fixture
def bed() -> Bed:
    """A cluster of controllers alone."""
    return Bed()
