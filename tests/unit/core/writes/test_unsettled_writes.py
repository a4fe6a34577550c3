"""A write that is not settled when the failure of another Deployment is found."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gate.core.attempt.limits import RETRY_SECONDS, SETTLING_SECONDS
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.endings.unwritten import LANDED_LATE
from gate.core.model.lock import lock_of
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import (
    AttemptEvent,
    LeaseLost,
    WriteUncertain,
)
from gate.core.rollout.policy import Budgets, OnInterrupt, Policy, Response
from gate.core.writes.order import answers_lost
from gate.report.document.remarks import remarks
from gate.wire.kept import kept_text, read_kept
from tests.unit.core.leaves import IMAGE, Leaves, config
from tests.unit.core.player import Player, conflicted, ending_of, ends, lost, rejected, rolling_out
from tests.unit.core.recovery.test_resumption import finished
from tests.unit.core.writes.test_early_failure import (
    BAD,
    UNWRITTEN,
    applying,
    done,
    endings,
    interrupted,
    names,
    saved_record,
)

IN_DOUBT = "the answer to its write was lost: whether it was written is not known"


def held_after_the_failure(**more: Any) -> tuple[Player, Write]:
    """Return the apply when the failure is known, and the write that is under way then."""
    player = applying(**more)
    player.hold = (Write,)
    for name in ("a", "bad"):
        player.run(at_most=player.attempt.now)
        write = player.writes[-1]
        assert write.ref.name == name
        player.waiting.remove(write)
        player.hear(player.answer(write))
        player.server.control(write.ref)
        player.news()
    write = player.writes[-1]
    assert write.ref.name == "c"
    player.waiting.remove(write)
    return player, write


@pytest.mark.contract("B904")
@pytest.mark.parametrize("done", [True, False])
def test_a_write_whose_answer_was_lost_is_settled_first(done: bool) -> None:
    """It is read, and sent again where it was not done: then what it did goes back, too."""
    player, write = held_after_the_failure()
    player.hear(lost(player, write, done=done))
    player.hold = ()
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    again = [] if done else ["c"]
    assert names(player) == ["a", "bad", "c", *again, "bad", "a", "c"]
    assert answers_lost(attempt) == ()
    assert {server.image for server in player.server.stored.values()} == {"shop/web:v1"}


@pytest.mark.contract("B904")
@pytest.mark.parametrize("confirmed", [True, False])
def test_a_write_that_conflicted_is_sent_again_only_once_the_failure_is_refuted(
    confirmed: bool,
) -> None:
    """Nothing of it was done: its object is as it was, or it is read, sent again and done once."""
    player, write = held_after_the_failure()
    player.hold = ()
    player.hear(conflicted(player, write))
    if confirmed:
        assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
        assert names(player) == ["a", "bad", "c", "bad", "a"]
    else:
        player.behave("good", BAD)
        assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
        assert names(player) == ["a", "bad", "c", "c", "d", "e"]


@pytest.mark.contract("B165")
@pytest.mark.parametrize("done", [True, False])
def test_a_lost_answer_is_told_though_a_signal_leaves_no_time_to_read(done: bool) -> None:
    """What was written before goes back; of the lost write nobody knows, and the report says so."""
    policy = Policy(response=Response(on_interrupt=OnInterrupt.ROLLBACK))
    player = rolling_out(config("a"), policy=policy)
    player.let_pass(Write)
    player.bend(Write, partial(lost, done=done))
    player.hold = (Read,)
    player.run(at_most=player.attempt.now)
    player.hear(interrupted(player))
    attempt = player.run()
    assert ends(attempt)[1] is Outcome.INTERRUPTED
    assert names(player) == ["settings", "web", "settings"]
    assert answers_lost(attempt) == (player.web,)


@pytest.mark.contract("B165", "B904")
def test_after_a_signal_too_what_was_not_written_is_not_called_rolled_back() -> None:
    """Of the write whose answer was lost nobody knows; the first line is about what went back."""
    player, write = held_after_the_failure()
    player.hear(lost(player, write, done=True))
    player.hold = (Read,)
    player.run(at_most=player.attempt.now)
    player.hear(interrupted(player))
    player.hold = ()
    attempt = player.run()
    found = {name: ending.message for name, ending in endings(attempt).items()}
    back, unwritten = "the rollback was written, not verified", "it was not written"
    assert found == {"a": back, "bad": back, "c": IN_DOUBT, "d": unwritten, "e": unwritten}
    assert {ending.outcome for ending in endings(attempt).values()} == {Outcome.INTERRUPTED}


@pytest.mark.contract("B165", "B904")
def test_an_unwritten_deployment_that_comes_first_does_not_stand_for_the_whole() -> None:
    """The attempt as a whole says what became of the rollback."""
    player, write = held_after_the_failure()
    player.hear(player.answer(write))
    targets = tuple(reversed(player.attempt.plan.targets))
    player.attempt = replace(player.attempt, plan=replace(player.attempt.plan, targets=targets))
    player.hear(interrupted(player))
    player.hold = ()
    attempt = player.run()
    assert endings(attempt)["e"].message == "it was not written"
    assert ending_of(attempt).message == "the rollback was written, not verified"


@pytest.mark.contract("B916")
def test_a_write_that_is_never_answered_is_told_though_the_lock_is_lost() -> None:
    """Nothing more is sent or read, and the report names it."""
    player = rolling_out()
    player.hold = (Write,)
    player.run(at_most=player.attempt.now)
    player.hear(LeaseLost(player.attempt.now, "pipeline 7", (lock_of(player.web),)))
    attempt = player.run()
    assert ends(attempt)[1] is Outcome.SUPERSEDED
    assert answers_lost(attempt) == (player.web,)


@pytest.mark.contract("B904", "B32")
def test_a_refusal_that_comes_with_the_failure_is_why_the_rest_is_not_written() -> None:
    """The refused Deployment names its own refusal, the others that it ended the writing."""
    player, write = held_after_the_failure()
    player.hear(rejected(player, write))
    player.hold = ()
    attempt = player.run()
    assert ends(attempt)[:2] == (4, Outcome.ROLLED_BACK)
    assert done(player) == ["a", "bad", "bad", "a"]
    found = endings(attempt)
    assert {found[name].outcome for name in "cde"} == {Outcome.REFUSED}
    assert found["c"].message == "it was not written: no"
    ended = "the writing ended at deployment/c: no"
    assert found["d"].message == found["e"].message == f"it was not written, since {ended}"
    assert remarks(attempt) == [ended]


@pytest.mark.contract("B904")
def test_a_write_that_may_be_done_is_not_called_unwritten_for_a_later_refusal() -> None:
    """Nobody knows whether the first one arrives yet; the exit code is that of what went back."""
    player, write = held_after_the_failure()
    player.hear(lost(player, write, done=False))
    player.bend(Write, rejected)
    player.hold = ()
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert [ref.name for ref in answers_lost(attempt)] == ["c"]
    found = endings(attempt)
    assert (found["c"].outcome, found["c"].message) == (
        Outcome.INCONCLUSIVE,
        f"{IN_DOUBT}; no",
    )
    assert found["d"].message.startswith("it was not written, since the writing ended")


def landing_late(player: Player, write: Write, *, edited: Leaves | None = None) -> Attempt:
    """Lose a write, refuse it the second time, and do the first one while the others go back.

    `edited` is what somebody else changes in place of it.
    """
    player.hear(lost(player, write, done=False))
    player.bend(Write, rejected)
    player.hold = ()

    def land(player: Player, effect: Write) -> AttemptEvent:
        if edited is None:
            player.server.perform(write, player.attempt.now)
        else:
            player.server.edit(write.ref, "kubectl-edit", edited)
        player.server.control(write.ref)
        return player.answer(effect)

    player.bend(Write, land)
    return player.run()


@pytest.mark.contract("B1012")
def test_a_write_that_lands_late_is_not_called_somebody_elses() -> None:
    """It is this run's: what was to go back did not all go back, and a person has to know."""
    attempt = landing_late(*held_after_the_failure())
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP)
    found = endings(attempt)["c"]
    assert (found.outcome, found.message) == (Outcome.ROLLBACK_FAILED, LANDED_LATE)
    assert "the answer to the write of deployment/c was lost: it was done after all" in remarks(
        attempt
    )


@pytest.mark.contract("B1012")
def test_what_somebody_else_did_in_place_of_a_lost_write_is_theirs() -> None:
    """The field managers show it."""
    attempt = landing_late(*held_after_the_failure(), edited={IMAGE: "shop/web:v7"})
    assert ends(attempt)[:2] == (8, Outcome.SUPERSEDED)
    assert "kubectl-edit" in endings(attempt)["c"].message


def never_answering(policy: Policy, pause_seconds: float = 0.0) -> Player:
    """Return the apply of which one write on the way out never gets an answer."""
    player = applying(policy=policy)

    def unanswered(player: Player, effect: Write) -> AttemptEvent | None:
        now, attempt = player.attempt.now, player.attempt
        if effect.ref.name == "c" and attempt.course.leg is Leg.FORWARD:
            return WriteUncertain(now, effect.effect_id, "503", RETRY_SECONDS, pause_seconds)
        return player.answer(effect)

    player.bend(Write, unanswered, times=1000)
    return player


@pytest.mark.contract("B904")
def test_a_server_without_an_answer_until_the_budget_ends_leaves_the_write_in_doubt() -> None:
    """The write says both: that its answers were lost, and that the budget ended."""
    attempt = never_answering(
        Policy(budgets=Budgets(timeout_seconds=SETTLING_SECONDS - 10.0))
    ).run()
    assert ends(attempt)[:2] == (4, Outcome.ROLLED_BACK)
    found = endings(attempt)
    late = "it could not be written within the budget"
    assert (found["c"].outcome, found["c"].message) == (Outcome.INCONCLUSIVE, f"{IN_DOUBT}; {late}")
    ended = f"the writing ended at deployment/c: {late}"
    assert found["d"].message == f"it was not written, since {ended}"


@pytest.mark.contract("B1893", "B904")
def test_the_timeline_does_not_call_unwritten_what_may_be_written() -> None:
    """Three were queued as the failure was confirmed; of one of them nobody knows."""
    player = never_answering(Policy())
    assert ends(player.run())[:2] == (4, Outcome.ROLLED_BACK)
    assert [ref.name for ref in answers_lost(player.attempt)] == ["c"]
    said = "2 of 5 objects are not written: deployment/d, deployment/e"
    assert player.lines("unwritten") == [said]


def dead_in_doubt(*, lands: bool) -> Player:
    """Lose a write, refuse it the second time, and kill the gate on the way back of the others.

    `lands` is whether the first one is done after that. The record is read as from a Lease.
    """
    player, write = held_after_the_failure()
    player.hear(lost(player, write, done=False))
    player.bend(Write, rejected)
    player.hold = ()
    player.run_to(State.WRITING, Leg.BACK)
    if lands:
        player.server.perform(write, player.attempt.now)
        player.server.control(write.ref)
    record = saved_record(player)
    kept, _ = read_kept(kept_text(record.objects, {}))
    return finished(player.server, replace(record, objects=kept))


@pytest.mark.contract("B1013")
def test_recover_knows_what_the_dead_gate_was_refused_and_did_not_hear() -> None:
    """It says what the gate itself would have said."""
    attempt = dead_in_doubt(lands=False).attempt
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert [ref.name for ref in answers_lost(attempt)] == ["c"]
    found = endings(attempt)
    assert found["c"].message == f"{IN_DOUBT}; no"
    assert found["c"].outcome is Outcome.INCONCLUSIVE
    assert found["d"].message.endswith("since the writing ended at deployment/c: no")


@pytest.mark.contract("B1013")
def test_recover_takes_back_a_write_that_landed_after_its_gate_died() -> None:
    """The record says that an answer was lost: it is not taken for somebody else's."""
    player = dead_in_doubt(lands=True)
    assert ends(player.attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert {one.image for one in player.server.stored.values()} == {"shop/web:v1"}
    assert answers_lost(player.attempt) == ()


@pytest.mark.contract("B1014")
@pytest.mark.parametrize("pause_seconds", [0.0, 7.0])
def test_a_known_failure_does_not_wait_for_an_answer_that_never_comes(
    pause_seconds: float,
) -> None:
    """Half a minute after the first answer was lost what was written goes back all the same."""
    player = never_answering(Policy(budgets=Budgets(timeout_seconds=600.0)), pause_seconds)
    began_at = player.attempt.now
    player.run_to(State.WRITING, Leg.BACK)
    assert player.attempt.now - began_at < SETTLING_SECONDS + 2 * RETRY_SECONDS
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    found = endings(attempt)
    assert (found["c"].outcome, found["c"].message) == (Outcome.INCONCLUSIVE, IN_DOUBT)
    assert found["d"].message.startswith(UNWRITTEN)
