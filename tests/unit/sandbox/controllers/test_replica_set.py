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


def test_a_failed_pod_is_replaced_and_stays(bed: Bed) -> None:
    """As one that was evicted: it is kept for its status, and counts nowhere."""
    created(bed, replica_set())
    evicted = bed.pods[0]["metadata"]["name"]
    bed.kubelet.report(bed.key("pods", evicted), ready=False, phase="Failed")
    bed.run(1)
    assert len(bed.pods) == 3
    status = bed.get("replicasets.apps", "alone")["status"]
    assert (status["replicas"], status["terminatingReplicas"]) == (2, 0)


def test_pods_that_are_not_ready_go_first(bed: Bed) -> None:
    """Scaling down keeps what serves."""
    created(bed, replica_set(3))
    first = bed.pods[0]["metadata"]["name"]
    bed.kubelet.report(bed.key("pods", first), ready=False)
    bed.run(1)
    patch = Patch(PatchType.MERGE, {"spec": {"replicas": 2}})
    bed.api.patch(bed.key("replicasets.apps", "alone"), patch, TEAM)
    bed.run(2)
    assert first not in [pod["metadata"]["name"] for pod in bed.pods]
    assert ("SuccessfulDelete", f"Deleted pod: {first}") in bed.events


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


def test_matching_orphans_are_adopted(bed: Bed) -> None:
    """Instead of creating as many."""
    orphan = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "orphan", "labels": {"app": "alone"}},
        "spec": {"containers": [{"name": "web", "image": "shop/web:1"}]},
    }
    bed.api.create("pods", NAMESPACE, orphan, TEAM)
    bed.run(1)
    found = created(bed, replica_set())
    assert len(bed.pods) == 2
    assert found["status"]["replicas"] == 2
    # The template has a label that the orphan lacks.
    assert found["status"]["fullyLabeledReplicas"] == 1
