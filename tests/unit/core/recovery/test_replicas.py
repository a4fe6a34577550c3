"""How many replicas a recovery returns a workload with, if its record has too little of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Unknown
from gate.core.model.outcome import Outcome
from gate.core.plan.replica_ownership import without_replicas
from gate.core.plan.target_set import TargetSet
from tests.unit.core.leaves import manifest
from tests.unit.core.player import ends
from tests.unit.core.recovery.test_resumption import died, finished, serving
from tests.unit.core.world import WEB


@pytest.mark.contract("B1820", "B535")
def test_the_live_number_stays_where_that_of_before_is_not_kept() -> None:
    """A version has none: an apply without it would leave 1 replica, as the server defaults."""
    server = serving()
    server.behaviour["shop/web:v2"] = "stuck"
    record = died(server)
    bodies = {WEB: Body.of(without_replicas(manifest("v1")))}
    kept = tuple(
        replace(one, before=Unknown("too large"), expected=None) if one.ref == WEB else one
        for one in record.objects
    )
    record = replace(record, objects=kept, target_set=TargetSet(FrozenMap(bodies)))
    player = finished(server, record)
    assert ends(player.attempt)[:2] == (4, Outcome.ROLLED_BACK)
    stored = server.stored[WEB]
    assert (stored.image, stored.leaves["spec.replicas"]) == ("shop/web:v1", 4)
