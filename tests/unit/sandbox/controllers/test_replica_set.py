"""The ReplicaSet controller: pods created, counted, replaced, adopted and released."""

from __future__ import annotations

import pytest

from sandbox.api.api import Patch, PatchType
from sandbox.failure import ApiError, forbidden
from sandbox.json import JSON
from tests.unit.sandbox.controllers.bed import NAMESPACE, NODE, TEAM, Bed, replica_set, web


def created(bed: Bed, body: JSON, seconds: float = 5.0) -> JSON:
    """Create a ReplicaSet, let time pass and return it."""
    bed.api.create("replicasets.apps", NAMESPACE, body, TEAM)
    bed.run(seconds)
    return bed.get("replicasets.apps", body["metadata"]["name"])


def refusal(why: str = "no more") -> ApiError:
    """Return what a policy might say."""
    return forbidden("pods", "", "p", why)


def test_pods_are_made_from_the_template(bed: Bed) -> None:
    """A generated name, the labels and annotations, and the ReplicaSet as controller."""
    owner = created(bed, replica_set())
    pod = bed.pods[0]["metadata"]
    assert pod["name"].startswith("alone-")
    assert pod["generateName"] == "alone-"
    assert pod["labels"] == {"app": "alone", "tier": "web"}
    assert pod["annotations"] == {"a": "b"}
    assert pod["ownerReferences"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "alone",
            "uid": owner["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_the_status_counts_the_pods(bed: Bed) -> None:
    """All of it, and nothing that is zero but what the API always shows."""
    assert created(bed, replica_set())["status"] == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }


def test_no_pod_is_created_twice(bed: Bed) -> None:
    """What was created and is not seen yet is waited for."""
    created(bed, replica_set(10))
    told = [message for reason, message in bed.events if reason == "SuccessfulCreate"]
    assert len(bed.pods) == 10
    assert len(told) >= 9


def test_creation_doubles_until_a_batch_fails(bed: Bed) -> None:
    """Batches of 1, 2, 4: with room for three, the four of the third are refused, no more."""
    bed.limit(pods="3")
    found = created(bed, replica_set(10), seconds=0.006)
    assert len(bed.pods) == 3
    assert [reason for reason, _ in bed.events].count("FailedCreate") == 4
    assert found["status"]["replicas"] == 0


def test_a_refused_pod_is_a_condition_until_it_is_created(bed: Bed) -> None:
    """ReplicaFailure with the words of the refusal, retried with growing waits."""
    bed.refuse("pods", refusal())
    found = created(bed, replica_set())
    failure = found["status"]["conditions"][0]
    assert (failure["type"], failure["status"], failure["reason"]) == (
        "ReplicaFailure",
        "True",
        "FailedCreate",
    )
    assert failure["message"] == 'pods "p" is forbidden: no more'
    assert ("FailedCreate", 'Error creating: pods "p" is forbidden: no more') in bed.events
    bed.allow()
    bed.run(30)
    assert "conditions" not in bed.get("replicasets.apps", "alone")["status"]
    assert len(bed.pods) == 2


def test_a_failure_keeps_the_words_of_its_beginning(bed: Bed) -> None:
    """Later refusals are events; the condition stays one, with its time."""
    bed.refuse("pods", refusal())
    first = created(bed, replica_set())["status"]["conditions"]
    bed.allow()
    bed.refuse("pods", refusal("something else"))
    bed.run(60)
    assert bed.get("replicasets.apps", "alone")["status"]["conditions"] == first


def test_a_deleted_pod_is_replaced_when_its_deletion_begins(bed: Bed) -> None:
    """Not when it is gone: a pod may take long to end."""
    bed.kubelet.end_seconds = 25.0
    created(bed, replica_set())
    gone = bed.pods[0]["metadata"]["name"]
    bed.delete("pods", gone)
    bed.run(1)
    assert len(bed.pods) == 3
    status = bed.get("replicasets.apps", "alone")["status"]
    assert (status["replicas"], status["readyReplicas"], status["terminatingReplicas"]) == (2, 2, 1)


def test_a_failed_pod_is_replaced_and_stays(bed: Bed) -> None:
    """As one that was evicted: it is kept for its status, and counts nowhere."""
    created(bed, replica_set())
    evicted = bed.pods[0]["metadata"]["name"]
    bed.kubelet.report(bed.key("pods", evicted), ready=False, phase="Failed")
    bed.run(1)
    assert len(bed.pods) == 3
    status = bed.get("replicasets.apps", "alone")["status"]
    assert (status["replicas"], status["terminatingReplicas"]) == (2, 0)


def test_availability_waits_for_ready_seconds(bed: Bed) -> None:
    """Counted in whole seconds of the condition, found without any change."""
    created(bed, replica_set(minReadySeconds=30))
    status = bed.get("replicasets.apps", "alone")["status"]
    assert (status["readyReplicas"], status.get("availableReplicas", 0)) == (2, 0)
    bed.run(26)
    assert bed.get("replicasets.apps", "alone")["status"]["availableReplicas"] == 2


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


def test_a_status_written_over_a_newer_version_keeps_the_generation_it_was_counted_for(
    bed: Bed,
) -> None:
    """A scaling that the controller has not seen is not said to be observed."""
    bed.deploy(web())
    seen: list[tuple[int, int]] = []
    bed.api.store.listen(
        "replicasets.apps",
        lambda change: seen.append(
            (
                change.after["metadata"]["generation"],
                change.after["status"].get("observedGeneration", 0),
            )
            if change.after
            else (0, 0)
        ),
    )
    bed.set_image("shop/web:2")
    bed.run(5)
    assert (2, 1) in seen
    assert all(observed <= generation for generation, observed in seen)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_pods_that_ended_while_being_deleted_are_not_terminating(bed: Bed, phase: str) -> None:
    """Only what still runs is."""
    bed.kubelet.end_seconds = 25.0
    created(bed, replica_set(1))
    key = bed.key("pods", bed.pods[0]["metadata"]["name"])
    bed.delete("pods", key.name)
    pod = bed.api.get(key)
    bed.api.update(
        key, {**pod, "status": {**pod["status"], "phase": phase}}, NODE, subresource="status"
    )
    bed.run(1)
    assert bed.get("replicasets.apps", "alone")["status"]["terminatingReplicas"] == 0
