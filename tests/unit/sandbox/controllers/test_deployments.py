"""The Deployment controller: rollouts, collisions, histories, and sizes without a rollout."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.json import JSON
from tests.unit.sandbox.bed import TEAM, Bed, condition, generations, revision_of, web

TRACES = Path(__file__).parents[3] / "traces"


def test_a_minimum_of_ready_seconds_alone_makes_no_rollout(bed: Bed) -> None:
    """The ReplicaSet takes it over, availability waits for it, and the revision stays."""
    bed.deploy(web())
    bed.run(5)
    bed.patch({"spec": {"minReadySeconds": 30}})
    bed.run(1)
    assert bed.deployment["status"].get("availableReplicas", 0) == 0
    assert [rs["spec"]["minReadySeconds"] for rs in bed.replica_sets] == [30]
    bed.run(30)
    assert bed.deployment["status"]["availableReplicas"] == 4
    assert revision_of(bed.deployment) == "1"


def test_the_same_hash_of_another_template_is_a_collision(bed: Bed) -> None:
    """It is counted in the status, and the count gives the next name."""
    bed.controllers.deployments.new.hashed = lambda _, count: (
        "same" if count is None else f"x{count}"
    )
    bed.deploy(web())
    bed.set_image("shop/web:2")
    bed.run(5)
    assert bed.deployment["status"]["collisionCount"] == 1
    assert [rs["metadata"]["name"] for rs in bed.replica_sets] == ["web-same", "web-x1"]
    assert bed.deployment["status"]["updatedReplicas"] == 4


def test_a_replica_set_that_cannot_be_created_is_a_condition(bed: Bed) -> None:
    """ReplicaSetCreateError, never observed, until the reason is gone."""
    bed.deploy(web())
    bed.limit(**{"count_replicasets.apps": "1"})
    bed.set_image("shop/web:2")
    bed.run(1)
    failed = condition(bed.deployment, "Progressing")
    assert (failed["status"], failed["reason"]) == ("False", "ReplicaSetCreateError")
    assert (
        "is forbidden: exceeded quota: full, requested: count/replicasets.apps=1"
        in failed["message"]
    )
    assert generations(bed.deployment) == (2, 1)
    assert "ReplicaSetCreateError" in [reason for reason, _ in bed.events]
    bed.api.delete(bed.key("resourcequotas", "full"), TEAM)
    bed.run(30)
    assert condition(bed.deployment, "Progressing")["reason"] == "NewReplicaSetAvailable"


@pytest.mark.parametrize(
    ("limit", "kept"), [(0, ["4"]), (1, ["3", "4"]), (None, ["1", "2", "3", "4"])]
)
def test_old_replica_sets_beyond_the_limit_are_deleted(
    bed: Bed, limit: int | None, kept: list[str]
) -> None:
    """The lowest revisions go, once the rollout is complete."""
    spec: JSON = {} if limit is None else {"revisionHistoryLimit": limit}
    bed.deploy(web(2, **spec))
    for version in (2, 3, 4):
        bed.set_image(f"shop/web:{version}")
        bed.run(5)
    assert [revision_of(rs) for rs in bed.replica_sets] == kept


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
