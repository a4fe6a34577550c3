"""Who last changed a recorded object: nobody, the attempt, or somebody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gate.core.model.body import contains
from gate.core.model.fact import Absent, Known
from gate.core.model.objects import Ref
from gate.core.plan.record import Kept
from gate.core.protocol.effects import SaveRecord
from gate.core.recovery.object_state import ObjectState, classify_object
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import Player
from tests.unit.core.recovery.test_resumption import plan_of
from tests.unit.core.server import Server


def kept_of(server: Server, body: Mapping[str, Any]) -> Kept:
    """Return an object as a record has it, before its write."""
    [saved] = Player(server, plan_of(server, body)).asked(SaveRecord)
    return saved.record.objects[0]


Change = Callable[[Server, Ref], None]


def recreated(server: Server, ref: Ref) -> None:
    """Delete an object and make it again as it was."""
    server.remove(ref)
    server.put(manifest("v2"))


@pytest.mark.parametrize(
    ("change", "is_"),
    [
        (lambda _server, _ref: None, ObjectState.BEFORE),
        (lambda server, _ref: server.put(manifest("v2")), ObjectState.WRITTEN),
        (lambda server, ref: server.remove(ref), ObjectState.OTHERS),
        (lambda server, ref: server.edit(ref, "x", {IMAGE: "other"}), ObjectState.OTHERS),
        (lambda server, ref: server.edit(ref, "x", {"spec.replicas": 9}), ObjectState.BEFORE),
        (recreated, ObjectState.OTHERS),
    ],
    ids=["not written", "written", "deleted", "edited", "scaled", "created again"],
)
def test_whose_a_deployment_is(change: Change, is_: ObjectState) -> None:
    """A Deployment is told by its template, its fields and its uid."""
    server = Server()
    ref = server.put(manifest("v1"))
    kept = kept_of(server, manifest("v2"))
    change(server, ref)
    live = server.read(ref)
    assert classify_object(kept, Absent() if live is None else Known(live)) is is_


def test_a_write_that_only_removes_is_told_from_none() -> None:
    """All of a smaller manifest stands before it is written, too: that is not taken for written."""
    server = Server()
    ref = server.put({**config("a"), "data": {"mode": "a", "more": "b"}})
    kept = kept_of(server, config("a"))
    live = server.read(ref)
    assert live is not None
    assert classify_object(kept, Known(live)) is ObjectState.BEFORE
    server.put(config("a"))
    live = server.read(ref)
    assert live is not None
    assert classify_object(kept, Known(live)) is ObjectState.WRITTEN


def test_containing() -> None:
    """What was sent is looked for by name in lists, as it stands elsewhere; null is nothing."""
    live = {"spec": {"paused": None, "a": [{"name": "x", "v": 1}, {"name": "y"}], "b": [1, 2]}}
    assert contains({"spec": {"a": [{"name": "y"}]}}, live)
    assert contains({"spec": {"gone": None}}, live)
    assert not contains({"spec": {"a": [{"name": "z"}]}}, live)
    assert not contains({"spec": {"b": [1]}}, live)
