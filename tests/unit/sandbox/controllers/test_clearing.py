"""What goes with its owner or its namespace, and what stays."""

from __future__ import annotations

import pytest

from sandbox.json import JSON
from sandbox.storage.store import Key
from tests.unit.sandbox.bed import NAMESPACE, TEAM, Bed, web


def config_map(name: str, *owners: JSON) -> JSON:
    """Return a ConfigMap with owners."""
    metadata = {"name": name, "ownerReferences": [*owners]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def reference(body: JSON, **facts: object) -> JSON:
    """Return an owner reference to a ConfigMap."""
    metadata = body["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": metadata["name"],
        "uid": metadata["uid"],
        **facts,
    }


def test_one_living_owner_is_enough(bed: Bed) -> None:
    """The reference to the one that is gone is dropped."""
    first = bed.api.create("configmaps", NAMESPACE, config_map("first"), TEAM)
    second = bed.api.create("configmaps", NAMESPACE, config_map("second"), TEAM)
    shared = config_map("shared", reference(first), reference(second))
    bed.api.create("configmaps", NAMESPACE, shared, TEAM)
    bed.run(1)
    bed.delete("configmaps", "first")
    bed.run(2)
    owners = bed.get("configmaps", "shared")["metadata"]["ownerReferences"]
    assert [owner["name"] for owner in owners] == ["second"]


@pytest.mark.parametrize("kind", ["ConfigMap", "Widget"])
def test_an_object_of_an_absent_owner_goes_unless_its_kind_is_unknown(bed: Bed, kind: str) -> None:
    """What cannot be looked up may exist."""
    owner = {"apiVersion": "v1", "kind": kind, "name": "nobody", "uid": "none"}
    bed.api.create("configmaps", NAMESPACE, config_map("lost", owner), TEAM)
    bed.run(2)
    assert (bed.api.store.get(bed.key("configmaps", "lost")) is None) == (kind == "ConfigMap")


def test_an_owner_of_the_same_name_and_another_uid_is_absent(bed: Bed) -> None:
    """A Deployment that was created again does not own what the old one left."""
    first = bed.api.create("configmaps", NAMESPACE, config_map("owner"), TEAM)
    other = {**reference(first), "uid": "another"}
    bed.api.create("configmaps", NAMESPACE, config_map("owned", other), TEAM)
    bed.run(2)
    assert bed.api.store.get(bed.key("configmaps", "owned")) is None


PLACE = Key("namespaces", "", NAMESPACE)


def test_other_objects_wait_for_pods(bed: Bed) -> None:
    """What a pod needs while it ends is still there."""
    bed.deploy(web(2, asked="slow-termination=20"))
    bed.api.delete(PLACE, TEAM)
    bed.run(8)
    assert len(bed.replica_sets) == 1
    bed.run(60)
    assert bed.api.store.get(PLACE) is None
