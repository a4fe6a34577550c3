"""Who scaled a workload to 0, as far as the fields of the object show it."""

from __future__ import annotations

import pytest

from gate.core.writes.authorship import describe_scaler
from tests.unit.core.player import serving
from tests.unit.core.world import WEB


@pytest.mark.contract("B1580")
def test_who_owned_the_number_before_is_not_blamed_for_a_0() -> None:
    """Only a read that shows the 0 shows whose it is, if anybody's name is beside it."""
    server = serving()
    server.edit(WEB, "kubectl-edit", {"spec.replicas": 7})
    assert describe_scaler(server.read(WEB)).startswith("who did it is not known")
    server.edit(WEB, "kubectl-edit", {"spec.replicas": 0})
    assert describe_scaler(server.read(WEB)).startswith("by kubectl-edit")
