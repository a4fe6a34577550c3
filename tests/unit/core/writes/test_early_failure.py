"""A failure that is found while writes of the way out are left: confirmed, it ends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.ending import Ending
from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.limits import RETRY_SECONDS
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.record import Record
from gate.core.protocol.effects import Read, SaveRecord
from gate.core.protocol.events import AttemptEvent, Interrupted, LeaseLost, ReadBack
from gate.core.rollout.policy import Budgets, OnFailure, OnInterrupt, Policy, Response
from tests.unit.core.leaves import IMAGE, manifest
from tests.unit.core.player import Player, ends, planned, unread
from tests.unit.core.recovery.test_resumption import finished
from tests.unit.core.server import Server

GOOD, BAD = "v3", "v2"
NAMES = ("a", "bad", "c", "d", "e")
SIGTERM = 15
UNWRITTEN = "it was not written, since deployment/bad failed: CrashLoop"
"""How the message of what was not written begins."""


def wanted(name: str) -> dict[str, Any]:
    """Return the new version of a Deployment."""
    return manifest(BAD if name == "bad" else GOOD, name)


def applying(policy: Policy | None = None, *, serve: bool = True, **more: Any) -> Player:
    """Return an apply of five Deployments, of which the second crashes at once."""
    server = Server(v2="crash")
    for name in NAMES if serve else ():
        server.put(manifest("v1", name))
    return Player(server, planned(server, *map(wanted, NAMES), policy=policy, **more))


def endings(attempt: Attempt) -> dict[str, Ending]:
    """Return how each Deployment ended, by name."""
    return {ref.name: ending for ref, ending in attempt.result.endings.items()}


def names(player: Player) -> list[str]:
    """Return the objects that a write was sent for, in order."""
    return [write.ref.name for write in player.writes]


def done(player: Player) -> list[str]:
    """Return the objects of every write that the server has done, in order."""
    return [write.ref.name for write in player.server.done]


def saved_record(player: Player) -> Record:
    """Return the record that a gate has saved last."""
    return player.asked(SaveRecord)[-1].record


def interrupted(player: Player) -> AttemptEvent:
    """Send a signal."""
    return Interrupted(player.attempt.now, SIGTERM)


def after(last: Mapping[str, Any] | None) -> Player:
    """Return such an apply before which the last Deployment was as given, None for not there."""
    server = Server(v2="crash", v0="crash")
    for body in (*(manifest("v1", name) for name in NAMES[:-1]), *([last] if last else [])):
        server.put(body)
    return Player(server, planned(server, *map(wanted, NAMES)))


LAST = [None, manifest("v0", "e"), manifest("v1", "e", paused=True)]
AS_LAST = ["not there", "bad already", "paused"]


@pytest.mark.contract("B904")
@pytest.mark.parametrize("last", LAST, ids=AS_LAST)
@pytest.mark.parametrize("dies", [False, True])
def test_what_did_not_serve_before_is_said_not_to_be_written_too(
    last: Mapping[str, Any] | None, *, dies: bool
) -> None:
    """Its sentence is that of the others, also where another gate finishes that way back."""
    player = after(last)
    if dies:
        player.run_to(State.WRITING, Leg.BACK)
        player = finished(player.server, saved_record(player))
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    found = endings(attempt)
    assert found["e"] == found["d"]
    assert found["e"].outcome is Outcome.REFUSED
    assert found["e"].message.startswith(UNWRITTEN)


@pytest.mark.contract("B904")
def test_what_was_not_written_is_not_remembered() -> None:
    """Nothing is held against its version, which no pod has run."""
    attempt = applying().run()
    assert [one.ref.name for one in closed_of(attempt).workloads] == ["a", "bad", "c"]


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
    [refuted] = player.lines("refuted")
    assert refuted.endswith("writing what is left")


@pytest.mark.contract("B904")
def test_nothing_is_sent_while_the_read_that_is_to_confirm_fails() -> None:
    """It is asked again a second later, as long as the budget lasts."""
    player = applying()
    times = 9
    player.bend(Read, unread, times=times)
    began_at = player.attempt.now
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(player) == ["a", "bad", "c", "bad", "a", "c"]
    reads_at_once = 3
    assert player.attempt.now - began_at >= times / reads_at_once * RETRY_SECONDS


@pytest.mark.contract("B904")
def test_a_server_that_never_answers_ends_the_way_out_with_its_budget() -> None:
    """What was written goes back all the same."""
    player = applying(policy=Policy(budgets=Budgets(timeout_seconds=60.0)))

    def unread_out(player: Player, effect: Read) -> ReadBack:
        is_out = player.attempt.course.leg is Leg.FORWARD
        return unread(player, effect) if is_out else player.read(effect)

    player.bend(Read, unread_out, times=1000)
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
    player.run()
    assert names(player)[:2] == ["c", "d"]


def confirming(**more: Any) -> Player:
    """Return the apply while it reads whether the failure is true."""
    player = applying(**more)
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    return player


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
    player.hear(LeaseLost(player.attempt.now, "another gate", ()))
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
