"""The ReplicaSet controller: pods created, counted, replaced, adopted and released."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.api.api import Patch, PatchType, Propagation
from sandbox.controllers import queue as informer
from sandbox.controllers.adoption import Claim
from sandbox.controllers.ownership import REPLICA_SETS
from sandbox.controllers.pod_controller import Expectations
from sandbox.controllers.queue import SyncError
from sandbox.controllers.replica_sets import DELETION_COST, in_deletion_order
from sandbox.json import JSON
from sandbox.storage.store import Change, ChangeType, Key
from sandbox.times import Timers, since_epoch
from tests.unit.sandbox.bed import NAMESPACE, TEAM, Bed, replica_set, web

NOW = since_epoch("2026-01-01T01:00:00Z")
LONG_AGO = "2026-01-01T00:00:00Z"
JUST_NOW = "2026-01-01T00:59:50Z"


def pod(name: str, **facts: Any) -> JSON:
    """Return a pod that runs and is ready since long ago on a node of its own, but for `facts`."""
    ready = facts.get("ready", LONG_AGO)
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False",
        "lastTransitionTime": ready or LONG_AGO,
    }
    return {
        "metadata": {
            "name": name,
            "uid": facts.get("uid", name),
            "creationTimestamp": facts.get("created", LONG_AGO),
            "annotations": {DELETION_COST: facts["cost"]} if "cost" in facts else {},
        },
        "spec": {"nodeName": facts.get("node", f"node-{name}")},
        "status": {
            "phase": facts.get("phase", "Running"),
            "conditions": [condition],
            "containerStatuses": [{"name": "web", "restartCount": facts.get("restarts", 0)}],
        },
    }


@pytest.mark.parametrize(
    "first",
    [
        {"node": ""},
        {"phase": "Pending"},
        {"ready": None},
        {"cost": "-5"},
        {"node": "shared"},
        {"ready": JUST_NOW},
        {"restarts": 3},
        {"created": JUST_NOW},
    ],
    ids="-".join,
)
def test_the_cheaper_loss_goes_first(first: JSON) -> None:
    """Unassigned, pending, not ready, cheap, doubled up, young and restarting pods go first."""
    cheap, dear = pod("z", **first), pod("a")
    crowd = [pod("x", node="shared"), pod("y", node="shared")]
    ordered = in_deletion_order([dear, cheap], [cheap, dear, *crowd], NOW)
    assert [each["metadata"]["name"] for each in ordered] == ["z", "a"]


def test_earlier_rules_count_more_than_later_ones() -> None:
    """A pod that is not ready goes before a ready one of lower cost."""
    ordered = in_deletion_order([pod("ready", cost="-9"), pod("not", ready=None)], [], NOW)
    assert ordered[0]["metadata"]["name"] == "not"


def test_ages_of_the_same_power_of_two_are_ordered_by_uid() -> None:
    """A second more or less is no reason: not always the youngest go."""
    older = pod("b", uid="1", ready="2026-01-01T00:00:00Z")
    younger = pod("a", uid="2", ready="2026-01-01T00:00:10Z")
    assert in_deletion_order([younger, older], [], NOW)[0] is older


def test_a_cost_that_is_no_number_counts_as_none() -> None:
    """The API refuses such an annotation; one that is there all the same breaks nothing."""
    ordered = in_deletion_order([pod("a", cost="cheap"), pod("b", cost="-1")], [], NOW)
    assert ordered[0]["metadata"]["name"] == "b"


OWNER = Key("replicasets.apps", "shop", "r")
POD = Key("pods", "shop", "p")


def test_what_is_never_seen_is_given_up_after_five_minutes(timers: Timers) -> None:
    """A ReplicaSet does not stand still for ever."""
    expectations = Expectations(timers)
    expectations.expect(OWNER, 1, ())
    timers.run_due(300)
    assert not expectations.is_met(OWNER)
    timers.run_due(301)
    assert expectations.is_met(OWNER)


def test_a_sync_before_the_new_pods_are_seen_makes_no_more(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change from before the creation wakes the controller before what it created is cached."""
    monkeypatch.setattr(informer, "LATENCY_SECONDS", 0.05)
    added: list[Change] = []
    bed.api.store.listen("pods", added.append)
    bed.api.create("replicasets.apps", NAMESPACE, replica_set(3), TEAM)
    bed.run(0.04)
    touched = Patch(PatchType.MERGE, {"metadata": {"annotations": {"touched": "yes"}}})
    bed.api.patch(bed.key("replicasets.apps", "alone"), touched, TEAM)
    bed.run(5)
    assert sum(change.type is ChangeType.ADDED for change in added) == 3


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


def claimed(bed: Bed, owner: JSON) -> list[JSON]:
    """Return what an owner has, as one sync of its controller would find."""
    timers = Timers()
    pods = informer.Informer(bed.api.store, timers, "pods")
    pods.start()
    timers.run_due(1.0)
    key = bed.key("replicasets.apps", "alone")
    return Claim(bed.api, REPLICA_SETS, key, owner).of(pods)


def test_an_owner_that_is_gone_meanwhile_adopts_nothing(bed: Bed) -> None:
    """The cache may still have it: the server is asked first."""
    owner = bed.api.create("replicasets.apps", NAMESPACE, replica_set(0), TEAM)
    bed.api.store.remove(bed.key("replicasets.apps", "alone"))
    bed.api.create("replicasets.apps", NAMESPACE, replica_set(0), TEAM)
    pod = orphan(bed)
    with pytest.raises(SyncError):
        claimed(bed, owner)
    assert bed.get("pods", "orphan") == pod
