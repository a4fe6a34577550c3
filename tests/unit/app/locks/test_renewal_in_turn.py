"""The renewal of many locks, and what is asked for while it is under way."""

from __future__ import annotations

from datetime import datetime

import pytest

from gate.app.locks.keeper import RENEWAL_SECONDS, RETRY_SECONDS
from gate.core.plan.journal_record import Record
from gate.core.protocol.effects import SaveRecord
from gate.core.protocol.events import Recorded
from gate.kube.failures import ApiError
from gate.kube.lease import Held
from tests.unit.app.locks.conftest import BACK, BESIDE, DOWN, LOCK, OUT, Scene, Store


class AskedDuringRenewal(Store):
    """The first of two Leases, at whose first renewal the attempt asks for its record."""

    def __init__(self, row: Scene, record: Record, *failures: ApiError) -> None:
        super().__init__()
        self.held, self.first_failures = row.stores[LOCK].held, [*failures]
        self.row, self.record = row, record
        row.stores[LOCK], row.stores[BESIDE].writes = self, self.writes

    def renew(self, held: Held, now: datetime) -> Held:
        """Renew it or fail, and let the attempt ask the first time."""
        if not self.writes:
            self.failures = self.first_failures
            self.row.lane(SaveRecord(1, self.record))
        return super().renew(held, now)


@pytest.mark.contract("B915")
def test_the_record_of_a_way_back_does_not_wait_for_the_other_locks(row: Scene) -> None:
    """It is saved between two renewals; the lock that is left is renewed right after it, once."""
    writes = AskedDuringRenewal(row, BACK).writes
    assert isinstance(row.heard(RENEWAL_SECONDS + 1.0), Recorded)
    assert writes[:2] == ["renew", "save"]
    row.clock.wait(1.0)
    assert writes == ["renew", "save", "renew"]
    assert row.stores[BESIDE].held.resource_version == "2"


@pytest.mark.contract("B519")
def test_what_is_asked_for_does_not_wait_for_each_lock_of_a_server_in_trouble(row: Scene) -> None:
    """Each renewal that fails takes seconds: the record goes first, the other lock right after."""
    writes = AskedDuringRenewal(row, OUT, DOWN).writes
    assert isinstance(row.heard(16.0), Recorded)
    assert writes == ["renew", "save"]
    row.clock.wait(RETRY_SECONDS + 0.1)
    assert row.stores[BESIDE].held.resource_version == "2"
