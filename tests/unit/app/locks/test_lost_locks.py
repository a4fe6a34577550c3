"""Locks that somebody took or gave back while a run held them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest

from gate.app.locks.held_locks import LookAtLocks
from gate.core.model.lock import Lock
from gate.core.model.lock_holder import NOBODY, Holder
from gate.core.protocol.effects import Release, SaveRecord
from gate.core.protocol.events import LeaseLost, Recorded, Released
from gate.core.versions.history import Closed
from gate.kube.answers.failures import Forbidden, NotFound
from gate.kube.locks.lease import Held
from tests.unit.app.locks.conftest import BESIDE, DOWN, LOCK, OTHER, OUT, Scene, Store


@pytest.mark.contract("B519")
def test_the_other_locks_are_renewed_while_a_record_waits(row: Scene) -> None:
    """They would be somebody else's by the time that it is written."""
    row.stores[LOCK].failures = [DOWN] * 300
    row.lane(SaveRecord(1, OUT))
    row.clock.wait(100.0)
    assert row.stores[BESIDE].writes.count("renew") >= 6
    row.stores[LOCK].failures = []
    assert isinstance(row.heard(6.0), Recorded)


@pytest.mark.contract("B519", "B524")
def test_a_lock_that_was_lost_meanwhile_is_found_before_the_record_is_answered(row: Scene) -> None:
    """After minutes without a server the record is written first, and the other lock is gone."""
    for store in row.stores.values():
        store.failures = [DOWN] * 300
    row.lane(SaveRecord(1, OUT))
    row.clock.wait(90.0)
    theirs = row.stores[BESIDE]
    theirs.held = replace(theirs.held, holder=OTHER, resource_version="9")
    for store in row.stores.values():
        store.failures = []
    first = row.heard(6.0)
    assert isinstance(first, LeaseLost)
    assert first.holder == "somebody else"


@pytest.mark.contract("B519")
def test_no_record_is_answered_under_a_lock_in_doubt(row: Scene) -> None:
    """Its own Lease takes the record while the other one's renewal still fails."""
    row.stores[BESIDE].failures = [DOWN] * 300
    row.clock.wait(40.0)
    row.lane(SaveRecord(1, OUT))
    assert row.heard(20.0) is None
    row.lane(LookAtLocks(threading.Event()))
    assert row.heard(20.0) is None, "a look clears no doubt"
    row.stores[BESIDE].failures = []
    assert isinstance(row.heard(6.0), Recorded)
    row.stores[BESIDE].failures = [Forbidden("leases is forbidden")] * 300
    row.clock.wait(40.0)
    row.save_record(seconds=6.0)


def taken_by_other(row: Scene, lock: Lock) -> None:
    """Let somebody else take one of the locks."""
    held = row.stores[lock].held
    row.stores[lock].held = replace(held, holder=OTHER, resource_version="9")


@pytest.mark.contract("B789", "B1276")
@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("ends", ["attempt", "command"])
def test_a_loss_that_the_end_finds_keeps_no_other_lock(row: Scene, lost: int, ends: str) -> None:
    """Whichever it is, with an attempt or without: the others are given back, and it is said."""
    row.save_record(seconds=1.0)
    theirs, ours = (LOCK, BESIDE) if lost == 0 else (BESIDE, LOCK)
    taken_by_other(row, theirs)
    if ends == "attempt":
        row.lane(Release(2, Closed(left_open=False)))
        assert isinstance(row.heard(1.0), LeaseLost), "it changes the verdict"
        assert isinstance(row.heard(1.0), Released)
        assert row.warnings == [
            f"the lock of {theirs} was taken by somebody else while this run held it"
        ]
        assert not row.stores[ours].held.record
    else:
        row.keeper.leave()
    assert row.stores[ours].held.is_free
    assert row.stores[theirs].held.holder == OTHER
    assert bool(row.stores[theirs].held.record) is (theirs == LOCK)


class Freed(Store):
    """A Lease that was given back; `by_us` is that the answer to our own release was lost."""

    def __init__(self, held: Held, *, by_us: bool) -> None:
        super().__init__()
        self.held, self.is_next = replace(held, resource_version="9"), by_us
        if not by_us:
            self.held = replace(self.held, holder=NOBODY)

    def claim(self, held: Held, holder: Holder, _now: datetime) -> Held:
        """Take it again."""
        return self._written("claim", replace(held, holder=holder))

    def release(self, held: Held, annotations: Mapping[str, str | None], now: datetime) -> Held:
        """Give it back, and lose the first answer."""
        after = super().release(held, annotations, now)
        if self.is_next:
            self.is_next = False
            raise DOWN
        return after


@pytest.mark.contract("B791")
@pytest.mark.parametrize("by_us", [True, False])
def test_only_a_release_by_somebody_else_is_warned_of(row: Scene, by_us: bool) -> None:
    """A lock that is found free may have been given back by ourselves, its answer lost."""
    row.stores[LOCK] = store = Freed(row.stores[LOCK].held, by_us=by_us)
    row.give_back(seconds=2.0)
    assert store.held.is_free
    assert "claim" in store.writes
    said = "somebody released the lock of deployment/web while this run held it"
    assert row.warnings == ([] if by_us else [f"{said}; this run took it again"])


@pytest.mark.contract("B524")
def test_a_lock_of_somebody_else_is_not_written(scene: Scene) -> None:
    """Nothing is recorded, so that nothing is written; at the end it is left alone."""
    scene.store.held = replace(scene.store.held, holder=OTHER, resource_version="9")
    scene.lane(SaveRecord(1, OUT))
    lost = scene.heard()
    assert isinstance(lost, LeaseLost)
    assert lost.holder == "somebody else"
    scene.give_back()
    assert scene.store.held.holder == OTHER


def test_a_write_of_ours_whose_answer_was_lost_is_found(scene: Scene) -> None:
    """A conflict with ourselves is read, and the write is done."""
    scene.store.held = replace(scene.store.held, resource_version="9")
    scene.save_record()
    assert scene.store.held.record


@pytest.mark.contract("B1941")
def test_it_is_said_what_is_lost_with_a_lock_that_cannot_be_created_again(
    row: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on, and whoever reads its warnings knows what nobody can finish."""
    row.save_record(seconds=1.0)
    for store in row.stores.values():
        store.held = replace(store.held, history="text", resource_version="9")
    row.clock.wait(20.0)

    def refuse(*_: object) -> None:
        raise Forbidden("leases is forbidden")

    monkeypatch.setattr(Store, "read", lambda *_: None)
    monkeypatch.setattr(Store, "create", refuse, raising=False)
    for store in row.stores.values():
        store.failures = [NotFound("it is gone")]
    row.clock.wait(20.0)
    history = "its history, without which no undo or rollback knows an earlier version"
    record = "its record, without which no recover can finish this attempt"
    assert [one for one in row.warnings if one.startswith("somebody")] == [
        f"somebody deleted the lock of {lock} while this run held it, and it cannot be created"
        f" again: leases is forbidden; lost with it: {lost}"
        for lock, lost in ((LOCK, f"{record} and {history}"), (BESIDE, history))
    ]


@pytest.mark.contract("B771")
def test_a_lock_that_went_with_its_namespace_is_not_spoken_of(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is none to expire."""
    gone = NotFound('namespaces "shop" not found')

    def refuse(*_: object) -> None:
        raise gone

    monkeypatch.setattr(Store, "read", lambda *_: None)
    monkeypatch.setattr(Store, "create", refuse, raising=False)
    scene.store.failures = [gone]
    scene.give_back(seconds=2.0)
    assert not scene.warnings
