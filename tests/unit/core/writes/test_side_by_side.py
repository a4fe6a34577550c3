"""Writes that do not depend on each other are under way together, as far as the server answers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, Release, Write
from gate.core.protocol.events import Interrupted, LeaseLost
from gate.core.rollout.policy import OnInterrupt, Policy
from gate.core.writes.order import MOST_AT_ONCE
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Player, ends, planned
from tests.unit.core.server import Server
from tests.unit.core.test_attempt_writes import lost, rejected

MANY = 2 * MOST_AT_ONCE
TERM = 15


def applying(server: Server, *, policy: Policy | None = None) -> Player:
    """Begin an apply of a ConfigMap and many Deployments that serve v1; no write is answered."""
    names = [f"web-{number:02}" for number in range(MANY)]
    server.put(config("one", "settings"))
    for name in names:
        server.put(manifest("v1", name))
    bodies = (config("two", "settings"), *(manifest("v2", name) for name in names))
    player = Player(server, planned(server, *bodies, policy=policy))
    player.hold = (Write,)
    player.run_to(State.WRITING)
    return player


def under_way(player: Player) -> list[Write]:
    """Return the writes that wait for an answer, the oldest first."""
    player.run(at_most=player.attempt.now)
    return [effect for effect in player.waiting if isinstance(effect, Write)]


def answer(player: Player, *writes: Write) -> None:
    """Do these writes and answer them."""
    for effect in writes:
        player.waiting.remove(effect)
        player.hear(player.answer(effect))


def answer_until(player: Player, count: int) -> list[Write]:
    """Answer writes until that many are under way; return them."""
    while len(found := under_way(player)) < count:
        answer(player, found[0])
    return found


@pytest.mark.contract("B556")
def test_each_answer_makes_room_for_one_more() -> None:
    """A leg begins with one write, and at most eight are under way; configuration comes first."""
    player = applying(Server())
    assert [str(effect.ref) for effect in under_way(player)] == ["configmap/settings"]
    seen = []
    while found := under_way(player):
        seen.append(len(found))
        assert len({effect.ref for effect in found}) == len(found)
        assert len({effect.ref.kind for effect in found}) == 1
        answer(player, found[0])
    room = [min(1 + answered, MOST_AT_ONCE) for answered in range(1 + MANY)]
    left = [MANY - answered for answered in range(MANY)]
    assert seen == [1, *(min(pair) for pair in zip(room[1:], left, strict=True))]
    assert player.place == (Leg.FORWARD, State.FOLLOWING)
    assert len(player.writes) == len(player.attempt.ledger.written) == 1 + MANY


@pytest.mark.contract("B556")
def test_while_an_answer_is_lost_nothing_new_is_sent() -> None:
    """The object is read first; then the writes go on."""
    player = applying(Server())
    first, *others = answer_until(player, 3)
    player.hold = (Write, Read)
    player.waiting.remove(first)
    player.hear(lost(player, first, done=True))
    answer(player, *others)
    assert under_way(player) == []
    player.hold = (Write,)
    player.run(at_most=player.attempt.now)
    player.hold = ()
    for effect in [one for one in player.waiting if isinstance(one, Read)]:
        player.waiting.remove(effect)
        player.hear(player.answer(effect))
    player.run_to(State.FOLLOWING)
    assert len(player.attempt.ledger.written) == 1 + MANY
    assert len([effect for effect in player.writes if effect.ref == first.ref]) == 1


@pytest.mark.contract("B556", "B32")
@pytest.mark.parametrize("done", [True, False])
def test_after_a_refusal_what_is_under_way_is_awaited_and_goes_back(*, done: bool) -> None:
    """Of a write whose answer was lost, a read says whether it was done."""
    player = applying(Server())
    first, second, third = answer_until(player, 3)
    player.waiting.remove(first)
    player.hear(rejected(player, first))
    assert under_way(player) == [second, third]
    player.waiting.remove(second)
    player.hear(lost(player, second, done=done))
    answer(player, third)
    player.hold = ()
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert {ref.name for ref in attempt.ledger.restored} >= {third.ref.name}
    assert (second.ref in attempt.ledger.restored) is done
    assert first.ref not in attempt.ledger.written
    images = {player.server.stored[ref].image for ref in attempt.workloads.followed_before}
    assert images == {"shop/web:v1"}


@pytest.mark.contract("B556", "B153")
def test_after_a_signal_a_write_whose_answer_was_lost_goes_back_too() -> None:
    """It was done, as a read says; nothing new is sent meanwhile."""
    player = applying(Server(), policy=Policy(on_interrupt=OnInterrupt.ROLLBACK))
    first, *others = answer_until(player, 3)
    player.waiting.remove(first)
    player.hear(lost(player, first, done=True))
    player.hear(Interrupted(player.attempt.now, TERM))
    answer(player, *others)
    player.hold = ()
    attempt = player.run()
    assert attempt.course.leg is Leg.BACK
    assert {first.ref, *(one.ref for one in others)} <= set(attempt.ledger.restored)


@pytest.mark.contract("B556")
def test_once_a_lock_is_lost_nothing_new_is_sent() -> None:
    """What is under way is awaited, and no more."""
    player = applying(Server())
    found = answer_until(player, 3)
    player.hear(LeaseLost(player.attempt.now, "another gate", ()))
    sent = len(player.writes)
    answer(player, *found)
    player.hold = ()
    assert player.run().ended
    assert len(player.writes) == sent


@pytest.mark.contract("B556")
def test_the_first_of_several_refusals_counts() -> None:
    """The report names one of them, and all that was done goes back."""
    player = applying(Server())
    first, second, third = answer_until(player, 3)
    for effect in (second, first):
        player.waiting.remove(effect)
        player.hear(rejected(player, effect))
    answer(player, third)
    player.hold = ()
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert attempt.result.why_back is not None
    assert second.ref.name in attempt.result.why_back.message


@pytest.mark.contract("B558")
@pytest.mark.parametrize("left_seconds", [math.inf, 0.5])
def test_the_release_of_many_locks_may_take_longer_within_the_budgets(left_seconds: float) -> None:
    """For each further Deployment there is a tenth of a second, or what is left."""
    player = applying(Server())
    player.hold = (Release,)
    player.run_to(State.CLOSING)
    attempt = player.attempt
    used_up = attempt.gives_up_at - left_seconds
    since = attempt.now if math.isinf(left_seconds) else used_up
    attempt = replace(attempt, course=replace(attempt.course, closing_since=since))
    more_seconds = min((MANY - 1) * 0.1, left_seconds)
    assert attempt.closes_at == pytest.approx(since + 2.0 + more_seconds)
