"""What counts as written back by others, and as a write back that was done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.parts import Retry
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.plan.leg import Leg
from gate.core.rollout.policy import Policy, Response
from gate.core.writes.return_progress import find_shown
from gate.core.writes.returned_by_others import find_restorers, is_returned
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Player, planned, serving
from tests.unit.core.world import WEB, config_ref

SETTINGS = config_ref()


def going_back(**response: Any) -> Player:
    """Return an attempt that is about to take back v2 and its configuration."""
    server = serving(config("a"), v2="crash")
    bodies = (config("b"), config("new", "extra"), manifest("v2"))
    player = Player(server, planned(server, *bodies, policy=Policy(response=Response(**response))))
    player.run_to(State.RECORDING, Leg.BACK)
    return player


def as_theirs(attempt: Attempt, live: LiveObject, subresource: str = "") -> LiveObject:
    """Return an object all of whose fields somebody else has come to own."""
    [own] = [one for one in live.managed.thaw()["managedFields"] if one["manager"] == FIELD_MANAGER]
    entry = {**own, "manager": "them", "operation": "Update"}
    entry |= {"subresource": subresource} if subresource else {}
    return replace(live, managed=Body.of({"managedFields": [entry]}))


@pytest.mark.contract("B134")
def test_an_object_that_is_still_there_never_shows_that_its_deletion_was_done() -> None:
    """Nor where nothing of ours is left in it, as a deletion sets nothing either."""
    attempt = going_back(prune_created=True).run_to(State.WRITING, Leg.BACK)
    [head] = [one for one in attempt.writes.queue if one.verb is Verb.DELETE]
    created = attempt.ledger.written[head.ref].after
    [own] = created.managed.thaw()["managedFields"]
    emptied = replace(
        created,
        body=Body.of({key: one for key, one in created.body.thaw().items() if key != "data"}),
        managed=Body.of({"managedFields": [{**own, "fieldsV1": {"f:data": {}}}]}),
    )
    live = attempt.ledger.live.put(head.ref, emptied)
    attempt = replace(attempt, ledger=replace(attempt.ledger, live=live))
    assert find_shown(attempt, head, Retry(uncertain=True)) is None


@pytest.mark.contract("B1816", "B27")
def test_a_workload_is_not_returned_by_whoever_wrote_it() -> None:
    """What stands in it is theirs, though it be what was before; configuration like it is back."""
    player = going_back()
    attempt = player.run_to(State.WRITING, Leg.BACK)
    heads = {head.ref: head for head in attempt.writes.queue}
    before = {ref: attempt.plan.before(ref) for ref in (WEB, SETTINGS)}
    found = {
        ref: is_returned(attempt, heads[ref], as_theirs(attempt, live))
        for ref, live in before.items()
        if live is not None
    }
    assert found == {WEB: False, SETTINGS: True}


@pytest.mark.contract("B1816", "B27")
@pytest.mark.parametrize("subresource", ["", "status"])
def test_only_who_owns_an_object_beside_the_workloads_itself_has_restored_it(
    subresource: str,
) -> None:
    """A status is written by a controller; and whoever writes a workload has taken it over."""
    attempt = going_back().run_to(State.WRITING, Leg.BACK)
    restored = attempt.ledger.restored
    for ref in (WEB, SETTINGS):
        live = attempt.plan.before(ref)
        assert live is not None
        restored = restored.put(ref, as_theirs(attempt, live, subresource))
    attempt = replace(attempt, ledger=replace(attempt.ledger, restored=restored))
    assert find_restorers(attempt, WEB) == ()
    assert find_restorers(attempt, SETTINGS) == (() if subresource else ("them",))
