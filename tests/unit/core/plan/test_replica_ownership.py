"""Whose number of replicas an apply sends: the five rules, each with the cases beside it."""

from __future__ import annotations

import pytest

from gate.core.plan.replica_ownership import Decision, Replicas, ReplicasPolicy

LIVE, MANIFEST, REFUSED = Decision.LIVE, Decision.MANIFEST, Decision.REFUSED


@pytest.mark.contract("B71", "B72", "B74")
@pytest.mark.parametrize(
    ("live", "wanted", "applied", "decision"),
    [
        (6, None, 6, LIVE),  # the manifest names none
        (6, None, None, LIVE),
        (0, None, 3, LIVE),
        (3, 5, 3, MANIFEST),  # nobody scaled
        (5, 5, 3, MANIFEST),  # somebody scaled to what the manifest asks for
        (0, 0, 3, MANIFEST),
        (0, 3, 0, MANIFEST),
        (0, 3, 3, REFUSED),  # somebody scaled
        (7, 3, 3, REFUSED),
        (7, 4, 3, REFUSED),
        (2, 3, None, MANIFEST),  # nobody remembers
        (7, 3, None, MANIFEST),
        (0, 3, None, REFUSED),
        (0, 0, None, MANIFEST),
    ],
)
def test_whose_number_counts(
    live: int, wanted: int | None, applied: int | None, decision: Decision
) -> None:
    """By what is live, what the manifest asks for, and what was applied last."""
    assert Replicas(live, wanted, applied).decision is decision
    autoscaled = Replicas(live, wanted, applied, is_autoscaled=True)
    assert autoscaled.decision is LIVE


@pytest.mark.contract("B72")
@pytest.mark.parametrize("applied", [3, None])
def test_what_was_asked_for_counts(applied: int | None) -> None:
    """`keep` never scales; `apply` does, over somebody else's number too; an autoscaler wins."""
    keep, apply = ReplicasPolicy.KEEP, ReplicasPolicy.APPLY
    assert Replicas(0, 3, applied, policy=keep).decision is LIVE
    assert Replicas(3, 5, applied, policy=keep).decision is LIVE
    imposed = Replicas(0, 3, applied, policy=apply)
    assert (imposed.decision, imposed.is_imposed) == (MANIFEST, True)
    assert not Replicas(3, 3, applied, policy=apply).is_imposed
    assert Replicas(0, 3, applied, is_autoscaled=True, policy=apply).decision is LIVE
    assert not Replicas(0, 3, applied, is_autoscaled=True, policy=apply).is_imposed
