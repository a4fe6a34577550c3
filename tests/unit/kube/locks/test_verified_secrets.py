"""The names of the Secrets beside locks."""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import MOST_CHARACTERS, lock_of
from gate.core.model.objects import Ref
from gate.kube.locks.verified_secrets import secret_name


@pytest.mark.contract("B709")
def test_a_deployment_has_its_secret_by_its_name() -> None:
    """The name is part of what a Role grants."""
    assert secret_name(lock_of(deployment_ref("shop", "web"))) == "rollout-gate.verified.web"


@pytest.mark.parametrize("name", ["web", "x" * 253])
def test_no_two_kinds_share_a_secret(name: str) -> None:
    """Whatever a Deployment is called, and however long the names are."""
    other = Ref("apps/v1", "StatefulSet", "shop", name)
    found = secret_name(lock_of(other))
    alike = (name, f"statefulset.{name}", f"rollout-gate.statefulset.{name}")
    assert found not in {secret_name(lock_of(deployment_ref("shop", one))) for one in alike}
    assert len(found) <= MOST_CHARACTERS
