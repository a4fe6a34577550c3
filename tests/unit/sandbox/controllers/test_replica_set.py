"""The ReplicaSet controller: pods created, counted, replaced, adopted and released."""

from __future__ import annotations

from sandbox.api.api import Patch, PatchType
from sandbox.json import JSON
from tests.unit.sandbox.controllers.bed import NAMESPACE, TEAM, Bed, replica_set


def created(bed: Bed, body: JSON, seconds: float = 5.0) -> JSON:
    """Create a ReplicaSet, let time pass and return it."""
    bed.api.create("replicasets.apps", NAMESPACE, body, TEAM)
    bed.run(seconds)
    return bed.get("replicasets.apps", body["metadata"]["name"])


def test_creation_doubles_until_a_batch_fails(bed: Bed) -> None:
    """Batches of 1, 2, 4: with room for three, the four of the third are refused, no more."""
    bed.limit(pods="3")
    found = created(bed, replica_set(10), seconds=0.006)
    assert len(bed.pods) == 3
    assert [reason for reason, _ in bed.events].count("FailedCreate") == 4
    assert found["status"]["replicas"] == 0


def test_a_pod_that_no_longer_matches_is_released(bed: Bed) -> None:
    """It loses its owner and is replaced; with its label back it is adopted, and one goes."""
    created(bed, replica_set())
    key = bed.key("pods", bed.pods[0]["metadata"]["name"])
    bed.api.patch(key, Patch(PatchType.MERGE, {"metadata": {"labels": {"app": "other"}}}), TEAM)
    bed.run(2)
    assert not bed.api.get(key)["metadata"].get("ownerReferences")
    assert len(bed.pods) == 3
    bed.api.patch(key, Patch(PatchType.MERGE, {"metadata": {"labels": {"app": "alone"}}}), TEAM)
    bed.run(2)
    assert len(bed.pods) == 2
    assert all(pod["metadata"]["ownerReferences"] for pod in bed.pods)
