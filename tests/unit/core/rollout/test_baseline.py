"""What served before is the only version that a rollback returns to by itself."""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import DEPLOYMENT, Deployment, ReplicaSet
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.observations import Listed, Observed
from gate.core.rollout.snapshot import Snapshot
from tests.unit.core.world import (
    AVAILABLE,
    SUCCEEDED,
    WEB,
    condition,
    deployment,
    old_replica_set,
    replica_set,
    template,
)


def snapshot(web: Deployment, *sets: ReplicaSet) -> Snapshot:
    """Return what is known before a write."""
    found = unseen(WEB).fold(Observed(0.0, web))
    for one in sets:
        found = found.fold(Observed(0.0, one))
    return found


@pytest.mark.contract("B121")
def test_baseline_is_what_serves_whatever_its_revision() -> None:
    """Template, ReplicaSet and revision of the version that owns the available pods."""
    found = baseline_of(snapshot(deployment(), old_replica_set(revision=7), replica_set()))
    assert isinstance(found, Known)
    assert (found.value.revision_name, found.value.revision) == ("web-2", 2)
    assert found.value.template == template()


@pytest.mark.contract("B4")
@pytest.mark.parametrize(("own", "known"), [(7, 7), (None, 2)])
def test_the_revision_is_the_replica_sets_own(own: int | None, known: int) -> None:
    """That of the Deployment, where its ReplicaSet says none."""
    found = baseline_of(snapshot(deployment(revision=2), replica_set(revision=own)))
    assert isinstance(found, Known)
    assert found.value.revision == known


@pytest.mark.contract("B122")
@pytest.mark.parametrize(
    ("web", "new"),
    [
        (deployment(available_replicas=3), replica_set(available_replicas=3)),
        (deployment(replicas=6, available_replicas=4), replica_set(replicas=6)),
    ],
    ids=["a-pod-missing", "between-two-sizes"],
)
def test_a_size_that_is_not_reached_yet_does_not_spoil_it(web: Deployment, new: ReplicaSet) -> None:
    """It serves with the pods that it has."""
    assert isinstance(baseline_of(snapshot(web, new)), Known)


@pytest.mark.contract("B122")
def test_available_without_an_available_pod_is_no_baseline() -> None:
    """With maxUnavailable 100 % the condition is true of nothing at all."""
    web = deployment(max_unavailable="100%", available_replicas=0, conditions=(AVAILABLE,))
    assert baseline_of(snapshot(web, replica_set(available_replicas=0))) == Absent()


def test_a_rollout_half_way_is_no_baseline() -> None:
    """Where another version still serves too, nobody knows which one is good."""
    half = snapshot(deployment(), replica_set(), old_replica_set(replicas=1))
    assert baseline_of(half) == Absent()


UNAVAILABLE = condition("Available", "False", "MinimumReplicasUnavailable")


def test_not_available_is_no_baseline() -> None:
    """Fewer pods than the strategy keeps up do not serve, as in a first rollout half way."""
    progressing = condition("Progressing", "True", "ReplicaSetUpdated")
    web = deployment(conditions=(UNAVAILABLE, progressing))
    assert baseline_of(snapshot(web, replica_set(available_replicas=1))) == Absent()


@pytest.mark.contract("B1750")
@pytest.mark.parametrize(("available", "serves"), [(1, True), (0, False)])
def test_what_was_rolled_out_serves_while_it_is_scaled_up(available: int, serves: bool) -> None:
    """The controller keeps the reason of the completed rollout; the new pods are yet to come."""
    web = deployment(conditions=(UNAVAILABLE, SUCCEEDED))
    found = baseline_of(snapshot(web, replica_set(available_replicas=available)))
    assert isinstance(found, Known) is serves


@pytest.mark.contract("B1750")
def test_what_is_scaled_up_beside_another_version_is_no_baseline() -> None:
    """Which of both is good nobody knows."""
    web = deployment(conditions=(UNAVAILABLE, SUCCEEDED))
    both = snapshot(web, replica_set(available_replicas=1), old_replica_set(replicas=1))
    assert baseline_of(both) == Absent()


@pytest.mark.contract("B115")
def test_unread_is_not_absent() -> None:
    """What nobody could read may serve all the same; what is not there does not."""
    assert isinstance(baseline_of(unseen(WEB)), Unknown)
    gone = unseen(WEB).fold(Listed(0.0, DEPLOYMENT, WEB, ()))
    assert baseline_of(gone) == Absent()
