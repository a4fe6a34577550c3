"""Scaling and pausing: sizes without a rollout, in proportion where one is under way."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.controllers.bed import (
    Bed,
    condition,
    generations,
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
    bed.set_image("shop/web:2", "never")
    bed.run(2)
    assert sizes(bed) == [8, 5]
    bed.patch({"spec": {"replicas": replicas}})
    bed.run(3)
    assert sizes(bed) == expected


def test_a_paused_deployment_makes_no_new_version(bed: Bed) -> None:
    """It is observed, its condition says so, and its scaling goes on."""
    bed.deploy(web())
    bed.patch({"spec": {"paused": True}})
    bed.set_image("shop/web:2")
    bed.patch({"spec": {"replicas": 5}})
    bed.run(3)
    assert sizes(bed) == [5]
    assert generations(bed.deployment) == (4, 4)
    paused = condition(bed.deployment, "Progressing")
    assert (paused["status"], paused["reason"]) == ("Unknown", "DeploymentPaused")
    # No ReplicaSet has the template: nothing counts as updated.
    assert bed.deployment["status"].get("updatedReplicas", 0) == 0


def test_the_newest_takes_all_when_scaled_up_from_zero(bed: Bed) -> None:
    """With no pods anywhere the ReplicaSet of the template gets them."""
    bed.deploy(web())
    bed.patch({"spec": {"replicas": 0}})
    bed.run(2)
    bed.set_image("shop/web:2")
    bed.run(2)
    bed.patch({"spec": {"replicas": 3}})
    bed.run(2)
    assert sizes(bed) == [0, 3]
