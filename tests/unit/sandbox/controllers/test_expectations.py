"""What a ReplicaSet waits to see before it counts its pods again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sandbox.api.api import Patch, PatchType
from sandbox.controllers import informer
from sandbox.controllers.replicaset.replicas import Expectations
from sandbox.storage.store import Change, ChangeType, Key
from sandbox.times import Timers
from tests.unit.sandbox.controllers.bed import NAMESPACE, TEAM, Bed, replica_set

OWNER = Key("replicasets.apps", "shop", "r")
POD = Key("pods", "shop", "p")


@pytest.fixture
def timers() -> Timers:
    """Virtual time."""
    return Timers(datetime(2026, 1, 1, tzinfo=UTC))


def test_what_is_never_seen_is_given_up_after_five_minutes(timers: Timers) -> None:
    """A ReplicaSet does not stand still for ever."""
    expectations = Expectations(timers)
    expectations.creations(OWNER, 1)
    timers.run_due(300)
    assert not expectations.is_met(OWNER)
    timers.run_due(301)
    assert expectations.is_met(OWNER)


def test_a_sync_before_the_new_pods_are_seen_makes_no_more(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change from before the creation wakes the controller before what it created is cached."""
    monkeypatch.setattr(informer, "LATENCY_SECONDS", 0.05)
    added: list[Change] = []
    bed.api.store.listen("pods", added.append)
    bed.api.create("replicasets.apps", NAMESPACE, replica_set(3), TEAM)
    bed.run(0.04)
    touched = Patch(PatchType.MERGE, {"metadata": {"annotations": {"touched": "yes"}}})
    bed.api.patch(bed.key("replicasets.apps", "alone"), touched, TEAM)
    bed.run(5)
    assert sum(change.type is ChangeType.ADDED for change in added) == 3
