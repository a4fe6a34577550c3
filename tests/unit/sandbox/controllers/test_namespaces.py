"""Namespaces that are deleted: emptied, pods first, then gone."""

from __future__ import annotations

from sandbox.api.api import Patch, PatchType
from sandbox.storage.store import Key
from tests.unit.sandbox.controllers.bed import NAMESPACE, TEAM, Bed, web

PLACE = Key("namespaces", "", NAMESPACE)


def told(bed: Bed) -> dict[str, tuple[str, str]]:
    """Return status and message of the namespace's conditions."""
    conditions = bed.api.get(PLACE)["status"]["conditions"]
    return {each["type"]: (each["status"], each["message"]) for each in conditions}


def test_other_objects_wait_for_pods(bed: Bed) -> None:
    """What a pod needs while it ends is still there; of pods the conditions say nothing."""
    bed.kubelet.end_seconds = 20.0
    bed.deploy(web(2))
    bed.api.delete(PLACE, TEAM)
    bed.run(8)
    assert len(bed.replica_sets) == 1
    assert {status for status, _ in told(bed).values()} == {"False"}
    bed.run(60)
    assert bed.api.store.get(PLACE) is None


def test_what_a_finalizer_holds_is_told(bed: Bed) -> None:
    """How many of what, and which finalizer; the namespace goes once that lets go."""
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "held", "finalizers": ["example.org/held"]},
    }
    bed.api.create("configmaps", NAMESPACE, body, TEAM)
    bed.api.delete(PLACE, TEAM)
    bed.run(30)
    assert told(bed)["NamespaceContentRemaining"] == (
        "True",
        "Some resources are remaining: configmaps. has 1 resource instances",
    )
    assert told(bed)["NamespaceFinalizersRemaining"][1].endswith(
        "example.org/held in 1 resource instances"
    )
    patch = Patch(PatchType.MERGE, {"metadata": {"finalizers": None}})
    bed.api.patch(bed.key("configmaps", "held"), patch, TEAM)
    bed.run(30)
    assert bed.api.store.get(PLACE) is None


def test_nothing_is_replaced_in_a_namespace_that_goes(bed: Bed) -> None:
    """Refused creations there are no failures and no events."""
    bed.deploy(web(2))
    bed.api.delete(PLACE, TEAM)
    bed.run(8)
    assert [reason for reason, _ in bed.events if reason.startswith("Failed")] == []
