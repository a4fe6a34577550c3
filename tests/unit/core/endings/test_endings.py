"""What an outcome says about each object, and of pods that were missing before a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.endings.coverage import Coverage, coverage_of
from gate.core.endings.pods_before_run import describe_pods_before
from gate.core.kinds.deployment.objects import ReplicaSet
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.model.readiness import UNJUDGED, Readiness, ReadinessKind
from gate.core.rollout.snapshot import Snapshot
from tests.table import each
from tests.unit.core.world import (
    WEB,
    deployment,
    old_replica_set,
    replica_set,
    snapshot_of,
    template,
)
from tests.unit.report.endings import ENDINGS

CLAIM = Ref("v1", "PersistentVolumeClaim", "shop", "data")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")
READY = Readiness(ReadinessKind.READY)


@pytest.mark.contract("B1032")
@each(
    ("end", "ref", "known", "coverage"),
    [
        ("verified", CLAIM, READY, Coverage.JUDGED),
        ("verified", CLAIM, Readiness(ReadinessKind.FAILED), Coverage.JUDGED),
        ("verified", CLAIM, UNJUDGED, Coverage.NOT_JUDGED),
        ("verified", CLAIM, None, Coverage.NOT_JUDGED),
        ("verified", SETTINGS, None, Coverage.APPLIED),
        ("rolled-back", CLAIM, READY, Coverage.NOT_JUDGED),
    ],
)
def test_what_was_found_ready_is_judged(
    end: str, ref: Ref, known: Readiness | None, coverage: Coverage
) -> None:
    """Forward alone: what goes back is not waited for."""
    attempt = ENDINGS[end]().attempt
    objects = FrozenMap({} if known is None else {ref: known})
    attempt = replace(attempt, result=replace(attempt.result, objects=objects))
    assert coverage_of(attempt, ref) is coverage


OTHER = "shop/web:3"
LEFT = old_replica_set(status_replicas=1)


def lacking(available: int, image: str = "shop/web:2", *others: ReplicaSet) -> Snapshot:
    """Make a Deployment that wants four pods and has that many available ones of an image."""
    counters = {"ready_replicas": available, "available_replicas": available}
    kept = template(image)
    own = replica_set(f"web-{image[-1]}", status_replicas=available, template=kept, **counters)
    return snapshot_of(WEB, deployment(template=kept, **counters), own, *others)


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
