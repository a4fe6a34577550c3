"""Which version runs, as the document has it."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.report.document.versions import running
from tests.unit.core.leaves import manifest
from tests.unit.core.player import Player, ends, planned
from tests.unit.core.server import Server

IMAGE = 'spec.template.spec.containers[name="web"].image'


@pytest.mark.contract("B843")
@pytest.mark.parametrize(
    ("edit", "runs"),
    [({IMAGE: "shop/web:v9"}, "other"), ({"spec.paused": True}, "baseline")],
    ids=["image", "pause"],
)
@pytest.mark.parametrize("is_told", [False, True], ids=["read", "watched"])
def test_what_was_changed_before_the_first_write_is_not_what_was_read(
    edit: dict[str, object], runs: str, *, is_told: bool
) -> None:
    """Somebody writes between the preflight and our write: it is refused, and theirs runs."""
    server = Server()
    server.put(manifest("v1"))
    player = Player(server, planned(server, manifest("v2")))
    server.edit(player.web, "kubectl-edit", edit)
    if is_told:
        player.news()
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert running(player.attempt, player.web) == runs
