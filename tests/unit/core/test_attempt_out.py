"""The way out: from the record to a verdict that a quorum read has confirmed."""

from __future__ import annotations

import math

import pytest

from gate.core.attempt.new_rollout import UnexpectedAnswer
from gate.core.attempt.transitions import State
from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.model.fact import Absent
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Asking, Collect, Read, Release, SaveRecord, Write
from gate.core.protocol.events import (
    AccessGranted,
    ContactLost,
    ControllersActed,
    ControllersSilent,
    LeaseLost,
    ReadBack,
    Recorded,
    Released,
)
from gate.core.rollout.observations import Vanished
from gate.core.rollout.policy import Budgets, OnFailure, Policy, Response
from gate.core.steps.step import step
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import (
    STARTED_AT,
    Player,
    ending_of,
    ends,
    planned,
    rolling_out,
    serving,
    unread,
)
from tests.unit.core.server import Server
from tests.unit.core.world import refusals

# -- good ------------------------------------------------------------------------------------------


@pytest.mark.contract("B20", "B53")
def test_a_good_version_is_verified_by_a_read_after_completion() -> None:
    """Recorded, written, followed, complete, read once more, released: exit 0."""
    player = rolling_out()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    kinds = [type(effect) for effect in player.sent]
    assert kinds == [SaveRecord, Write, Read, Release]
    assert [state for _, state in player.places] == [
        State.RECORDING,
        State.WRITING,
        State.FOLLOWING,
        State.CONFIRMING,
        State.CLOSING,
        State.ENDED,
    ]


# -- bake ------------------------------------------------------------------------------------------

BAKE = Policy(budgets=Budgets(bake_seconds=300.0, timeout_seconds=600.0))


@pytest.mark.contract("B54")
def test_a_moment_of_incompleteness_starts_the_window_again() -> None:
    """A pod is replaced at 100 s: no failure, but 300 s from where it is complete again."""
    player = rolling_out(policy=BAKE)
    player.pass_to(STARTED_AT + 100.0)
    ref = player.web
    lost = player.server.stored[ref].sets[-1].pods.pop()
    player.server.touch(ref)
    player.news()
    assert player.place == (Leg.FORWARD, State.FOLLOWING)
    player.server.stored[ref].sets[-1].pods.append(lost)
    player.server.touch(ref)
    player.news()
    assert player.place == (Leg.FORWARD, State.BAKING)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 400.0


@pytest.mark.contract("B1351")
@pytest.mark.parametrize(("acts_after", "ends_after"), [(150.0, 450.0), (math.inf, 900.0)])
def test_a_window_of_a_silent_controller_manager_is_watched_once_more(
    acts_after: float, ends_after: float
) -> None:
    """All of it, once it acts again, or as the budget has no more time: 600 s and the window."""
    player = rolling_out(policy=BAKE)
    player.pass_to(STARTED_AT + 80.0)
    player.hear(ControllersSilent(player.attempt.now, STARTED_AT + 60.0))
    assert player.place == (Leg.FORWARD, State.FOLLOWING)
    if acts_after < math.inf:
        player.pass_to(STARTED_AT + acts_after)
        player.hear(ControllersActed(player.attempt.now))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + ends_after


# -- somebody else's -------------------------------------------------------------------------------


def test_who_superseded_is_not_waited_for_longer_than_evidence() -> None:
    """The name is a courtesy: 2 s, then it ends without, and names nobody else instead."""
    server = Server(v2="stuck")
    ref = server.put(manifest("v1"))
    server.edit(ref, "reloader", {"spec.template.metadata.annotations.checksum": "abc"})
    server.control(ref)
    player = Player(server, planned(server, manifest("v2")))
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    player.server.edit(player.web, "kubectl-set", {IMAGE: "shop/web:v9"})
    player.news()
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.attempt.now == STARTED_AT + 2.0
    assert ending_of(player.attempt).message.endswith("shop/web:v9")


@pytest.mark.contract("B127")
@pytest.mark.parametrize("is_made_before_the_read", [True, False])
def test_what_is_made_again_is_not_called_gone(is_made_before_the_read: bool) -> None:
    """The deletion is heard of first: the read after it tells, or else the last look."""
    player = rolling_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    uid = player.server.stored[player.web].uid
    player.server.remove(player.web)

    def then_made(playing: Player, effect: Read) -> ReadBack:
        playing.server.put(manifest("v2"), "kubectl")
        return ReadBack(playing.attempt.now, effect.effect_id, Absent())

    if is_made_before_the_read:
        player.server.put(manifest("v2"), "kubectl")
    else:
        player.bend(Read, then_made)
    player.hear(Vanished(player.attempt.now, DEPLOYMENT, uid))
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert ending_of(player.attempt).message == "the Deployment was deleted and created again"


@pytest.mark.parametrize("bare", [False, True])
def test_the_lock_lost_before_the_first_write_is_a_refusal(bare: bool) -> None:
    """Nothing was written: 3, with or without a Deployment."""
    server = Server()
    player = Player(server, planned(server, config("a") if bare else manifest("v1")))
    player.hear(LeaseLost(player.attempt.now, "pipeline 7"))
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.LOCKED)
    assert not player.writes


# -- several Deployments ---------------------------------------------------------------------------


def two(policy: Policy | None = None, **behaviour: str) -> Player:
    """Begin to roll out `web` and `api`, both serving v1, to v2 and v3."""
    server = serving(manifest("v1", "api"), **behaviour)
    bodies = manifest("v2"), manifest("v3", "api")
    return Player(server, planned(server, *bodies, policy=policy))


@pytest.mark.contract("B30")
def test_one_superseded_leaves_the_other_to_its_own_verdict() -> None:
    """The other one is followed on, rolled back where it fails, and the worse code counts."""
    player = two(v2="stuck", v3="stuck")
    player.run_to(State.FOLLOWING)
    web, api = (one.ref for one in player.attempt.plan.targets)
    player.server.edit(web, "kubectl-set", {IMAGE: "shop/web:v9"})
    player.news()
    assert player.attempt.course.state is State.FOLLOWING
    player.behave("crash", "v3")
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.attempt.result.endings[api].outcome is Outcome.ROLLED_BACK
    assert player.written()[2:] == [("apply", "deployment/api")]


@pytest.mark.contract("B30")
def test_one_kept_in_failure_ends_both() -> None:
    """With nothing to write back, the one that was under way tells why it was left."""
    player = two(Policy(response=Response(on_failure=OnFailure.KEEP)), v2="stuck", v3="crash")
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.CRASH_LOOP)
    web, _ = (one.ref for one in player.attempt.plan.targets)
    assert "deployment/api failed" in player.attempt.result.endings[web].message


@pytest.mark.contract("B134", "B136")
@pytest.mark.parametrize(
    ("prune", "end"), [(False, (6, Outcome.FAILED)), (True, (4, Outcome.ROLLED_BACK))]
)
def test_a_good_first_deployment_beside_one_that_fails(
    prune: bool, end: tuple[int, Outcome]
) -> None:
    """Kept, the new version stands in part: 6. Pruned with the rest, nothing of it does: 4."""
    server = serving(v2="crash")
    policy = Policy(response=Response(prune_created=prune))
    player = Player(server, planned(server, manifest("v2"), manifest("v1", "api"), policy=policy))
    assert ends(player.run()) == (*end, Reason.CRASH_LOOP)
    api = player.attempt.plan.targets[1].ref
    assert (api in server.stored) is not prune
    assert player.attempt.result.endings[player.web].outcome is Outcome.ROLLED_BACK


# -- out of reach ----------------------------------------------------------------------------------


def test_a_server_gone_before_the_first_write_is_a_refusal() -> None:
    """Nothing was written, so nothing is unknown."""
    player = rolling_out()
    player.hold = (SaveRecord,)
    player.hear(ContactLost(player.attempt.now, "connection refused"))
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.UNREACHABLE)


@pytest.mark.contract("B28", "B115")
def test_a_verdict_that_cannot_be_confirmed_is_asked_again_until_the_end() -> None:
    """Unread is unknown: no rollback on it, a pause between the questions, then 9."""
    player = rolling_out(policy=Policy(budgets=Budgets(timeout_seconds=300.0)), v2="crash")

    player.bend(Read, unread, times=1000)
    assert ends(player.run()) == (9, Outcome.LOST_CONTACT, Reason.UNREACHABLE)
    assert player.attempt.now == STARTED_AT + 307.0
    assert player.written() == [("apply", "deployment/web")]
    assert 300 <= len(player.asked(Read)) <= 330
    assert len(player.lines("unread")) == 1


@pytest.mark.contract("B28", "B163")
@pytest.mark.parametrize("hold", [Read, Write], ids=lambda kind: kind.__name__)
def test_an_answer_that_never_comes_ends_within_the_bounds(hold: type[Asking]) -> None:
    """After the first write at most timeout and 10 s; what may be written is unknown."""
    player = rolling_out(policy=Policy(budgets=Budgets(timeout_seconds=300.0)), v2="crash")
    player.hold = (hold,)
    assert ends(player.run()) == (9, Outcome.LOST_CONTACT, Reason.UNREACHABLE)
    assert player.attempt.now <= STARTED_AT + 310.0


@pytest.mark.contract("B163")
def test_the_lock_that_cannot_be_given_back_holds_nobody_up() -> None:
    """Two seconds, then it ends all the same."""
    player = rolling_out()
    player.hold = (Release,)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 2.0


@pytest.mark.contract("B142")
def test_evidence_is_collected_beside_the_read_and_bounded() -> None:
    """The most telling pod's log is asked for; without an answer it goes on after 2 s."""
    player = rolling_out(v2="crash")
    player.hold = (Collect,)
    player.run_to(State.RECORDING, Leg.BACK)
    assert player.attempt.now == STARTED_AT + 2.0
    [asked] = player.asked(Collect)
    assert (asked.pod, asked.container, asked.previous) == ("web-2-p0", "web", True)
    assert not player.attempt.result.evidence


# -- answers ---------------------------------------------------------------------------------------


def test_an_answer_that_nobody_awaits_is_an_error() -> None:
    """It was asked by no effect, or is none to the effect that asked."""
    attempt = rolling_out().attempt
    (asked,) = attempt.requests.outstanding
    for answer in (Recorded(attempt.now, 1000), Released(attempt.now, asked)):
        with pytest.raises(UnexpectedAnswer):
            step(attempt, answer)


@pytest.mark.contract("B33")
def test_a_refusal_now_and_then_ends_nothing() -> None:
    """What is answered in between begins the count again, however often that happens."""
    player = rolling_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    for number in range(6):
        *before, last = refusals(player.attempt.now + 5.0 * number)
        for event in (*before, AccessGranted(last.at - 1.0, last.what), last):
            player.hear(event)
        player.hear(AccessGranted(last.at, last.what))
    assert player.attempt.interference.contact.refusal is None
    assert player.attempt.course.state is State.FOLLOWING
