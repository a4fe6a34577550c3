"""Whose number of replicas is sent, what counts as a change, what a pause sends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.app.preflight.guards import require_pause
from gate.core.kinds.deployment.kind import DeploymentKind
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.plan.replica_ownership import (
    Decision,
    Replicas,
    ReplicasPolicy,
    autoscaled_body,
    with_replicas_as_in,
)
from gate.core.plan.rollback_plan import WrittenObject, content, spec_changed
from gate.core.plan.workload_body import pause_body, resume_body, without_pause
from gate.errors import UsageError
from tests.unit.core.leaves import manifest
from tests.unit.core.server import Server

LIVE, MANIFEST, REFUSED = Decision.LIVE, Decision.MANIFEST, Decision.REFUSED


@pytest.mark.contract("B71", "B72", "B74")
@pytest.mark.parametrize(
    ("live", "wanted", "applied", "decision"),
    [
        (6, None, 6, LIVE),  # the manifest names none
        (6, None, None, LIVE),
        (0, None, 3, LIVE),
        (3, 5, 3, MANIFEST),  # nobody scaled
        (5, 5, 3, MANIFEST),  # somebody scaled to what the manifest asks for
        (0, 0, 3, MANIFEST),
        (0, 3, 0, MANIFEST),
        (0, 3, 3, REFUSED),  # somebody scaled
        (7, 3, 3, REFUSED),
        (7, 4, 3, REFUSED),
        (2, 3, None, MANIFEST),  # nobody remembers
        (7, 3, None, MANIFEST),
        (0, 3, None, REFUSED),
        (0, 0, None, MANIFEST),
    ],
)
def test_whose_number_counts(
    live: int, wanted: int | None, applied: int | None, decision: Decision
) -> None:
    """By what is live, what the manifest asks for, and what was applied last."""
    assert Replicas(live, wanted, applied).decision is decision
    autoscaled = Replicas(live, wanted, applied, is_autoscaled=True)
    assert autoscaled.decision is LIVE


@pytest.mark.contract("B72")
@pytest.mark.parametrize("applied", [3, None])
def test_what_was_asked_for_counts(applied: int | None) -> None:
    """`keep` never scales; `apply` does, over somebody else's number too; an autoscaler wins."""
    keep, apply = ReplicasPolicy.KEEP, ReplicasPolicy.APPLY
    assert Replicas(0, 3, applied, policy=keep).decision is LIVE
    assert Replicas(3, 5, applied, policy=keep).decision is LIVE
    imposed = Replicas(0, 3, applied, policy=apply)
    assert (imposed.decision, imposed.is_imposed) == (MANIFEST, True)
    assert not Replicas(3, 3, applied, policy=apply).is_imposed
    assert Replicas(0, 3, applied, is_autoscaled=True, policy=apply).decision is LIVE
    assert not Replicas(0, 3, applied, is_autoscaled=True, policy=apply).is_imposed


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


@pytest.mark.contract("B1820")
@pytest.mark.parametrize(
    ("value", "before", "returned"),
    [
        ({"spec": {"paused": False, "replicas": 2}}, {"spec": {"replicas": 5}}, 5),
        ({"spec": {"paused": False}}, {"spec": {"replicas": 0}}, 0),
        ({"spec": {"paused": False, "replicas": 2}}, {"spec": {"paused": True}}, None),
        ({"spec": {"paused": False, "replicas": 2}}, {}, None),
    ],
)
def test_a_version_returns_with_the_number_of_before(
    value: dict[str, Any], before: dict[str, Any], returned: int | None
) -> None:
    """With none where nothing of ours had one; what has no such spec has no number either."""
    number = {} if returned is None else {"replicas": returned}
    assert with_replicas_as_in(value, before) == {"spec": {"paused": False, **number}}
    others: tuple[dict[str, Any], ...] = ({"data": {}}, {"spec": "a custom resource's"})
    for other in others:
        assert with_replicas_as_in(other, before) == other


WEB = deployment_ref("shop", "web")
HELD = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"paused": True, "replicas": 2}}


def test_a_pause_is_the_field_of_the_kind() -> None:
    """A Deployment has `spec.paused`, which a way back leaves out."""
    assert require_pause(WEB) == pause_body(WEB) == Body.of({"spec": {"paused": True}})
    assert resume_body(WEB) == Body.of({"spec": {"paused": None}})
    assert without_pause(HELD)["spec"] == {"replicas": 2}


def test_only_a_workload_has_a_pause() -> None:
    """A field of that name in another kind is its own."""
    other = {**HELD, "kind": "Other"}
    assert without_pause(other) == other
    assert pause_body(replace(WEB, kind="Other")) is None


def test_a_kind_without_a_pause_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--on-failure pause` is refused for it, and nothing would be sent."""
    monkeypatch.setattr(DeploymentKind, "pause_field", "")
    assert pause_body(WEB) is None
    assert without_pause(HELD) == HELD
    with pytest.raises(UsageError, match="no Deployment can be"):
        require_pause(WEB)
