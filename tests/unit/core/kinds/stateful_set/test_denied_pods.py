"""Pods of a StatefulSet that may not be created: which of the events about them count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.kinds.registry import unseen
from gate.core.model.objects import ClusterEvent
from gate.core.model.outcome import Reason
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import FailFast
from gate.core.rollout.snapshot import Snapshot
from tests.table import each
from tests.unit.core.kinds.stateful_set.test_blocking import DB, WELL, stateful_set
from tests.unit.core.world import pod, warning

SAID = 'create Pod db-2 in StatefulSet db failed error: pods "db-2" is forbidden: not here'


def denial(**changes: object) -> ClusterEvent:
    """Return the controller's event that db-2 could not be created."""
    event = warning(pod(name="db", uid="db-uid"), "FailedCreate", SAID)
    return replace(event, **changes)  # type: ignore[arg-type]


def reasons(snapshot: Snapshot) -> list[object]:
    """Return why the controller does not go on."""
    assert snapshot.live is not None
    return [one.reason for one in snapshot.kind.faults(snapshot, snapshot.live, FailFast())]


@pytest.mark.contract("B1640")
@each(
    ("replicas", "first_ordinal", "is_denied"),
    [(3, 0, True), (2, 0, False), (3, 2, True), (3, 3, False)],
)
def test_a_denial_is_about_a_pod_that_is_wanted(
    replicas: int, first_ordinal: int, *, is_denied: bool
) -> None:
    """An event outlives the number of replicas that it was about, and the first ordinal."""
    live = stateful_set(replicas=replicas, first_ordinal=first_ordinal)
    snapshot = unseen(DB)
    for thing in (live, *WELL, denial()):
        snapshot = snapshot.fold(Observed(0.0, thing))
    assert reasons(snapshot) == [Reason.POD_CREATE_DENIED] * is_denied


@pytest.mark.contract("B1640")
@each(
    ("later", "is_retried", "is_denied"),
    [
        ({}, True, False),
        ({"resource_version": "101"}, True, False),
        ({"count": 2}, True, True),
        ({"at": "2026-11-21T12:00:01Z"}, True, True),
        ({"uid": "another"}, True, True),
        ({}, False, True),
    ],
)
def test_a_denial_from_before_a_change_counts_once_it_occurs_again(
    later: dict[str, object], *, is_retried: bool, is_denied: bool
) -> None:
    """The controller tries at once after a change; without one its next try may be far off."""
    snapshot = unseen(DB)
    for thing in (stateful_set(), *WELL, denial()):
        snapshot = snapshot.fold(Observed(0.0, thing))
    snapshot = snapshot.begin(1.0, is_retried=is_retried)
    snapshot = snapshot.fold(Observed(2.0, denial(**later)))
    assert reasons(snapshot) == [Reason.POD_CREATE_DENIED] * is_denied
