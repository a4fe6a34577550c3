"""What others set in a pod template between the preflight and our write, beside what that sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.writes.template_additions import is_beside
from tests.unit.core.leaves import IMAGE, manifest
from tests.unit.core.player import serving
from tests.unit.core.server import Server
from tests.unit.core.world import WEB

APPLIED = manifest("v2")
HASH = "spec.template.metadata.annotations.hash"


def read(server: Server) -> LiveObject:
    """Return what the server has now."""
    live = server.read(WEB)
    assert live is not None
    return live


def trial_of(body: Mapping[str, Any]) -> LiveObject:
    """Return what a dry run of the apply answers."""
    server = serving()
    server.put(body)
    return read(server)


def changed(manager: str, leaves: Mapping[str, Any]) -> tuple[LiveObject, LiveObject]:
    """Return the Deployment before and after a change by a manager."""
    server = serving()
    before = read(server)
    server.edit(WEB, manager, dict(leaves))
    return before, read(server)


@pytest.mark.contract("B1751")
@pytest.mark.parametrize(
    ("manager", "leaves", "is_left"),
    [
        ("reloader", {HASH: "abc"}, True),
        ("reloader", {HASH: "abc", IMAGE: "shop/web:v9"}, False),
        ("somebody", {"spec.paused": True}, False),
    ],
    ids=["addition", "another-version", "no-template"],
)
def test_only_what_the_apply_leaves_as_it_is_counts(
    manager: str, leaves: dict[str, Any], is_left: bool
) -> None:
    """What the apply sets would be overwritten, or conflict; what is no template was not asked."""
    before, live = changed(manager, leaves)
    assert is_beside(FIELD_MANAGER, trial_of(APPLIED), before, live) is is_left


def hashed(image: str) -> dict[str, Any]:
    """Return a version with the annotation that the reloader sets."""
    body = manifest(image)
    body["spec"]["template"]["metadata"] = {"annotations": {"hash": "ours"}}
    return body


@pytest.mark.contract("B1751")
def test_what_the_new_version_sets_as_well_is_no_addition() -> None:
    """The version before did not have it; by the dry run our manager owns it then."""
    before, live = changed("reloader", {HASH: "abc"})
    assert not is_beside(FIELD_MANAGER, trial_of(hashed("v2")), before, live)


@pytest.mark.contract("B1751")
def test_what_another_run_of_the_gate_added_is_no_addition() -> None:
    """Our manager owns it then, so the apply would remove it."""
    server = serving()
    before = read(server)
    server.put(hashed("v1"))
    assert not is_beside(FIELD_MANAGER, trial_of(APPLIED), before, read(server))


@pytest.mark.contract("B1751")
def test_without_a_dry_run_nothing_is_known_to_be_left() -> None:
    """A dry run shows what our manager owns after the apply."""
    before, live = changed("reloader", {HASH: "abc"})
    assert not is_beside(FIELD_MANAGER, None, before, live)


@pytest.mark.contract("B1751")
def test_what_leaves_an_owner_nothing_is_no_addition() -> None:
    """Whether it was removed, or taken over by a third, the way back could not tell."""
    server = serving()
    server.edit(WEB, "restarter", {HASH: "abc"})
    before = read(server)
    server.edit(WEB, "reloader", {HASH: "def"})
    assert not is_beside(FIELD_MANAGER, trial_of(APPLIED), before, read(server))
    server.edit(WEB, "restarter", {"spec.template.metadata.annotations.other": "1"})
    assert is_beside(FIELD_MANAGER, trial_of(APPLIED), before, read(server))
