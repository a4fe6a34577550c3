"""The lane of the locks: renewal, and which record is waited for where writes fail."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest

from gate.app.locks.held_locks import LookAtLocks
from gate.app.locks.keeper import RENEWAL_SECONDS, RETRY_SECONDS
from gate.core.plan.record import Record
from gate.core.protocol.effects import Release, SaveRecord
from gate.core.protocol.events import Recorded, Released
from gate.core.versions.history import Closed
from gate.engine import Broken
from gate.errors import RefusedError
from gate.kube.answers.failures import ApiError, Forbidden, Invalid, TooManyRequests
from gate.kube.locks.lease import Held
from tests.unit.app.locks.conftest import BACK, BESIDE, DOWN, LOCK, OUT, Scene, Store


@pytest.mark.contract("B523")
def test_it_renews_while_nothing_else_is_asked(scene: Scene) -> None:
    """Each 15 s, sooner after a failure; nobody is told of it."""
    scene.clock.wait(46.0)
    assert scene.store.writes == ["renew"] * 3
    scene.store.failures = [DOWN]
    scene.clock.wait(20.0)
    assert scene.store.writes == ["renew"] * 5
    assert scene.heard() is None


@pytest.mark.contract("B534")
def test_the_way_out_waits_for_its_record(scene: Scene) -> None:
    """As long as the server fails nothing may be written; then the record stands first."""
    scene.store.failures = [DOWN] * 3
    scene.lane(SaveRecord(1, OUT))
    assert scene.heard(2.5) is None
    assert isinstance(scene.heard(2.0), Recorded)
    assert scene.store.held.record


@pytest.mark.contract("B534")
@pytest.mark.parametrize("failures", [[], [DOWN]], ids=["at-once", "after-trouble"])
@pytest.mark.parametrize("refusal", [Invalid, Forbidden])
def test_a_record_that_is_refused_for_good_ends_the_way_out(
    scene: Scene, failures: list[ApiError], refusal: type[ApiError]
) -> None:
    """Nothing is written without it: nobody could finish what a dead gate leaves."""
    scene.store.failures = [*failures, refusal("no annotations here")]
    scene.lane(SaveRecord(1, OUT))
    said = scene.heard(3.0)
    assert isinstance(said, Broken)
    assert isinstance(said.error, RefusedError)
    assert "no annotations here" in said.error.message
    assert scene.heard(30.0) is None


@pytest.mark.contract("B534")
@pytest.mark.parametrize("failures", [[DOWN] * 9, [Invalid("no annotations here")]])
def test_the_way_back_goes_on_without_its_record(scene: Scene, failures: list[ApiError]) -> None:
    """What serves comes first: the record of the way out says all that is needed."""
    scene.store.failures = failures
    scene.save_record(BACK)
    assert any("could not be saved" in line for line in scene.warnings)


@pytest.mark.contract("B518")
def test_a_record_is_not_written_again_before_the_server_wants_it(scene: Scene) -> None:
    """The lane waits as long as it was asked to, but not where something else is to be done."""
    later = TooManyRequests("later", retry_after_seconds=9.0)
    scene.store.failures = [later]
    scene.lane(SaveRecord(1, OUT))
    assert scene.heard(8.9) is None
    assert isinstance(scene.heard(0.2), Recorded)
    scene.store.failures = [later]
    scene.lane(SaveRecord(2, OUT))
    scene.lane(Release(3, Closed(left_open=True)))
    assert isinstance(scene.heard(1.5), Released)
    assert scene.heard(20.0) is None


@pytest.mark.contract("B534", "B524")
def test_a_look_at_the_locks_is_no_record(scene: Scene) -> None:
    """A gate that was stopped meanwhile looks at its locks at once; its record is awaited on."""
    scene.store.failures = [TooManyRequests("later", retry_after_seconds=9.0)]
    scene.lane(SaveRecord(1, OUT))
    assert scene.heard(2.0) is None
    looked = threading.Event()
    scene.lane(LookAtLocks(looked))
    assert scene.heard(2.0) is None
    assert looked.is_set()
    assert scene.store.held.record == ""
    assert isinstance(scene.heard(9.0), Recorded)
    assert scene.store.held.record


# -- many locks, in turn ---------------------------------------------------------------------------


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
