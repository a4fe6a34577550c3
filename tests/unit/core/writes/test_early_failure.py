"""A failure that is found while writes of the way out are left: confirmed, it ends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.limits import RETRY_SECONDS
from gate.core.attempt.state import Attempt, Ending
from gate.core.attempt.transitions import State
from gate.core.endings.unwritten import IN_DOUBT, LANDED_LATE
from gate.core.model.fact import Unknown
from gate.core.model.lock import lock_of
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, SaveRecord, Write
from gate.core.protocol.events import (
    AttemptEvent,
    Interrupted,
    LeaseLost,
    ReadBack,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.policy import Budgets, OnFailure, OnInterrupt, Policy, Response
from gate.core.states.writing import SETTLING_SECONDS
from gate.report.document.remarks import remarks, uncertain_writes
from gate.wire.kept import kept_text, read_kept
from tests.unit.core.leaves import Leaves, config, manifest
from tests.unit.core.player import Player, ends, planned
from tests.unit.core.recovery.test_resumption import finished
from tests.unit.core.server import Server
from tests.unit.core.test_attempt_writes import lost, rejected

GOOD, BAD = "v3", "v2"
NAMES = ("a", "bad", "c", "d", "e")
SIGTERM = 15
UNWRITTEN = "it was not written, since deployment/bad failed: CrashLoop"
"""How the message of what was not written begins."""
QUOTA = "no quota is left"


def wanted(name: str) -> dict[str, Any]:
    """Return the new version of a Deployment."""
    return manifest(BAD if name == "bad" else GOOD, name)


def applying(
    *others: Mapping[str, Any], policy: Policy | None = None, serve: bool = True, **more: Any
) -> Player:
    """Return an apply of five Deployments, of which the second crashes at once."""
    server = Server(v2="crash")
    for name in NAMES if serve else ():
        server.put(manifest("v1", name))
    plan = planned(server, *others, *map(wanted, NAMES), policy=policy, **more)
    player = Player(server, plan)
    player.news()
    return player


def after(last: Mapping[str, Any] | None) -> Player:
    """Return such an apply before which the last Deployment was as given, None for not there."""
    server = Server(v2="crash", v0="crash")
    for body in (*(manifest("v1", name) for name in NAMES[:-1]), *([last] if last else [])):
        server.put(body)
    player = Player(server, planned(server, *map(wanted, NAMES)))
    player.news()
    return player


def endings(attempt: Attempt) -> dict[str, Ending]:
    """Return how each Deployment ended, by name."""
    return {ref.name: ending for ref, ending in attempt.result.endings.items()}


def names(player: Player) -> list[str]:
    """Return the objects that a write was sent for, in order."""
    return [write.ref.name for write in player.writes]


def done(player: Player) -> list[str]:
    """Return the objects of every write that the server has done, in order."""
    return [write.ref.name for write in player.server.done]


def said(player: Player, event: str) -> list[str]:
    """Return the lines of the timeline of one event."""
    return [line.message for line in player.said if line.event == event]


@pytest.mark.contract("B904", "B914")
def test_what_is_left_is_not_sent() -> None:
    """The write under way is awaited; a read confirms the failure, and what was written goes back.

    The failed Deployment goes back first.
    """
    player = applying()
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(player) == ["a", "bad", "c", "bad", "a", "c"]
    assert player.places[1:4] == [
        (Leg.FORWARD, State.WRITING),
        (Leg.FORWARD, State.CONFIRMING),
        (Leg.BACK, State.RECORDING),
    ]


@pytest.mark.contract("B904")
def test_what_was_not_written_is_said_not_to_be() -> None:
    """It is neither verified nor rolled back."""
    player = applying()
    attempt = player.run()
    assert said(player, "unwritten") == [
        "2 of 5 objects are not written: deployment/d, deployment/e"
    ]
    found = endings(attempt)
    outcomes = {name: ending.outcome for name, ending in found.items()}
    back, unwritten = Outcome.ROLLED_BACK, Outcome.REFUSED
    assert outcomes == {"a": back, "bad": back, "c": back, "d": unwritten, "e": unwritten}
    assert found["d"].message.startswith(UNWRITTEN)


LAST = [None, manifest("v0", "e"), manifest("v1", "e", paused=True)]
AS_LAST = ["not there", "bad already", "paused"]


@pytest.mark.contract("B904")
@pytest.mark.parametrize("last", LAST, ids=AS_LAST)
def test_what_did_not_serve_before_is_said_not_to_be_written_too(
    last: Mapping[str, Any] | None,
) -> None:
    """Its sentence is that of the others."""
    attempt = after(last).run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    found = endings(attempt)
    assert found["e"] == found["d"]
    assert found["e"].message.startswith(UNWRITTEN)


@pytest.mark.contract("B904")
@pytest.mark.parametrize("last", LAST, ids=AS_LAST)
def test_a_gate_that_dies_on_that_way_back_is_finished_with_the_same_end(
    last: Mapping[str, Any] | None,
) -> None:
    """What was not written is said not to be, whatever it was before."""
    player = after(last)
    player.run_to(State.WRITING, Leg.BACK)
    record = next(one.record for one in reversed(player.sent) if isinstance(one, SaveRecord))
    attempt = finished(player.server, record).attempt
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    found = endings(attempt)["e"]
    assert found.outcome is Outcome.REFUSED
    assert found.message.startswith(UNWRITTEN)


@pytest.mark.contract("B914")
def test_configuration_goes_back_before_the_failed_deployment() -> None:
    """Its pods would start with the configuration of the version that failed."""
    server = Server(v2="crash")
    server.put(config("one"))
    for name in NAMES:
        server.put(manifest("v1", name))
    player = Player(server, planned(server, config("two"), *map(wanted, NAMES)))
    player.news()
    player.run()
    settings = config("two")["metadata"]["name"]
    assert names(player)[-4:] == [settings, "bad", "a", "c"]


@pytest.mark.contract("B904")
def test_a_failure_that_is_not_confirmed_ends_nothing() -> None:
    """The read shows pods that run: the rest is sent, each object once, and all are verified."""
    player = applying()

    def recovered(player: Player, effect: Read) -> ReadBack:
        player.server.behaviour[f"shop/web:{BAD}"] = "good"
        player.server.control(effect.ref)
        return player.read(effect)

    player.bend(Read, recovered, times=3)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert names(player) == [*NAMES]
    [refuted] = [line.message for line in player.said if line.event == "refuted"]
    assert refuted.endswith("writing what is left")


@pytest.mark.contract("B904")
def test_nothing_is_sent_while_the_read_that_is_to_confirm_fails() -> None:
    """It is asked again a second later, as long as the budget lasts."""
    player = applying()
    times = 9
    player.bend(
        Read, lambda p, e: ReadBack(p.attempt.now, e.effect_id, Unknown("503")), times=times
    )
    began_at = player.attempt.now
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(player) == ["a", "bad", "c", "bad", "a", "c"]
    reads_at_once = 3
    assert player.attempt.now - began_at >= times / reads_at_once * RETRY_SECONDS


@pytest.mark.contract("B904")
def test_a_server_that_never_answers_ends_the_way_out_with_its_budget() -> None:
    """What was written goes back all the same."""
    player = applying(policy=Policy(budgets=Budgets(timeout_seconds=60.0)))

    def unread(player: Player, effect: Read) -> ReadBack:
        is_out = player.attempt.course.leg is Leg.FORWARD
        fact = Unknown("503")
        return (
            ReadBack(player.attempt.now, effect.effect_id, fact) if is_out else player.read(effect)
        )

    player.bend(Read, unread, times=1000)
    assert ends(player.run())[:2] == (4, Outcome.ROLLED_BACK)
    assert done(player) == ["a", "bad", "c", "bad", "a", "c"]


@pytest.mark.contract("B904")
@pytest.mark.parametrize(
    ("policy", "more"),
    [
        (Policy(response=Response(on_failure=OnFailure.PAUSE)), {}),
        (Policy(response=Response(on_failure=OnFailure.KEEP)), {}),
        (Policy(observe=True), {}),
        (None, {"may_retreat": False}),
        (None, {"serve": False}),
    ],
    ids=["pause", "keep", "observe", "no way back", "nothing to return to"],
)
def test_where_nothing_goes_back_all_is_written_first(
    policy: Policy | None, more: Mapping[str, Any]
) -> None:
    """A part of an apply would stay otherwise."""
    player = applying(policy=policy, **more)
    player.run()
    assert names(player)[: len(NAMES)] == [*NAMES]


@pytest.mark.contract("B904")
def test_a_deployment_that_was_bad_already_ends_nothing() -> None:
    """It needs no write, and what is to be written may mend it."""
    server = Server(v2="crash")
    server.put(manifest(BAD, "bad"))
    for name in ("c", "d"):
        server.put(manifest("v1", name))
    plan = planned(server, wanted("bad"), wanted("c"), wanted("d"))
    player = Player(server, replace(plan, writes=plan.writes[1:]))
    player.news()
    player.run()
    assert names(player)[:2] == ["c", "d"]


# -- writes that are not settled -------------------------------------------------------------------


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


def refused(player: Player, effect: Write) -> AttemptEvent:
    """Refuse a write for good."""
    text = CleanText(QUOTA)
    return WriteRejected(player.attempt.now, effect.effect_id, Reason.REJECTED, text)


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
    assert uncertain_writes(attempt) == ()
    assert {server.image for server in player.server.stored.values()} == {"shop/web:v1"}


@pytest.mark.contract("B904")
def test_a_write_that_conflicted_is_not_sent_again() -> None:
    """Nothing of it was done: its object is as it was."""
    player, write = held_after_the_failure()
    player.hear(WriteConflicted(player.attempt.now, write.effect_id))
    player.hold = ()
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(player) == ["a", "bad", "c", "bad", "a"]


@pytest.mark.contract("B904")
def test_a_write_that_conflicted_is_decided_again_once_the_failure_is_refuted() -> None:
    """It is not forgotten: it is read, sent again and done once."""
    player, write = held_after_the_failure()
    player.hold = ()
    player.hear(WriteConflicted(player.attempt.now, write.effect_id))
    player.behave("good", BAD)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert names(player) == ["a", "bad", "c", "c", "d", "e"]


@pytest.mark.contract("B165")
@pytest.mark.parametrize("done", [True, False])
def test_a_lost_answer_is_told_though_a_signal_leaves_no_time_to_read(done: bool) -> None:
    """What was written before goes back; of the lost write nobody knows, and the report says so."""
    server = Server()
    server.put(config("one"))
    web = server.put(manifest("v1"))
    policy = Policy(response=Response(on_interrupt=OnInterrupt.ROLLBACK))
    player = Player(server, planned(server, config("two"), manifest(BAD), policy=policy))
    player.news()
    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, lambda p, e: lost(p, e, done=done))
    player.hold = (Read,)
    player.run(at_most=player.attempt.now)
    player.hear(interrupted(player))
    attempt = player.run()
    assert ends(attempt)[1] is Outcome.INTERRUPTED
    assert names(player) == ["settings", "web", "settings"]
    assert uncertain_writes(attempt) == (web,)


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
    assert attempt.result.ending is not None
    assert attempt.result.ending.message == "the rollback was written, not verified"


@pytest.mark.contract("B916")
def test_a_write_that_is_never_answered_is_told_though_the_lock_is_lost() -> None:
    """Nothing more is sent or read, and the report names it."""
    server = Server()
    web = server.put(manifest("v1"))
    player = Player(server, planned(server, manifest(BAD)))
    player.news()
    player.hold = (Write,)
    player.run(at_most=player.attempt.now)
    player.hear(LeaseLost(player.attempt.now, "pipeline 7", (lock_of(web),)))
    attempt = player.run()
    assert ends(attempt)[1] is Outcome.SUPERSEDED
    assert uncertain_writes(attempt) == (web,)


@pytest.mark.contract("B904", "B32")
def test_a_refusal_that_comes_with_the_failure_ends_the_way_out_as_ever() -> None:
    """Both are reasons to go back, and nothing more is sent."""
    player, write = held_after_the_failure()
    player.hear(rejected(player, write))
    player.hold = ()
    assert ends(player.run())[:2] == (4, Outcome.ROLLED_BACK)
    assert done(player) == ["a", "bad", "bad", "a"]


@pytest.mark.contract("B904")
def test_a_refusal_that_comes_with_the_failure_is_why_the_rest_is_not_written() -> None:
    """The refused Deployment names its own refusal, the others that it ended the writing."""
    player, write = held_after_the_failure()
    player.hear(refused(player, write))
    player.hold = ()
    attempt = player.run()
    found = endings(attempt)
    assert {found[name].outcome for name in "cde"} == {Outcome.REFUSED}
    assert found["c"].message == f"it was not written: {QUOTA}"
    ended = f"the writing ended at deployment/c: {QUOTA}"
    assert found["d"].message == found["e"].message == f"it was not written, since {ended}"
    assert remarks(attempt) == [ended]


@pytest.mark.contract("B904")
def test_a_write_that_may_be_done_is_not_called_unwritten_for_a_later_refusal() -> None:
    """Nobody knows whether the first one arrives yet; the exit code is that of what went back."""
    player, write = held_after_the_failure()
    player.hear(lost(player, write, done=False))
    player.bend(Write, refused)
    player.hold = ()
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert [ref.name for ref in uncertain_writes(attempt)] == ["c"]
    found = endings(attempt)
    assert (found["c"].outcome, found["c"].message) == (
        Outcome.INCONCLUSIVE,
        f"{IN_DOUBT}; {QUOTA}",
    )
    assert found["d"].message.startswith("it was not written, since the writing ended")


def landing_late(player: Player, write: Write, *, edited: Leaves | None = None) -> Attempt:
    """Lose a write, refuse it the second time, and do the first one while the others go back.

    `edited` is what somebody else changes in place of it.
    """
    player.hear(lost(player, write, done=False))
    player.bend(Write, refused)
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


def never_answering(policy: Policy) -> Player:
    """Return the apply of which one write on the way out never gets an answer."""
    player = applying(policy=policy)

    def unanswered(player: Player, effect: Write) -> AttemptEvent | None:
        now, attempt = player.attempt.now, player.attempt
        if effect.ref.name == "c" and attempt.course.leg is Leg.FORWARD:
            return WriteUncertain(now, effect.effect_id, "503", RETRY_SECONDS)
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


def dead_in_doubt(*, lands: bool) -> Player:
    """Lose a write, refuse it the second time, and kill the gate on the way back of the others.

    `lands` is whether the first one is done after that. The record is read as from a Lease.
    """
    player, write = held_after_the_failure()
    player.hear(lost(player, write, done=False))
    player.bend(Write, refused)
    player.hold = ()
    player.run_to(State.WRITING, Leg.BACK)
    if lands:
        player.server.perform(write, player.attempt.now)
        player.server.control(write.ref)
    record = next(one.record for one in reversed(player.sent) if isinstance(one, SaveRecord))
    kept, _ = read_kept(kept_text(record.objects, {}))
    return finished(player.server, replace(record, objects=kept))


@pytest.mark.contract("B1013")
def test_recover_knows_what_the_dead_gate_was_refused_and_did_not_hear() -> None:
    """It says what the gate itself would have said."""
    attempt = dead_in_doubt(lands=False).attempt
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert [ref.name for ref in uncertain_writes(attempt)] == ["c"]
    found = endings(attempt)
    assert found["c"].message == f"{IN_DOUBT}; {QUOTA}"
    assert found["c"].outcome is Outcome.INCONCLUSIVE
    assert found["d"].message.endswith(f"since the writing ended at deployment/c: {QUOTA}")


@pytest.mark.contract("B1013")
def test_recover_takes_back_a_write_that_landed_after_its_gate_died() -> None:
    """The record says that an answer was lost: it is not taken for somebody else's."""
    player = dead_in_doubt(lands=True)
    assert ends(player.attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert {one.image for one in player.server.stored.values()} == {"shop/web:v1"}
    assert uncertain_writes(player.attempt) == ()


@pytest.mark.contract("B1014")
def test_a_known_failure_does_not_wait_for_an_answer_that_never_comes() -> None:
    """Half a minute after the first answer was lost what was written goes back all the same."""
    player = never_answering(Policy(budgets=Budgets(timeout_seconds=600.0)))
    began_at = player.attempt.now
    player.run_to(State.WRITING, Leg.BACK)
    assert player.attempt.now - began_at < SETTLING_SECONDS + 2 * RETRY_SECONDS
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    found = endings(attempt)
    assert (found["c"].outcome, found["c"].message) == (Outcome.INCONCLUSIVE, IN_DOUBT)
    assert found["d"].message.startswith(UNWRITTEN)


# -- what comes while the failure is confirmed -----------------------------------------------------


def confirming(**more: Any) -> Player:
    """Return the apply while it reads whether the failure is true."""
    player = applying(**more)
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    return player


def interrupted(player: Player) -> AttemptEvent:
    """Send a signal."""
    return Interrupted(player.attempt.now, SIGTERM)


def taken(player: Player) -> AttemptEvent:
    """Lose the lock."""
    return LeaseLost(player.attempt.now, "another gate", ())


@pytest.mark.contract("B904", "B29")
@pytest.mark.parametrize("on_interrupt", list(OnInterrupt))
def test_after_a_signal_nothing_more_goes_out(on_interrupt: OnInterrupt) -> None:
    """There is evidence: by default what was written goes back, with `keep` it stays."""
    player = confirming(policy=Policy(response=Response(on_interrupt=on_interrupt)))
    player.hear(interrupted(player))
    player.hold = ()
    assert ends(player.run())[1] is Outcome.INTERRUPTED
    back = [] if on_interrupt is OnInterrupt.KEEP else ["bad", "a", "c"]
    assert sorted(done(player)) == sorted(["a", "bad", "c", *back])


@pytest.mark.contract("B904", "B524")
def test_after_the_lock_is_lost_nothing_more_is_sent() -> None:
    """Neither forward nor back."""
    player = confirming()
    player.hear(taken(player))
    player.hold = ()
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)
    assert names(player) == ["a", "bad", "c"]


@pytest.mark.contract("B1015")
def test_what_somebody_breaks_before_its_write_holds_no_way_back_up() -> None:
    """It is theirs, and named with who did it: what was written goes back meanwhile."""
    player = confirming()
    last = next(one.ref for one in player.attempt.plan.targets if one.ref.name == "e")
    player.server.edit(last, "kubectl-set", {IMAGE: "shop/web:v7"})
    player.behave("slow", "v7")
    player.hold = ()
    began_at = player.attempt.now
    attempt = player.run()
    assert attempt.now - began_at < 10.0
    assert ends(attempt) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert {endings(attempt)[name].outcome for name in ("a", "bad", "c")} == {Outcome.ROLLED_BACK}
    said = "somebody else changed it before it was written (by kubectl-set)"
    assert endings(attempt)["e"].message == said


@pytest.mark.contract("B904", "B27")
def test_a_failed_deployment_that_somebody_takes_over_ends_nothing() -> None:
    """It is theirs: nothing is held against the others any more, which are written and verified."""
    player = confirming()
    bad = next(target.ref for target in player.attempt.plan.targets if target.ref.name == "bad")
    player.server.edit(bad, "kubectl-edit", {IMAGE: f"shop/web:{GOOD}"})
    player.server.control(bad)
    player.news()
    player.hold = ()
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)
    assert names(player) == [*NAMES]


IMAGE = 'spec.template.spec.containers[name="web"].image'
