"""Which version runs, as the document has it."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.core.protocol.events import Interrupted
from gate.core.rollout.policy import OnInterrupt, Policy, Response
from gate.report.document.running_pods import running
from tests.unit.core.leaves import manifest
from tests.unit.core.player import Player, ends, planned, serving

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
    server = serving()
    player = Player(server, planned(server, manifest("v2")))
    server.edit(player.web, "kubectl-edit", edit)
    if is_told:
        player.news()
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert running(player.attempt, player.web) == runs


@pytest.mark.contract("B182")
def test_a_version_that_is_first_seen_on_the_way_back_is_the_new_one() -> None:
    """After a signal its pods still run beside what goes back: that is not "no pod"."""
    server = serving(v2="good")
    back = Policy(response=Response(on_interrupt=OnInterrupt.ROLLBACK))
    player = Player(server, planned(server, manifest("v2"), policy=back))
    player.news = lambda: None  # type: ignore[method-assign]
    player.run(lambda attempt: bool(attempt.ledger.written))
    late = list(server.news(player.attempt.now))
    player.hear(Interrupted(player.attempt.now, 15))
    player.run(lambda attempt: bool(attempt.ledger.restored))
    for event in late:
        player.hear(event)
    assert ends(player.run())[1] is Outcome.INTERRUPTED
    assert running(player.attempt, player.web) == "mixed"
