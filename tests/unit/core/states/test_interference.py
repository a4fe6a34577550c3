"""Who changed what an attempt leaves to them."""

from __future__ import annotations

import pytest

from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome
from gate.core.protocol.effects import Read
from tests.unit.core.leaves import IMAGE, manifest
from tests.unit.core.player import Player, ends, planned
from tests.unit.core.server import Server


@pytest.mark.contract("B1016")
def test_a_read_that_was_under_way_does_not_hide_who_changed_it() -> None:
    """Its answer is older than the change that the watch brought: it is read again."""
    server = Server(v2="slow")
    web = server.put(manifest("v1"))
    player = Player(server, planned(server, manifest("v2")))
    player.news()
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    player.pass_to(player.attempt.requests.next_read_at)
    [regular] = [one for one in player.waiting if isinstance(one, Read)]
    player.waiting.remove(regular)
    older = player.read(regular)
    server.edit(web, "kubectl-set", {IMAGE: "shop/web:v3"})
    server.control(web)
    player.news()
    player.hear(older)
    player.hold = ()
    attempt = player.run()
    assert ends(attempt)[1] is Outcome.SUPERSEDED
    assert attempt.result.endings[web].message.endswith("(by kubectl-set)")
    found = attempt.ledger.findings[web]
    assert (found.kind, found.managers) == (FindingKind.CHANGED, ("kubectl-set",))
