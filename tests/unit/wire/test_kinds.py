"""The registry of the kinds that are read."""

from __future__ import annotations

from gate.wire.kinds import deployment, registry
from gate.wire.kinds.kind import WorkloadFormat


def test_a_recording_names_another_workload_with_its_kind() -> None:
    """The header of a kind without a key of its own has kind and name under `workload`."""
    other = WorkloadFormat(deployment.WORKLOAD.watched)
    assert other.header("db") == {"workload": {"kind": "Deployment", "name": "db"}}


def test_a_workload_is_known_by_its_group_too() -> None:
    """A custom kind of the same name is no workload."""
    assert registry.find_workload("apps/v1", "Deployment") is deployment.WORKLOAD
    assert registry.find_workload("example.com/v1", "Deployment") is None
    assert registry.find_workload("apps/v1", "ReplicaSet") is None
