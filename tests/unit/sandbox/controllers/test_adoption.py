"""Deployments and ReplicaSets that find each other by selector."""

from __future__ import annotations

import pytest

from sandbox.api.api import Patch, PatchType, Propagation
from sandbox.controllers.ownership import REPLICA_SETS, Claim, controller_reference
from sandbox.controllers.queue import SyncError
from sandbox.json import JSON
from tests.unit.sandbox.controllers.bed import (
    NAMESPACE,
    TEAM,
    Bed,
    replica_set,
    web,
)


def test_an_orphaned_replica_set_is_taken_over(bed: Bed) -> None:
    """A Deployment that is deleted alone and created again has the same pods."""
    bed.deploy(web())
    before = [pod["metadata"]["name"] for pod in bed.pods]
    bed.delete("deployments.apps", "web", Propagation.ORPHAN)
    bed.run(2)
    assert not bed.replica_sets[0]["metadata"].get("ownerReferences")
    created = bed.deploy(web())
    owners = bed.replica_sets[0]["metadata"]["ownerReferences"]
    assert [owner["uid"] for owner in owners] == [created["metadata"]["uid"]]
    assert [pod["metadata"]["name"] for pod in bed.pods] == before


def test_a_replica_set_that_no_longer_matches_is_released(bed: Bed) -> None:
    """It keeps its pods, and the Deployment makes another one."""
    bed.deploy(web())
    name = bed.replica_sets[0]["metadata"]["name"]
    key = bed.key("replicasets.apps", name)
    bed.api.patch(key, Patch(PatchType.MERGE, {"metadata": {"labels": {"app": "other"}}}), TEAM)
    bed.run(5)
    assert not bed.api.get(key)["metadata"].get("ownerReferences")
    # Its name is taken by what looks like another template's: the next hash is another one.
    assert bed.deployment["status"]["collisionCount"] == 1
    assert len(bed.api.store.items("replicasets.apps", NAMESPACE)) == 2


def test_of_two_with_the_template_the_oldest_is_the_new_one(bed: Bed) -> None:
    """However the cache lists them; the other one is old, and goes to zero."""
    body = web()
    for name in ("b", "a"):
        orphan = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": name, "labels": {"app": "web", "of": name}},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": body["spec"]["template"],
            },
        }
        bed.api.create("replicasets.apps", NAMESPACE, orphan, TEAM)
        bed.run(2)
    touched = Patch(PatchType.MERGE, {"metadata": {"annotations": {"touched": "yes"}}})
    bed.api.patch(bed.key("replicasets.apps", "b"), touched, TEAM)
    bed.run(1)
    bed.deploy(body)
    bed.run(5)
    sizes = {
        each["metadata"]["name"]: each["spec"]["replicas"]
        for each in bed.api.store.items("replicasets.apps", NAMESPACE)
    }
    assert sizes == {"a": 0, "b": 4}


def orphan(bed: Bed) -> JSON:
    """Create a pod that the ReplicaSet `alone` selects, and that nobody owns."""
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "orphan", "labels": {"app": "alone"}},
        "spec": {"containers": [{"name": "web", "image": "a"}]},
    }
    return bed.api.create("pods", NAMESPACE, body, TEAM)


def claimed(bed: Bed, owner: JSON, pod: JSON) -> list[JSON]:
    """Return what an owner has, as one sync of its controller would find."""
    reference = controller_reference(owner, "apps/v1", "ReplicaSet")
    key = bed.key("replicasets.apps", "alone")
    return Claim(bed.api, REPLICA_SETS, key, owner, reference).of("pods", [pod])


def test_an_owner_that_is_gone_meanwhile_adopts_nothing(bed: Bed) -> None:
    """The cache may still have it: the server is asked first."""
    owner = bed.api.create("replicasets.apps", NAMESPACE, replica_set(0), TEAM)
    bed.api.store.remove(bed.key("replicasets.apps", "alone"))
    bed.api.create("replicasets.apps", NAMESPACE, replica_set(0), TEAM)
    pod = orphan(bed)
    with pytest.raises(SyncError):
        claimed(bed, owner, pod)
    assert bed.get("pods", "orphan") == pod
