"""Scaling and pausing: sizes without a rollout, in proportion where one is under way."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.controllers.bed import (
    Bed,
    web,
)

WIDE = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "maxSurge": 3}}


def sizes(bed: Bed) -> list[int]:
    """Return what each ReplicaSet is asked for, by revision."""
    return [rs["spec"]["replicas"] for rs in bed.replica_sets]


@pytest.mark.parametrize(("replicas", "expected"), [(30, [20, 13]), (5, [3, 5]), (0, [0, 0])])
def test_a_stuck_rollout_is_scaled_in_proportion(
    bed: Bed, replicas: int, expected: list[int]
) -> None:
    """Of 13 pods, 8 old and 5 new that never become ready, each template keeps its share."""
    bed.deploy(web(10, strategy=WIDE))
    bed.set_image("shop/web:2", "never-ready")
    bed.run(2)
    assert sizes(bed) == [8, 5]
    bed.patch({"spec": {"replicas": replicas}})
    bed.run(3)
    assert sizes(bed) == expected
