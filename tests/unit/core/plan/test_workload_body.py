"""What a way back and a pause send depends on the kind of a workload."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.app.preflight.guards import require_pause
from gate.core.kinds.deployment.kind import DeploymentKind
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body
from gate.core.plan.workload_body import pause_body, resume_body, without_pause
from gate.errors import UsageError

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
