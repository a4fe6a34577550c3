"""What is written, and what is not, once something was refused, failed, or left to others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.parts import Rejection
from gate.core.attempt.transitions import State
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import irreversible, writes_back
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import AttemptEvent, ReadBack
from gate.core.writes.additions import has_only_others_changes, is_beside
from gate.core.writes.lost_response import has_landed_rewritten
from gate.core.writes.restoration import lost_owners
from tests.table import each
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.player import (
    Player,
    ends,
    going_back,
    planned,
    rejected,
    serving,
)
from tests.unit.core.recovery.test_resumption import tried
from tests.unit.core.server import NOBODY, Server
from tests.unit.core.world import WEB, config_ref

SETTINGS, API = config_ref(), ref_of(manifest("v1", "api"))
FIRST = ref_of(manifest("v1", "first"))


# -- a server that does not know yet what a write needs --------------------------------------------


def not_found(player: Player, effect: Write) -> AttemptEvent:
    """Answer with 404."""
    return rejected(player, effect, Reason.NOT_FOUND)


@pytest.mark.contract("B990")
@each(("needed", "is_repeated"), [(SETTINGS, True), (FIRST, False), (None, False)])
def test_a_404_is_repeated_only_where_a_server_may_lag_behind_another(
    needed: Any, *, is_repeated: bool
) -> None:
    """Of what needs no other object, and of what comes after a workload, it is the last word."""
    server = serving()
    bodies = (config("a"), manifest("v1", "first"), manifest("v2"))
    needs = {WEB: (needed,)} if needed is not None else {}
    phases = {"first": Phase.BEFORE} if needed == FIRST else {}
    player = Player(server, planned(server, *bodies, needs=needs, phases=phases))
    player.let_pass(Write, times=2)
    player.bend(Write, not_found)
    player.run()
    assert (player.attempt.outcome is Outcome.VERIFIED) is is_repeated


# -- the way back ----------------------------------------------------------------------------------


@pytest.mark.contract("B30", "B27")
def test_what_others_took_over_is_no_part_of_the_way_back() -> None:
    """Another one that fails goes back alone."""
    server = serving(manifest("v1", "api"), v2="stuck")
    player = Player(server, planned(server, manifest("v2"), manifest("v2", "api")))
    attempt = player.run_to(State.FOLLOWING)
    failed = frozenset({WEB})
    back = writes_back(attempt.plan, attempt.ledger.written, frozenset({API}), failed)
    assert {write.ref for write in back} == {WEB}


@pytest.mark.contract("B147")
@each(("changes", "is_departed"), [(False, False), (True, True)])
def test_nothing_is_irreversible_where_nothing_goes_back(
    *, changes: bool, is_departed: bool
) -> None:
    """One that did not change, or is not ours, decides nothing beside a new one that fails."""
    server = serving(config("a"), v3="stuck")
    bodies = (
        {**config("b"), "immutable": True},
        manifest("v2" if changes else "v1"),
        manifest("v3", "api"),
    )
    attempt = Player(server, planned(server, *bodies)).run_to(State.FOLLOWING)
    departed = frozenset({WEB} if is_departed else set())
    assert irreversible(attempt.plan, attempt.ledger.written, departed) == FrozenMap()


@pytest.mark.contract("B904")
def test_a_deployment_that_did_not_change_breaks_no_apply_off() -> None:
    """Its pods fail with the new configuration, which what is still to be written may mend."""
    server = serving(config("a"), manifest("v3", "api"), manifest("v3", "zone"))
    bodies = (config("b"), manifest("v1"), manifest("v4", "api"), manifest("v4", "zone"))
    player = Player(server, planned(server, *bodies))

    def breaks(player: Player, effect: Write) -> AttemptEvent:
        player.server.behaviour["shop/web:v1"] = "crash"
        return player.answer(effect)

    player.let_pass(Write)
    player.bend(Write, breaks)
    player.run()
    names = [write.ref.name for write in player.writes]
    assert names[:4] == ["settings", "web", "api", "zone"]


@pytest.mark.contract("B149")
def test_owners_are_not_put_back_for_what_was_given_up_or_comes_too_late() -> None:
    """A try that is refused, or without an answer, would be followed by another one for ever."""
    player = going_back()
    stored = player.server.stored[WEB]
    stored.parts = {(NOBODY, "Update"): stored.leaves}
    attempt = player.run_to(State.WRITING, Leg.BACK)
    live = player.server.read(WEB)
    assert live is not None
    ledger = replace(attempt.ledger, live=attempt.ledger.live.put(WEB, live))
    attempt = replace(attempt, ledger=ledger)
    assert lost_owners(attempt, WEB) is not None
    assert lost_owners(replace(attempt, now=attempt.leg_ends_at), WEB) is None
    refused = Rejection(WEB, Reason.REJECTED, CleanText("no"))
    writes = replace(attempt.writes, refusals=FrozenMap({WEB: refused}))
    assert lost_owners(replace(attempt, writes=writes), WEB) is None


@pytest.mark.contract("B1856")
def test_what_was_given_up_and_is_gone_is_not_back() -> None:
    """Its absence is read, and decides nothing."""
    player = going_back(config("a"))

    def returns(player: Player, effect: Write) -> AttemptEvent:
        player.server.remove(SETTINGS)
        return player.answer(effect)

    player.bend(Write, rejected)
    player.bend(Write, returns)
    attempt = player.run()
    assert ends(attempt)[:2] == (5, Outcome.ROLLBACK_FAILED)
    assert WEB in attempt.ledger.restored


# -- what shows who wrote what ---------------------------------------------------------------------


@pytest.mark.contract("B162", "B27")
def test_what_the_way_out_left_alike_shows_no_write_back() -> None:
    """Nor does an object that was made again since: whoever did that owns it."""
    server = serving()
    head = PlannedWrite(WEB, Verb.APPLY, Body.of(manifest("v1")))
    before, answer = server.read(WEB), tried(server, manifest("v1"))
    server.put(manifest("v2"))
    out = server.read(WEB)
    assert before is not None
    assert out is not None
    assert has_landed_rewritten(head, before, answer, way_out=out)
    assert not has_landed_rewritten(head, before, answer, way_out=before)
    assert not has_landed_rewritten(head, before, answer, way_out=replace(out, uid="another"))


@pytest.mark.contract("B1683")
@pytest.mark.parametrize("body", [config("a"), manifest("v1")])
def test_what_was_made_again_has_nothing_beside_what_was_there(body: dict[str, Any]) -> None:
    """It is another object, however alike."""
    server = Server()
    ref = server.put(body)
    was = server.read(ref)
    assert was is not None
    again = replace(was, uid="another")
    tells = has_only_others_changes if was.workload is None else is_beside
    assert tells("rollout-gate", was, was, was)
    assert not tells("rollout-gate", was, was, again)
    assert not tells("rollout-gate", None, was, was)


@pytest.mark.contract("B1683")
def test_a_restart_of_somebodys_is_not_restarted_over() -> None:
    """What this one sets was set otherwise since the preflight."""
    annotated = {"spec": {"template": {"metadata": {"annotations": {"restarted": "1"}}}}}
    server = serving()
    plan = planned(server, manifest("v1"), field_manager="rollout-gate-restart")
    body = {**manifest("v1"), **annotated}
    (write,) = plan.writes
    player = Player(server, replace(plan, writes=(replace(write, body=Body.of(body)),)))
    path = "spec.template.metadata.annotations.restarted"
    server.edit(WEB, NOBODY, {path: "theirs"})  # else the server has a conflict
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert server.stored[WEB].leaves[path] == "theirs"


@pytest.mark.contract("B1856", "B162")
def test_a_server_that_lags_behind_does_not_show_that_what_was_given_up_is_back() -> None:
    """It has not heard of the way out yet: what it shows is what was there before that."""
    player = going_back(config("a"))
    before = player.attempt.plan.before(SETTINGS)
    assert before is not None
    old = Known(before)

    def lags(player: Player, effect: Read) -> AttemptEvent:
        if effect.ref != SETTINGS or player.place[1] is not State.CONFIRMING:
            return player.answer(effect)
        return ReadBack(player.attempt.now, effect.effect_id, old)

    player.bend(Write, rejected)
    player.bend(Read, lags, times=100)
    attempt = player.run()
    assert ends(attempt)[:2] == (5, Outcome.ROLLBACK_FAILED)
    assert set(attempt.writes.refusals) == {SETTINGS}
