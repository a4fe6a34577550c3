"""What the scenarios have beside the fixtures of their bed."""

from __future__ import annotations

import pytest

from tests.bed.bed import Bed
from tests.played.bed import PlayedUsers
from tests.played.gate import PlayedGate


@pytest.fixture
def program(bed: Bed) -> PlayedGate:
    """Return the gate as a program of the sandbox, several of which may run at once."""
    assert isinstance(bed.users, PlayedUsers)
    return bed.users.everything()[0]
