"""The renewal of many locks, and what is asked for while it is under way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from gate.app.locks.keeper import RENEWAL_SECONDS
from gate.core.protocol.effects import SaveRecord
from gate.core.protocol.events import Recorded
from gate.kube.lease import Held
from tests.unit.app.locks.test_keeper import BACK, BESIDE, LOCK, Scene, Store


class AskedDuringRenewal(Store):
    """A Lease at whose first renewal the attempt asks for its record."""

    def __init__(self, ask: Callable[[], None], held: Held, writes: list[str]) -> None:
        super().__init__()
        self.ask, self.held, self.writes = ask, held, writes

    def renew(self, held: Held, now: datetime) -> Held:
        """Renew it, and let the attempt ask the first time."""
        if not self.writes:
            self.ask()
        return super().renew(held, now)


@pytest.mark.contract("B915")
def test_the_record_of_a_way_back_does_not_wait_for_the_other_locks() -> None:
    """It is saved between two renewals; the lock that is left is renewed right after it, once."""
    row, writes = Scene(LOCK, BESIDE), list[str]()
    held = row.stores[LOCK].held
    row.stores[LOCK] = AskedDuringRenewal(lambda: row.lane(SaveRecord(1, BACK)), held, writes)
    row.stores[BESIDE].writes = writes
    assert isinstance(row.heard(RENEWAL_SECONDS + 1.0), Recorded)
    assert writes[:2] == ["renew", "save"]
    row.clock.wait(1.0)
    assert writes == ["renew", "save", "renew"]
    assert row.stores[BESIDE].held.resource_version == "2"
