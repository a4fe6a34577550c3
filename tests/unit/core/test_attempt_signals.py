"""A signal: by policy at most one write an object, nothing waited for, the end within 5 s."""

from __future__ import annotations

import pytest

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Asking, Collect, Read, Release, SaveRecord, Write
from gate.core.protocol.events import Interrupted, WriteConflicted, WriteUncertain
from gate.core.rollout.policy import OnFailure, OnInterrupt, Policy
from gate.report.document.remarks import uncertain_writes
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import STARTED_AT, Player, ends, planned, watched
from tests.unit.core.server import Server

TERM, HUP = 15, 1
INTERRUPTED = (143, Outcome.INTERRUPTED, Reason.INTERRUPTED)


def rolling(policy: OnInterrupt = OnInterrupt.AUTO, what: str = "crashed-once") -> Player:
    """Begin to roll v2 out, with a ConfigMap; its pods have crashed once."""
    server = Server(v2=what)
    server.put(manifest("v1"))
    server.put(config("a"))
    limits = Policy(on_interrupt=policy, bake_seconds=60.0)
    return Player(server, planned(server, config("b"), manifest("v2"), policy=limits))


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
        assert attempt.result.ending is not None
        assert attempt.result.ending.message == "nothing was written"


@pytest.mark.contract("B29")
def test_the_code_is_128_and_the_first_signal() -> None:
    """HUP is 129; one that comes after it changes nothing."""
    player = rolling()
    player.hold = (SaveRecord, Release)
    player.hear(Interrupted(player.attempt.now, HUP))
    attempt = interrupted(player)
    assert attempt.exit_code == 129
    assert attempt.now == STARTED_AT + 2.0, "the lock is given back, in bounds"


EVIDENCE = [
    (OnInterrupt.AUTO, "crashed-once", True),
    (OnInterrupt.AUTO, "stuck", False),
    (OnInterrupt.ROLLBACK, "stuck", True),
    (OnInterrupt.KEEP, "crashed-once", False),
]


@pytest.mark.contract("B151", "B153")
@pytest.mark.parametrize(("policy", "what", "back"), EVIDENCE)
def test_while_following_it_goes_back_by_policy_and_evidence(
    policy: OnInterrupt, what: str, back: bool
) -> None:
    """One write for each changed object, then the end without waiting for the pods."""
    player = rolling(policy, what)
    player.run_to(State.FOLLOWING)
    attempt = interrupted(player)
    assert ends(attempt) == INTERRUPTED
    names = ["configmap/settings", "deployment/web"]
    assert [name for _, name in player.written()] == (names + names if back else names)
    assert attempt.now == STARTED_AT
    assert attempt.result.ending is not None
    assert (attempt.course.leg is Leg.BACK) is back
    assert bool(attempt.result.ending.causes) is back
    why = attempt.result.why_back.message if attempt.result.why_back is not None else None
    assert why == ("ended by SIGTERM" if back else None)


@pytest.mark.contract("B151")
def test_while_baking_a_good_version_is_left_alone() -> None:
    """A spot runner's signal is no evidence."""
    player = rolling(what="good")
    player.run_to(State.BAKING)
    assert ends(interrupted(player)) == INTERRUPTED
    assert len(player.writes) == 2


@pytest.mark.contract("B151", "B153")
@pytest.mark.parametrize("policy", list(OnInterrupt))
def test_while_a_failure_is_confirmed_nothing_is_waited_for(policy: OnInterrupt) -> None:
    """With evidence it goes back without the read that is under way; `keep` keeps."""
    player = rolling(policy, "crash")
    player.hold = (Read, Collect)
    player.run_to(State.CONFIRMING)
    attempt = interrupted(player)
    assert ends(attempt) == INTERRUPTED
    assert len(player.writes) == (2 if policy is OnInterrupt.KEEP else 4)


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
@pytest.mark.parametrize("policy", list(OnInterrupt))
def test_a_write_under_way_is_waited_for_in_bounds(policy: OnInterrupt) -> None:
    """Its answer never comes: 5 s after the signal it is over, and nothing more was sent."""
    player = rolling(policy)
    player.hold = (Write, Release)
    player.run_to(State.WRITING)
    assert ends(interrupted(player)) == INTERRUPTED
    assert len(player.writes) == 1


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
    assert attempt.result.ending is not None
    assert attempt.result.ending.message == "the rollback was written, not verified"


@pytest.mark.contract("B153")
@pytest.mark.parametrize("hold", [SaveRecord, Write, Read], ids=lambda kind: kind.__name__)
def test_a_way_back_that_does_not_get_through_ends_in_time(hold: type[Asking]) -> None:
    """The report says that it was not written."""
    player = rolling(OnInterrupt.ROLLBACK)
    player.run_to(State.FOLLOWING)
    player.hold = (hold,)
    player.bend(Write, lambda p, e: WriteConflicted(p.attempt.now, e.effect_id))
    attempt = interrupted(player)
    assert ends(attempt) == INTERRUPTED
    assert attempt.result.ending is not None
    assert "not written in time" in attempt.result.ending.message


@pytest.mark.contract("B153")
def test_conflicts_after_a_signal_are_decided_again() -> None:
    """What conflicted was not written: the object is still to be restored, once."""
    player = rolling(OnInterrupt.ROLLBACK)
    player.run_to(State.FOLLOWING)
    player.bend(Write, lambda p, e: WriteConflicted(p.attempt.now, e.effect_id), times=3)
    assert ends(interrupted(player)) == INTERRUPTED
    assert player.server.stored[player.web].image == "shop/web:v1"


def two_to_return() -> Player:
    """Roll out two Deployments and a ConfigMap, which a signal returns; writes wait from then."""
    server = Server(v2="stuck")
    for body in (manifest("v1"), manifest("v1", "api"), config("a")):
        server.put(body)
    limits = Policy(on_interrupt=OnInterrupt.ROLLBACK)
    objects = (config("b"), manifest("v2"), manifest("v2", "api"))
    player = Player(server, planned(server, *objects, policy=limits))
    player.run_to(State.FOLLOWING)
    player.hold = (Write,)
    return player


@pytest.mark.contract("B153", "B165")
def test_after_a_signal_deployments_go_back_side_by_side() -> None:
    """Configuration first, then both at once; each is answered in its own time."""
    player = two_to_return()
    player.hear(Interrupted(player.attempt.now, TERM))
    player.run(at_most=player.attempt.now)
    assert [str(effect.ref) for effect in _waiting(player)] == ["configmap/settings"]
    player.hear(player.answer(player.waiting.pop(0)))
    player.run(at_most=player.attempt.now)
    both = _waiting(player)
    assert {effect.ref.name for effect in both} == {"api", "web"}
    player.hold = ()
    for effect in reversed(both):
        player.waiting.remove(effect)
        player.hear(player.answer(effect))
    attempt = player.run()
    assert ends(attempt) == INTERRUPTED
    assert {ref.name for ref in attempt.ledger.restored} == {"settings", "api", "web"}


@pytest.mark.contract("B153", "B165")
@pytest.mark.parametrize(
    ("kinds", "batches"),
    [
        (("ConfigMap", "Secret", "ConfigMap"), [3]),
        (("Service", "Service", "ConfigMap"), [2, 1]),
        (("Namespace", "Widget", "Gadget"), [1, 1, 1]),
    ],
)
def test_after_a_signal_configuration_goes_back_by_kind(
    kinds: tuple[str, ...], batches: list[int]
) -> None:
    """What may depend on each other is written one after another, all before the Deployment."""
    server = Server(v2="stuck")
    bodies = [
        {**config(version, f"c{number}"), "kind": kind}
        for version in ("a", "b")
        for number, kind in enumerate(kinds)
    ]
    for body in (*bodies[: len(kinds)], manifest("v1")):
        server.put(body)
    policy = Policy(on_interrupt=OnInterrupt.ROLLBACK)
    plan = planned(server, *bodies[len(kinds) :], manifest("v2"), policy=policy)
    player = Player(server, plan)
    player.run_to(State.FOLLOWING)
    player.hold = (Write,)
    player.hear(Interrupted(player.attempt.now, TERM))
    found: list[list[str]] = []
    while not found or found[-1] != ["Deployment"]:
        player.run(at_most=player.attempt.now)
        under_way = _waiting(player)
        found.append([effect.ref.kind for effect in under_way])
        for effect in under_way:
            player.waiting.remove(effect)
            player.hear(player.answer(effect))
    assert [len(batch) for batch in found] == [*batches, 1]


@pytest.mark.contract("B153", "B162", "B165")
def test_side_by_side_a_lost_answer_is_read_back_beside_the_others() -> None:
    """One is uncertain, one conflicts: each is read and decided again, by what is known of it."""
    player = two_to_return()
    player.hold = ()
    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, lambda p, e: WriteUncertain(p.attempt.now, e.effect_id, "reset"))
    player.bend(Write, lambda p, e: WriteConflicted(p.attempt.now, e.effect_id))
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
    player.hold = ()
    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, lambda _, __: None, times=2)
    attempt = interrupted(player)
    assert {ref.name for ref in uncertain_writes(attempt)} == {"api", "web"}


def _waiting(player: Player) -> list[Write]:
    return [effect for effect in player.waiting if isinstance(effect, Write)]


@pytest.mark.contract("B151", "B162")
def test_a_write_that_is_uncertain_when_the_signal_comes() -> None:
    """There is no time to find out: it ends, and the report tells what is not known."""
    player = rolling(OnInterrupt.ROLLBACK)
    player.hold = (Read,)
    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, lambda p, e: WriteUncertain(p.attempt.now, e.effect_id, "reset"))
    player.run(at_most=player.attempt.now)
    attempt = interrupted(player)
    assert ends(attempt) == INTERRUPTED


@pytest.mark.contract("B29")
def test_verify_is_ended_by_a_signal_too() -> None:
    """It wrote nothing, and leaves the rollout as it is."""
    server = Server(v1="stuck")
    player = Player(server, watched(server, server.put(manifest("v1"), "helm")))
    player.run_to(State.FOLLOWING)
    attempt = interrupted(player)
    assert ends(attempt) == INTERRUPTED
    assert attempt.result.ending is not None
    assert attempt.result.ending.message == "the rollout was left as it is"


@pytest.mark.contract("B34")
def test_observe_writes_nothing_after_a_signal_either() -> None:
    """A signal ends it by the signal's code."""
    server = Server(v2="crash")
    server.put(manifest("v1"))
    limits = Policy(on_interrupt=OnInterrupt.ROLLBACK, observe=True)
    player = Player(server, planned(server, manifest("v2"), policy=limits))
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    assert ends(interrupted(player)) == INTERRUPTED
    assert len(player.writes) == 1


@pytest.mark.contract("B135")
def test_with_pause_a_signal_pauses_by_policy() -> None:
    """What a failure would have done is what the signal does."""
    server = Server(v2="crashed-once")
    server.put(manifest("v1"))
    limits = Policy(on_failure=OnFailure.PAUSE)
    player = Player(server, planned(server, manifest("v2"), policy=limits))
    player.run_to(State.FOLLOWING)
    assert ends(interrupted(player)) == INTERRUPTED
    assert player.written()[1:] == [("merge", "deployment/web")]


def test_one_of_two_superseded_and_a_signal_is_still_the_signal() -> None:
    """The whole attempt ended by it, whatever became of one part."""
    server = Server(v2="stuck", v3="stuck")
    server.put(manifest("v1"))
    server.put(manifest("v1", "api"))
    player = Player(server, planned(server, manifest("v2"), manifest("v3", "api")))
    player.run_to(State.FOLLOWING)
    image = 'spec.template.spec.containers[name="web"].image'
    server.edit(player.web, "kubectl-set", {image: "shop/web:v9"})
    player.news()
    assert ends(interrupted(player)) == INTERRUPTED
    assert player.attempt.result.endings[player.web].outcome is Outcome.SUPERSEDED


def test_a_signal_does_not_wait_for_the_name_of_who_took_over() -> None:
    """What is somebody else's already is left at once."""
    server = Server(v2="stuck")
    server.put(manifest("v1"))
    player = Player(server, planned(server, manifest("v2")))
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    image = 'spec.template.spec.containers[name="web"].image'
    server.edit(player.web, "kubectl-set", {image: "shop/web:v9"})
    player.news()
    attempt = interrupted(player)
    assert attempt.now == STARTED_AT
    assert ends(attempt) == INTERRUPTED
    assert attempt.result.endings[player.web].outcome is Outcome.SUPERSEDED
