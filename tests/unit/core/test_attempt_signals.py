"""A signal: by policy at most one write an object, nothing waited for, the end within 5 s."""

from __future__ import annotations

import pytest

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, SaveRecord, Write
from gate.core.protocol.events import Interrupted, WriteUncertain
from gate.core.rollout.policy import Budgets, OnInterrupt, Policy, Response
from gate.core.writes.order import answers_lost
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import (
    STARTED_AT,
    Player,
    conflicted,
    ending_of,
    ends,
    planned,
    rolling_out,
    serving,
)

TERM = 15
INTERRUPTED = (143, Outcome.INTERRUPTED, Reason.INTERRUPTED)


def rolling(policy: OnInterrupt = OnInterrupt.AUTO, what: str = "crashed-once") -> Player:
    """Begin to roll v2 out, with a ConfigMap; its pods have crashed once."""
    limits = Policy(response=Response(on_interrupt=policy), budgets=Budgets(bake_seconds=60.0))
    return rolling_out(config("a"), policy=limits, v2=what)


def interrupted(player: Player, signal_number: int = TERM) -> Attempt:
    """Send the signal and return the end."""
    sent_at = player.attempt.now
    player.hear(Interrupted(sent_at, signal_number))
    attempt = player.run()
    assert attempt.now <= sent_at + 5.0
    return attempt


@pytest.mark.contract("B150")
def test_before_the_first_write_it_ends_at_once() -> None:
    """Whatever the policy, the cluster is as it was."""
    for policy in OnInterrupt:
        player = rolling(policy)
        player.hold = (SaveRecord,)
        attempt = interrupted(player)
        assert ends(attempt) == INTERRUPTED
        assert not player.writes
        assert attempt.now == STARTED_AT
        assert ending_of(attempt).message == "nothing was written"


@pytest.mark.contract("B151", "B153")
@pytest.mark.parametrize("policy", list(OnInterrupt))
def test_between_two_writes_what_was_written_goes_back_by_policy(policy: OnInterrupt) -> None:
    """The Deployment was not written yet; the ConfigMap alone goes back, or stays."""
    player = rolling(policy)
    player.hold = (Write,)
    player.run_to(State.WRITING)
    player.run(at_most=player.attempt.now)
    player.hear(player.answer(player.waiting.pop(0)))
    player.hear(Interrupted(player.attempt.now, TERM))
    player.hear(player.answer(player.waiting.pop(0)))
    player.hold = ()
    attempt = player.run()
    assert ends(attempt) == INTERRUPTED
    back = {OnInterrupt.KEEP: 0, OnInterrupt.AUTO: 0, OnInterrupt.ROLLBACK: 2}[policy]
    assert len(player.writes) == 2 + back


@pytest.mark.contract("B153")
@pytest.mark.parametrize("state", [State.RECORDING, State.WRITING, State.FOLLOWING])
def test_on_the_way_back_the_writes_are_finished_and_nothing_is_followed(state: State) -> None:
    """A signal during a rollback lets it be written; it does not wait for its pods."""
    player = rolling(what="crash")
    player.run_to(State.RECORDING, Leg.BACK)
    player.control = False
    player.run_to(state, Leg.BACK)
    attempt = interrupted(player)
    assert ends(attempt) == INTERRUPTED
    assert player.server.stored[player.web].image == "shop/web:v1"
    assert len(player.written()) == 4
    assert ending_of(attempt).message == "the rollback was written, not verified"


def two_to_return() -> Player:
    """Roll out two Deployments and a ConfigMap, which a signal returns."""
    server = serving(manifest("v1", "api"), config("a"), v2="stuck")
    limits = Policy(response=Response(on_interrupt=OnInterrupt.ROLLBACK))
    objects = (config("b"), manifest("v2"), manifest("v2", "api"))
    player = Player(server, planned(server, *objects, policy=limits))
    player.run_to(State.FOLLOWING)
    return player


@pytest.mark.contract("B153", "B162", "B165")
def test_side_by_side_a_lost_answer_is_read_back_beside_the_others() -> None:
    """One is uncertain, one conflicts: each is read and decided again, by what is known of it."""
    player = two_to_return()
    player.let_pass(Write)
    player.bend(Write, lambda p, e: WriteUncertain(p.attempt.now, e.effect_id, "reset"))
    player.bend(Write, conflicted)
    attempt = interrupted(player)
    assert ends(attempt) == INTERRUPTED
    assert len(attempt.ledger.restored) == 3
    images = {player.server.stored[ref].image for ref in attempt.workloads.rollouts}
    assert images == {"shop/web:v1"}
    assert not attempt.writes.set_aside


@pytest.mark.contract("B153", "B165")
def test_writes_that_are_not_answered_in_time_are_told() -> None:
    """Whether they were done is not known, of each of them."""
    player = two_to_return()
    player.let_pass(Write)
    player.bend(Write, lambda _, __: None, times=2)
    attempt = interrupted(player)
    assert {ref.name for ref in answers_lost(attempt)} == {"api", "web"}


@pytest.mark.contract("B34")
def test_observe_writes_nothing_after_a_signal_either() -> None:
    """A signal ends it by the signal's code."""
    limits = Policy(response=Response(on_interrupt=OnInterrupt.ROLLBACK), observe=True)
    player = rolling_out(policy=limits, v2="crash")
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    assert ends(interrupted(player)) == INTERRUPTED
    assert len(player.writes) == 1


def test_a_signal_does_not_wait_for_the_name_of_who_took_over() -> None:
    """What is somebody else's already is left at once."""
    player = rolling_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    player.server.edit(player.web, "kubectl-set", {IMAGE: "shop/web:v9"})
    player.news()
    attempt = interrupted(player)
    assert attempt.now == STARTED_AT
    assert ends(attempt) == INTERRUPTED
    assert attempt.result.endings[player.web].outcome is Outcome.SUPERSEDED
