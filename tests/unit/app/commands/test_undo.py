"""Which locks an undo takes."""

from __future__ import annotations

import pytest

from gate.app.commands.undo import members_of_sets
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.registry import locks_of
from gate.core.model.body import FrozenMap
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion

WEB, API = deployment_ref("shop", "web"), deployment_ref("shop", "api")
CUSTOM = Ref("example.com/v1", "Deployment", "shop", "post")


@pytest.mark.contract("B15", "B520")
def test_an_undo_locks_the_deployments_that_an_apply_of_the_set_locks() -> None:
    """A custom kind that is called Deployment too has no lock."""
    members = FrozenMap({WEB: "w", API: "a", CUSTOM: "c"})
    history = History((JudgedVersion("t", (), members),))
    assert {*map(lock_of, members_of_sets(WEB, history))} == {*locks_of(members, "shop")}
