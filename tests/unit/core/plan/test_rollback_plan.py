"""What of an object counts as a change, and what an autoscaler leaves to be sent."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.plan.replica_ownership import autoscaled_body
from gate.core.plan.rollback_plan import WrittenObject, content, spec_changed
from tests.unit.core.leaves import manifest
from tests.unit.core.server import Server


def live(body: dict[str, Any], **metadata: Any) -> LiveObject:
    """Return an object as the server has it, with more metadata."""
    server = Server()
    found = server.read(server.put(body))
    assert found is not None
    value = found.body.thaw()
    value["metadata"] |= metadata
    return LiveObject(found.ref, found.uid, "1", Body.of(value), found.managed, found.workload)


def test_bookkeeping_is_no_content() -> None:
    """Versions, generations, times, the controller's own annotation, status."""
    plain = live(manifest("v1"))
    kept = live(
        manifest("v1"),
        generation=9,
        creationTimestamp="2026-11-21T12:00:00Z",
        annotations={"deployment.kubernetes.io/revision": "3"},
    )
    assert content(kept.body) == content(plain.body)
    assert not WrittenObject(plain, kept).changed


@pytest.mark.contract("B50")
def test_annotations_are_content_but_no_new_version() -> None:
    """They go back with a rollback; by themselves they are `NoChange`."""
    plain, annotated = live(manifest("v1")), live(manifest("v1"), annotations={"a": "b"})
    assert WrittenObject(plain, annotated).changed
    assert not spec_changed(plain, annotated)
    assert spec_changed(plain, live(manifest("v2")))
    assert spec_changed(None, plain)


@pytest.mark.contract("B71")
def test_an_autoscaler_decides_on_replicas() -> None:
    """Left out where another manager owns them, the live value where we alone do."""
    server = Server()
    ref = server.put(manifest("v1"))
    ours = server.read(ref)
    assert ours is not None
    assert autoscaled_body(manifest("v2", replicas=9), ours)["spec"]["replicas"] == 4
    server.edit(ref, "kube-controller-manager", {"spec.replicas": 6})
    theirs = server.read(ref)
    assert theirs is not None
    assert "replicas" not in autoscaled_body(manifest("v2"), theirs)["spec"]
