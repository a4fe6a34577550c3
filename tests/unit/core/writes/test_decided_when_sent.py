"""Writes that are decided when they are sent: deletions, forced ones, what is sent again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.state import Attempt
from gate.core.model.body import Body, FrozenMap
from gate.core.model.field_manager import Verb
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Write
from gate.core.protocol.events import AttemptEvent, WriteConflicted, WriteUncertain
from gate.core.rollout.policy import Budgets, Policy
from gate.core.writes.mended_by_others import list_given_up
from gate.core.writes.order import sendable
from tests.table import each
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import (
    STARTED_AT,
    Player,
    ends,
    going_back,
    planned,
    rejected,
    rolling_out,
    serving,
)
from tests.unit.core.server import NOBODY, Server
from tests.unit.core.world import WEB, config_ref

NOTHING = Body.of({})
SETTINGS = config_ref()


def replacing(policy: Policy | None = None) -> Player:
    """Begin to delete an object, to make another one of its name, as a Job is replaced."""
    server = Server()
    server.put(config("a"))
    plan = planned(server, config("b"), policy=policy)
    writes = (PlannedWrite(SETTINGS, Verb.DELETE, NOTHING), *plan.writes)
    return Player(server, replace(plan, writes=writes))


@pytest.mark.contract("B67")
def test_what_somebody_else_replaced_meanwhile_is_not_deleted() -> None:
    """It is another object, which may be at work."""
    player = replacing()

    def replaced(player: Player, effect: Write) -> AttemptEvent:
        player.server.remove(effect.ref)
        player.server.put(config("theirs"), "kubectl")
        return player.answer(effect)

    player.bend(Write, replaced)
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert player.server.stored[SETTINGS].leaves["data.mode"] == "theirs"


def test_nothing_is_deleted_once_the_budget_is_over() -> None:
    """No time is left to make the other one."""
    player = replacing(Policy(budgets=Budgets(timeout_seconds=60.0)))

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        return WriteConflicted(player.attempt.now, effect.effect_id, pause_seconds=1000.0)

    player.bend(Write, conflict)
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.TIMEOUT)
    assert player.server.stored[SETTINGS].leaves["data.mode"] == "a"


@pytest.mark.contract("B72")
@pytest.mark.parametrize("force", [False, True])
def test_a_forced_apply_goes_over_a_scale_to_zero_of_somebodys(*, force: bool) -> None:
    """Who asked for the fields of others has them, also where nobody owns the number."""
    server = serving()
    player = Player(server, planned(server, manifest("v2"), force=force))
    server.edit(WEB, NOBODY, {"spec.replicas": 0})
    attempt = player.run()
    assert attempt.exit_code == (0 if force else 3), ends(attempt)
    assert [write.body.thaw()["spec"]["replicas"] for write in player.writes] == [4] * (1 + force)


@pytest.mark.contract("B83", "B162")
def test_restarts_count_from_the_first_try_of_a_write() -> None:
    """That one may have been done: what its pods did meanwhile is evidence against them."""
    player = rolling_out()
    player.bend(Write, lambda p, e: WriteUncertain(p.attempt.now, e.effect_id, "429", 7.0))

    def begun(attempt: Attempt) -> set[float]:
        tracks = attempt.workloads.snapshots[WEB].pods.values()
        return {one.waiting_since for track in tracks for one in track.containers.values()}

    attempt = player.run(lambda _: len(player.writes) == 2)
    assert attempt.now == STARTED_AT + 7.0
    assert begun(attempt) == {STARTED_AT}


# -- on the way back -------------------------------------------------------------------------------


def queued(*writes: tuple[Verb, str]) -> Attempt:
    """Return an attempt that goes back after a signal, with these writes to ConfigMaps ahead."""
    attempt = going_back().attempt
    refs = [config_ref(name) for _, name in writes]
    queue = (PlannedWrite(ref, verb, NOTHING) for (verb, _), ref in zip(writes, refs, strict=True))
    return replace(
        attempt,
        requests=replace(attempt.requests, outstanding=FrozenMap()),
        interference=replace(attempt.interference, signal_number=15),
        writes=replace(attempt.writes, queue=tuple(queue)),
    )


APPLY, DELETE = Verb.APPLY, Verb.DELETE


@pytest.mark.contract("B153", "B134")
@each(
    ("writes", "names"),
    [
        ([(APPLY, "a"), (APPLY, "b"), (DELETE, "c"), (APPLY, "d")], ["a", "b"]),
        ([(DELETE, "a"), (DELETE, "b")], ["a"]),
        ([(DELETE, "a"), (APPLY, "b")], ["a"]),
    ],
)
def test_after_a_signal_deletions_still_go_one_by_one(
    writes: list[tuple[Verb, str]], names: list[str]
) -> None:
    """And none before all is restored that may use what is deleted."""
    assert [ref.name for ref in sendable(queued(*writes))] == names


@pytest.mark.contract("B162", "B149")
def test_a_version_that_somebody_brought_back_without_owners_is_theirs() -> None:
    """No answer was lost: what is there is not what this run may have written."""
    player = going_back()
    stored = player.server.stored[WEB]
    before = serving().stored[WEB].leaves
    stored.parts = {(NOBODY, "Update"): dict(before)}
    player.server.touch(WEB)
    sent = len(player.writes)
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)
    assert len(player.writes) == sent + 1


@pytest.mark.contract("B1816")
def test_a_workload_that_was_given_up_is_not_read_to_be_called_mended() -> None:
    """What stands in it is its own to be judged; configuration like it may be back."""
    player = going_back(config("a"))
    player.bend(Write, rejected, times=2)
    attempt = player.run()
    assert set(attempt.writes.refusals) == {WEB, SETTINGS}
    assert list_given_up(attempt) == (SETTINGS,)


@pytest.mark.contract("B147")
def test_what_became_immutable_is_not_sent_back() -> None:
    """The server would refuse it, which is known: all else goes back."""
    server = serving(config("a"), v2="crash")
    player = Player(server, planned(server, {**config("b"), "immutable": True}, manifest("v2")))
    attempt = player.run()
    assert ends(attempt)[:2] == (5, Outcome.ROLLBACK_FAILED)
    assert [name for _, name in player.written()][2:] == ["deployment/web"]
    assert WEB in attempt.ledger.restored
