"""Namespaces that are deleted: emptied, pods first, then gone."""

from __future__ import annotations

from sandbox.storage.store import Key
from tests.unit.sandbox.controllers.bed import NAMESPACE, TEAM, Bed, web

PLACE = Key("namespaces", "", NAMESPACE)


def test_other_objects_wait_for_pods(bed: Bed) -> None:
    """What a pod needs while it ends is still there."""
    bed.deploy(web(2, asked="slow-termination=20"))
    bed.api.delete(PLACE, TEAM)
    bed.run(8)
    assert len(bed.replica_sets) == 1
    bed.run(60)
    assert bed.api.store.get(PLACE) is None
