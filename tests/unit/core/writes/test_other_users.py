"""What another run uses since: it stays, and nothing that is known of its write is left behind."""

from __future__ import annotations

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import FindUsers, Write
from gate.core.protocol.events import AttemptEvent, UsersFound, WriteRejected
from gate.report.document.remarks import remarks
from tests.unit.core import world
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Player, ends, planned, serving

USED = "deployment/api was verified with it"
UNKNOWN = "it takes the right to list Leases"


def back() -> Player:
    """Return an attempt that is about to restore a ConfigMap and its Deployment."""
    server = serving(config("a"), v2="crash")
    player = Player(server, planned(server, config("b"), manifest("v2")))
    player.run_to(State.RECORDING, Leg.BACK)
    return player


def refuse(player: Player, effect: Write) -> AttemptEvent:
    """Refuse a write; another run has applied its object by then."""
    stored = player.server.stored[effect.ref]
    stored.version = player.server.version()
    player.users = {effect.ref: USED}
    why = CleanText('conflict with "somebody"')
    return WriteRejected(
        player.attempt.now, effect.effect_id, Reason.CONFLICT, why, (".data.mode",)
    )


@pytest.mark.contract("B1871")
def test_a_refusal_of_what_stays_is_none_of_the_next_object() -> None:
    """The ConfigMap was refused, and is found to be another run's: the Deployment goes back."""
    player = back()
    player.bend(Write, refuse)
    assert ends(player.run())[0] == 4
    assert player.server.stored[world.config_ref()].leaves["data.mode"] == "b"
    assert player.server.stored[player.web].image == "shop/web:v1"
    assert not player.attempt.writes.refusals


def nobody_can_tell(player: Player, effect: FindUsers) -> AttemptEvent:
    """Answer that nobody can tell who uses the objects."""
    unknown = FrozenMap(dict.fromkeys(effect.changed, UNKNOWN))
    return UsersFound(player.attempt.now, effect.effect_id, FrozenMap(), unknown)


@pytest.mark.contract("B1871")
def test_what_the_server_refuses_was_not_left_for_want_of_a_right_to_ask() -> None:
    """Nobody could tell who uses it, and that kept nothing from going back."""

    def deny(player: Player, effect: Write) -> AttemptEvent:
        why = CleanText("not now")
        return WriteRejected(player.attempt.now, effect.effect_id, Reason.FORBIDDEN, why)

    player = back()
    player.bend(FindUsers, nobody_can_tell, times=2)
    player.bend(Write, deny)
    assert ends(player.run())[0] == 5
    assert not [one for one in remarks(player.attempt, is_locked=True) if UNKNOWN in one]
