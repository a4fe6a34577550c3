"""Namespaces that are deleted: emptied, pods first, then gone."""

from __future__ import annotations

from sandbox.storage.store import Key
from tests.unit.sandbox.controllers.bed import NAMESPACE, TEAM, Bed, web

PLACE = Key("namespaces", "", NAMESPACE)


def told(bed: Bed) -> dict[str, tuple[str, str]]:
    """Return status and message of the namespace's conditions."""
    conditions = bed.api.get(PLACE)["status"]["conditions"]
    return {each["type"]: (each["status"], each["message"]) for each in conditions}


def test_other_objects_wait_for_pods(bed: Bed) -> None:
    """What a pod needs while it ends is still there."""
    bed.kubelet.end_seconds = 20.0
    bed.deploy(web(2))
    bed.api.delete(PLACE, TEAM)
    bed.run(8)
    assert len(bed.replica_sets) == 1
    bed.run(60)
    assert bed.api.store.get(PLACE) is None


def test_nothing_is_replaced_in_a_namespace_that_goes(bed: Bed) -> None:
    """Refused creations there are no failures and no events."""
    bed.deploy(web(2))
    bed.api.delete(PLACE, TEAM)
    bed.run(8)
    assert [reason for reason, _ in bed.events if reason.startswith("Failed")] == []
