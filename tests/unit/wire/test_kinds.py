"""The registry of the kinds that are read."""

from __future__ import annotations

from typing import Any

import msgspec

from gate.core.kinds.controller_revision import ControllerRevision
from gate.wire import decode
from gate.wire.kinds import controller_revision, deployment, registry
from gate.wire.kinds.kind import WorkloadFormat
from tests.table import each


def test_a_recording_names_another_workload_with_its_kind() -> None:
    """The header of a kind without a key of its own has kind and name under `workload`."""
    other = WorkloadFormat(deployment.WORKLOAD.watched)
    assert other.header("db") == {"workload": {"kind": "Deployment", "name": "db"}}


def test_a_workload_is_known_by_its_group_too() -> None:
    """A custom kind of the same name is no workload."""
    assert registry.find_workload("apps/v1", "Deployment") is deployment.WORKLOAD
    assert registry.find_workload("example.com/v1", "Deployment") is None
    assert registry.find_workload("apps/v1", "ReplicaSet") is None


TEMPLATE = {
    "metadata": {"labels": {"app": "db"}},
    "spec": {"containers": [{"name": "db", "image": "shop/db:1"}]},
}


def a_revision(data: Any, **labels: str) -> dict[str, Any]:
    """Return a ControllerRevision as a server sends it."""
    owner = {"kind": "StatefulSet", "name": "db", "uid": "s-1", "controller": True}
    meta = {"name": "db-5876f", "namespace": "shop", "uid": "r-1", "ownerReferences": [owner]}
    about = {"apiVersion": "apps/v1", "kind": "ControllerRevision"}
    return {**about, "metadata": {**meta, "labels": labels}, "data": data, "revision": 3}


def read_revision(found: dict[str, Any]) -> ControllerRevision:
    """Read it as a line of a watch does."""
    kind = controller_revision.CONTROLLER_REVISION
    value = kind.build(msgspec.json.decode(msgspec.json.encode(found), type=kind.shape))
    assert isinstance(value, ControllerRevision)
    return value


def test_what_a_controller_revision_keeps_is_the_live_template() -> None:
    """The directive of its patch and an empty time of creation make no other version."""
    meta = {"labels": {"app": "db"}, "creationTimestamp": None}
    kept = {**TEMPLATE, "metadata": meta, "$patch": "replace"}
    found = read_revision(a_revision({"spec": {"template": kept}}))
    assert found.template == decode.template(TEMPLATE)
    assert (found.revision, found.owner_uid) == (3, "s-1")


@each(("labels", "value"), [({}, "db-5876f"), ({"controller-revision-hash": "5876f"}, "5876f")])
def test_a_controller_revision_knows_the_label_of_its_pods(
    labels: dict[str, str], value: str
) -> None:
    """A DaemonSet's revisions carry the label themselves, a StatefulSet's do not."""
    assert read_revision(a_revision({}, **labels)).label_value == value


@each("data", [None, [1], {"spec": {"template": 1}}])
def test_a_controller_revision_of_another_owner_spoils_no_list(data: Any) -> None:
    """Others keep in it what they like: it is read, and no version of a workload equals it."""
    assert read_revision(a_revision(data)).template.body != decode.template(TEMPLATE).body
