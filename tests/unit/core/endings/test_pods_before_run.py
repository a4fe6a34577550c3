"""A pod that was missing before a run is counted against it only where it serves less since."""

from __future__ import annotations

import pytest

from gate.core.endings.pods_before_run import describe_pods_before
from gate.core.kinds.deployment.objects import ReplicaSet
from gate.core.kinds.registry import unseen
from gate.core.model.objects import Watched
from gate.core.rollout.observations import Observed
from gate.core.rollout.snapshot import Snapshot
from tests.table import each
from tests.unit.core.world import WEB, deployment, old_replica_set, replica_set, template

OTHER = "shop/web:3"
LEFT = old_replica_set(status_replicas=1)


def lacking(available: int, image: str = "shop/web:2", *others: ReplicaSet) -> Snapshot:
    """Make a Deployment that wants four pods and has that many available ones of an image."""
    counters = {"ready_replicas": available, "available_replicas": available}
    kept = template(image)
    own = replica_set(f"web-{image[-1]}", status_replicas=available, template=kept, **counters)
    there: tuple[Watched, ...] = (deployment(template=kept, **counters), own, *others)
    snapshot = unseen(WEB)
    for thing in there:
        snapshot = snapshot.fold(Observed(0.0, thing))
    return snapshot


@pytest.mark.contract("B1584")
@each(
    ("found", "now", "is_said"),
    [
        (lacking(3), lacking(3), True),
        (lacking(3), lacking(2), False),
        (lacking(3), lacking(3, OTHER), False),
        (lacking(3), lacking(3, "shop/web:2", LEFT), False),
        (lacking(4), lacking(4), False),
    ],
)
def test_it_is_said_that_no_fewer_serve_where_that_is_so(
    found: Snapshot, now: Snapshot, *, is_said: bool
) -> None:
    """Of the same version alone, and where nothing is left of another."""
    assert ("before this run 3 of 4 were" in describe_pods_before(found, now)) is is_said
    assert bool(describe_pods_before(found, now)) is is_said
