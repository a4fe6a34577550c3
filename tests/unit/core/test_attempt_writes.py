"""Writes: each decided when it is sent, read again after a conflict or a lost answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.body import Body
from gate.core.model.fact import Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Asking, Read, Write
from gate.core.protocol.events import (
    AttemptEvent,
    ReadBack,
    Woke,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.policy import Budgets, OnFailure, OnFirstFailure, Policy, Response
from gate.report.document.remarks import remarks
from tests.unit.core import world
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.player import STARTED_AT, Player, ends, planned
from tests.unit.core.server import NOBODY, Server

IMAGE = 'spec.template.spec.containers[name="web"].image'


def serving(*bodies: dict[str, Any], **behaviour: str) -> Server:
    """Return a server that has v1 of `web`, and these objects."""
    server = Server(**behaviour)
    server.put(manifest("v1"))
    for body in bodies:
        server.put(body)
    return server


def lost(player: Player, effect: Write, *, done: bool) -> AttemptEvent:
    """Lose the answer to a write that was done, or was not."""
    if done:
        player.server.perform(effect, player.attempt.now)
    return WriteUncertain(player.attempt.now, effect.effect_id, "connection reset")


def rejected(player: Player, effect: Write, reason: Reason = Reason.REJECTED) -> AttemptEvent:
    """Refuse a write for good."""
    return WriteRejected(player.attempt.now, effect.effect_id, reason, CleanText("no"))


# -- on the way out --------------------------------------------------------------------------------


@pytest.mark.contract("B126")
def test_a_conflict_of_the_version_is_read_again_and_decided_again() -> None:
    """The controller writes status all the time: twenty in a row are no failure."""
    server = serving()
    player = Player(server, planned(server, manifest("v2")))

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        player.server.touch(effect.ref)
        return WriteConflicted(player.attempt.now, effect.effect_id)

    player.bend(Write, conflict, times=20)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert len(player.writes) == 21
    assert player.writes[-1].resource_version != player.writes[0].resource_version
    assert len([effect for effect in player.sent if isinstance(effect, Read)]) == 21


@pytest.mark.contract("B67")
def test_a_change_since_the_preflight_refuses_the_first_write() -> None:
    """Somebody's hot fix in the meantime must not vanish unseen: 3, nothing written."""
    server = serving()
    plan = planned(server, manifest("v2"))
    server.edit(plan.targets[0].ref, "kubectl-edit", {IMAGE: "shop/web:hotfix"})
    player = Player(server, plan)
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert len(player.writes) == 1


@pytest.mark.contract("B72", "B67")
@pytest.mark.parametrize("uncertain", [False, True])
def test_a_scale_to_zero_since_the_preflight_refuses_the_write(*, uncertain: bool) -> None:
    """Nobody owns the 0 then, so the server has no conflict: it stands, and the end is 3."""
    server = serving()
    player = Player(server, planned(server, manifest("v2")))

    if uncertain:
        player.bend(Write, partial(lost, done=False))
    server.edit(player.attempt.plan.targets[0].ref, NOBODY, {"spec.replicas": 0})
    ended = ends(player.run())
    assert ended == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert server.stored[player.web].leaves["spec.replicas"] == 0
    assert len(player.writes) == 1


@pytest.mark.parametrize("again", [False, True], ids=["gone", "made-again"])
def test_deleted_since_the_preflight_refuses_the_first_write(again: bool) -> None:
    """It is not made again: 3, nothing written."""
    server = serving()
    plan = planned(server, manifest("v2"))
    server.remove(plan.targets[0].ref)
    if again:
        server.put(manifest("v1"), "kubectl")
    assert ends(Player(server, plan).run()) == (3, Outcome.REFUSED, Reason.DELETED)


@pytest.mark.parametrize("manager", ["kubectl", "rollout-gate"])
@pytest.mark.parametrize("answer", ["conflict", "lost"])
def test_made_by_somebody_else_since_the_preflight_refuses_too(manager: str, answer: str) -> None:
    """A name that was free is not: what stands there is not ours, but for our own lost write."""
    server = Server()
    plan = planned(server, config("a"))
    server.put({**config("a"), "data": {"other": "b"}}, manager)
    player = Player(server, plan)
    if answer == "lost":
        player.bend(Write, lambda p, effect: lost(p, effect, done=False))
    else:
        player.bend(Write, lambda p, effect: WriteConflicted(p.attempt.now, effect.effect_id))
    refused = manager == "kubectl" or answer == "conflict"
    end = (3, Outcome.REFUSED, Reason.CONFLICT)
    assert ends(player.run()) == (end if refused else (0, Outcome.APPLIED, Reason.COMPLETE))


@pytest.mark.contract("B162")
@pytest.mark.parametrize("done", [True, False])
def test_a_write_whose_answer_was_lost_is_read_back_first(done: bool) -> None:
    """What is there already is not sent again, what is not is: one revision either way."""
    server = serving()
    player = Player(server, planned(server, manifest("v2")))
    player.bend(Write, lambda p, effect: lost(p, effect, done=done))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert [type(effect) for effect in player.sent[1:3]] == [Write, Read]
    assert len(player.writes) == (1 if done else 2)
    assert player.writes[-1].resource_version is not None
    assert server.stored[player.web].revision == 2


@pytest.mark.contract("B162")
@pytest.mark.parametrize("done", [True, False])
def test_what_somebody_deleted_after_a_lost_answer_is_theirs(done: bool) -> None:
    """8, whether ours was done before or never: it is not made again."""
    server = serving()
    player = Player(server, planned(server, manifest("v2")))

    def overtaken(p: Player, effect: Write) -> AttemptEvent:
        answer = lost(p, effect, done=done)
        server.remove(p.web)
        return answer

    player.bend(Write, overtaken)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert player.web not in server.stored


@pytest.mark.contract("B162")
def test_a_read_from_before_our_own_write_is_asked_again() -> None:
    """A server that is behind shows what was there before: nobody's change, and no verdict."""
    server = serving()
    player = Player(server, planned(server, manifest("v2")))
    before = {effect: server.read(effect) for effect in (player.web,)}

    def behind(p: Player, effect: Read) -> AttemptEvent:
        live = before[effect.ref]
        assert live is not None
        return ReadBack(p.attempt.now, effect.effect_id, Known(live), (), ())

    player.bend(Read, behind, times=2)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 2.0


@pytest.mark.contract("B129", "B162")
def test_a_200_after_a_lost_answer_does_not_say_who_created_it() -> None:
    """It may be about what our own first try has made, or another run's: it stays."""
    server = serving(v2="crash")
    server.merges_creations = True
    bodies = (config("a"), manifest("v2"))
    player = Player(
        server, planned(server, *bodies, policy=Policy(response=Response(prune_created=True)))
    )
    player.bend(Write, partial(lost, done=False))

    def landed(player: Player, effect: Write) -> AttemptEvent:
        player.server.put(config("a"), manager="rollout-gate")
        return player.answer(effect)

    player.bend(Write, landed)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert player.attempt.ledger.written[world.config_ref()].creator_unknown
    assert world.config_ref() in server.stored


@pytest.mark.contract("B129", "B134")
@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("kind", ["ConfigMap", "Deployment"])
def test_what_another_run_created_as_the_answer_was_lost_is_not_deleted(
    kind: str, done: bool
) -> None:
    """It asks for the same under the same name: only the answer 201 tells them apart."""
    server = Server(v2="crash")
    policy = Policy(response=Response(prune_created=True, on_first_failure=OnFirstFailure.DELETE))
    player = Player(server, planned(server, config("x"), manifest("v2"), policy=policy))

    def raced(player: Player, effect: Write) -> AttemptEvent:
        answer = lost(player, effect, done=done)
        if done:
            del player.server.stored[effect.ref]
        player.server.put(effect.body.thaw(), manager="rollout-gate")
        return answer

    if kind == "Deployment":
        player.bend(Write, lambda player, effect: player.answer(effect))
    player.bend(Write, raced)
    attempt = player.run()
    there = {ref.kind for ref in server.stored}
    assert kind in there, ends(attempt)
    (said,) = [line for line in remarks(attempt) if "was not deleted" in line]
    assert kind.lower() in said
    claims = [one.message for one in player.said if one.message.endswith(" created")]
    assert not any(kind.lower() in line for line in claims)


@pytest.mark.contract("B518")
def test_a_write_is_not_sent_again_before_the_server_wants_it() -> None:
    """Nor is it read: the server is left alone for as long as it has asked for."""
    server = serving()
    player = Player(server, planned(server, manifest("v2")))
    player.bend(Write, lambda p, e: WriteUncertain(p.attempt.now, e.effect_id, "429", 7.0))
    for kind in (Read, Write):
        player.bend(kind, lambda p, e: answered_from(STARTED_AT + 7.0, p, e))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert len(player.writes) == 2


def answered_from(at: float, player: Player, effect: Asking) -> AttemptEvent:
    """Let the server answer, which is not asked before."""
    assert player.attempt.now >= at
    return player.answer(effect)


@pytest.mark.contract("B32")
def test_rejected_after_others_and_no_way_back_is_5() -> None:
    """The way back is refused as well: a mixture."""
    server = serving(config("a"))
    player = Player(server, planned(server, config("b"), manifest("v2")))
    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, rejected, times=2)
    assert ends(player.run()) == (5, Outcome.ROLLBACK_FAILED, Reason.APPLY_REJECTED)


NEW_ONES = (manifest("v1", "api"), manifest("v1", "zone"))


@pytest.mark.contract("B32", "B39")
@pytest.mark.parametrize(
    ("policy", "api"),
    [
        (Policy(), Outcome.INCONCLUSIVE),
        (Policy(response=Response(prune_created=True)), Outcome.ROLLED_BACK),
        (Policy(response=Response(on_first_failure=OnFirstFailure.DELETE)), Outcome.ROLLED_BACK),
        (
            Policy(response=Response(on_first_failure=OnFirstFailure.SCALE_TO_ZERO)),
            Outcome.INCONCLUSIVE,
        ),
    ],
    ids=["left", "pruned", "deleted", "scaled-to-zero"],
)
def test_new_deployments_do_not_decide_whether_what_was_before_is_back(
    policy: Policy, api: Outcome
) -> None:
    """The old one goes back: 4. One that was created stays or goes, one was never written."""
    server = serving(config("a"))
    bodies = (config("b"), manifest("v2"), *NEW_ONES)
    player = Player(server, planned(server, *bodies, policy=policy))
    player.bend(Write, lambda p, e: p.answer(e), times=3)
    player.bend(Write, rejected)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    outcomes = {ref.name: one.outcome for ref, one in player.attempt.result.endings.items()}
    assert outcomes == {"web": Outcome.ROLLED_BACK, "api": api, "zone": Outcome.REFUSED}
    stays = api is Outcome.INCONCLUSIVE
    assert (ref_of(NEW_ONES[0]) in server.stored) is stays


@pytest.mark.contract("B32", "B27")
@pytest.mark.parametrize("readable", [True, False])
def test_a_deployment_that_somebody_created_meanwhile_is_theirs(readable: bool) -> None:
    """Its refusal is looked into before anything is said; what cannot be read was refused: 4."""
    server = Server()
    server.put(config("a"))
    player = Player(server, planned(server, config("b"), manifest("v2")))

    def created(player: Player, effect: Write) -> AttemptEvent:
        player.server.put(manifest("v3"), "kubectl-client-side-apply")
        return rejected(player, effect, Reason.CONFLICT)

    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, created)
    if not readable:
        player.bend(Read, lambda p, e: ReadBack(p.attempt.now, e.effect_id, Unknown("503")))
    end = (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    unknown = (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert ends(player.run()) == (end if readable else unknown)
    assert server.stored[world.config_ref()].leaves["data.mode"] == "a"


@pytest.mark.contract("B32", "B162")
@pytest.mark.parametrize(
    ("done", "end", "mode"),
    [
        (True, (0, Outcome.APPLIED, Reason.COMPLETE), "b"),
        (False, (3, Outcome.REFUSED, Reason.REJECTED), "a"),
    ],
)
def test_written_unseen_is_done_and_not_asked_for_again(
    done: bool, end: tuple[int, Outcome, Reason], mode: str
) -> None:
    """A server that would not have it by now is asked only where it was not done."""
    server = Server()
    server.put(config("a"))
    player = Player(server, planned(server, config("b")))
    player.bend(Write, lambda p, e: lost(p, e, done=done))
    player.bend(Write, rejected)
    assert ends(player.run()) == end
    assert server.stored[world.config_ref()].leaves["data.mode"] == mode


@pytest.mark.contract("B32")
@pytest.mark.parametrize("on_failure", [OnFailure.KEEP, OnFailure.PAUSE])
def test_a_part_of_an_apply_is_no_version_to_keep(on_failure: OnFailure) -> None:
    """What was written goes back, also where a version that fails would be kept or paused."""
    server = serving(config("a"))
    policy = Policy(response=Response(on_failure=on_failure))
    player = Player(server, planned(server, config("b"), manifest("v2"), policy=policy))
    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, rejected)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert server.stored[world.config_ref()].leaves["data.mode"] == "a"


@pytest.mark.contract("B32", "B127")
def test_a_deployment_that_is_deleted_before_its_write_is_gone() -> None:
    """The ConfigMap goes back, and nobody is told that the version before runs: 8."""
    server = serving(config("a"))
    player = Player(server, planned(server, config("b"), manifest("v2")))

    def deleted(player: Player, effect: Write) -> AttemptEvent:
        player.server.remove(effect.ref)
        return rejected(player, effect)

    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, deleted)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert server.stored[world.config_ref()].leaves["data.mode"] == "a"


@pytest.mark.contract("B32", "B127")
def test_a_deployment_that_was_made_again_as_it_was_is_somebody_elses() -> None:
    """By its uid: what served before went with the first one, and ours is not sent over it."""
    server = serving(config("a"))
    player = Player(server, planned(server, config("b"), manifest("v2")))
    player.run(lambda attempt: world.config_ref() in attempt.ledger.written)
    server.remove(world.WEB)
    server.put(manifest("v1"))
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)
    assert server.stored[world.WEB].image == "shop/web:v1"
    assert server.stored[world.config_ref()].leaves["data.mode"] == "a"


def test_conflicts_beyond_the_budget_take_back_what_was_written() -> None:
    """A write that never gets through is given up with the budget, not with the contact."""
    server = serving(config("a"))
    policy = Policy(budgets=Budgets(timeout_seconds=60.0))
    player = Player(server, planned(server, config("b"), manifest("v2"), policy=policy))

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        if player.attempt.course.leg is Leg.BACK or effect.ref.kind == "ConfigMap":
            return player.answer(effect)
        player.hear(Woke(player.attempt.now + 1.0))
        return WriteConflicted(player.attempt.now, effect.effect_id)

    player.bend(Write, conflict, times=1000)
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert attempt.result.why_back is not None
    assert attempt.result.why_back.causes[0].reason is Reason.TIMEOUT


# -- taking over, and several writes of one object -------------------------------------------------


def taking_over(server: Server, ref: Ref, image: str, *more: PlannedWrite) -> Player:
    """Begin to apply over what `kubectl apply` made, taking its fields over first."""
    plan = planned(server, manifest(image))
    body = Body.of({"managedFields": [{"manager": "rollout-gate", "operation": "Apply"}]})
    over = PlannedWrite(ref, Verb.TAKE_OVER, body)
    return Player(server, replace(plan, writes=(over, *plan.writes, *more)))


@pytest.mark.contract("B62")
@pytest.mark.parametrize("taken", [True, False])
def test_a_refusal_after_the_take_over_says_that_ownership_moved(taken: bool) -> None:
    """It changes nothing that runs, so it is 3 all the same."""
    server = Server()
    player = taking_over(server, server.put(manifest("v1"), "kubectl-client-side-apply"), "v2")
    if taken:
        player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, rejected)
    attempt = player.run()
    assert ends(attempt) == (3, Outcome.REFUSED, Reason.REJECTED)
    assert attempt.result.ending is not None
    assert ("taken over" in attempt.result.ending.message) is taken


def test_a_take_over_that_conflicts_takes_the_fields_as_they_are_by_then() -> None:
    """Another manager that came in between keeps what it owns."""
    server = Server()
    ref = server.put(manifest("v1"), "kubectl-client-side-apply")
    player = taking_over(server, ref, "v2")
    server.edit(ref, "labeller", {"metadata.labels.team": "shop"})
    assert ends(player.run())[0] == 0
    sent = [one for one in player.writes if one.verb is Verb.TAKE_OVER]
    managers = [[e["manager"] for e in one.body.thaw()["managedFields"]] for one in sent]
    assert managers == [["rollout-gate"], ["rollout-gate", "labeller"]]
    assert ("labeller", "Update") in server.stored[ref].parts


@pytest.mark.contract("B30")
def test_a_second_write_is_not_sent_to_what_somebody_else_has_taken_over() -> None:
    """Superseded between apply and resume: its sibling alone is written on."""
    server = serving(manifest("v1", "api"))
    resume = PlannedWrite(world.WEB, Verb.MERGE, Body.of({"spec": {"paused": False}}))
    plan = planned(server, manifest("v2"), manifest("v2", "api"))
    web, api = plan.writes
    player = Player(server, replace(plan, writes=(web, resume, api)))

    def overtaken(player: Player, effect: Write) -> AttemptEvent:
        player.server.edit(effect.ref, "kubectl-set", {IMAGE: "shop/web:v9"})
        return player.answer(effect)

    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(Write, overtaken)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.written() == [("apply", "deployment/web"), ("apply", "deployment/api")]


# -- on the way back -------------------------------------------------------------------------------


def failing(*bodies: dict[str, Any], policy: Policy | None = None) -> Player:
    """Begin to roll a crashing v2 out, after these objects."""
    server = serving(*bodies, v2="crash")
    changed = [config("b", body["metadata"]["name"]) for body in bodies]
    return Player(server, planned(server, *changed, manifest("v2"), policy=policy))


@pytest.mark.contract("B125", "B126")
def test_the_rollback_meets_conflicts_as_the_apply_does() -> None:
    """Read again, decided again, each with the uid and the version that was read."""
    player = failing()
    player.run_to(State.RECORDING, Leg.BACK)
    player.bend(Write, lambda p, e: WriteConflicted(p.attempt.now, e.effect_id), times=20)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert all(write.uid and write.resource_version for write in player.writes)


@pytest.mark.contract("B27", "B124")
@pytest.mark.parametrize("seen", ["watch", "conflict", "lost-answer"])
def test_superseded_between_verdict_and_rollback_is_not_written_to(seen: str) -> None:
    """Whether a watch tells, or only the read after a conflict: no write, 8."""
    player = failing()
    player.run_to(State.RECORDING, Leg.BACK)
    ref = player.web
    player.server.edit(ref, "kubectl-set", {IMAGE: "shop/web:v9"})
    if seen == "watch":
        player.news()
    if seen == "lost-answer":
        player.bend(Write, lambda p, e: lost(p, e, done=False))
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.server.stored[ref].image == "shop/web:v9"
    assert len(player.writes) == (1 if seen == "watch" else 2)


@pytest.mark.contract("B127")
@pytest.mark.parametrize("seen", ["watch", "conflict", "refusal"])
@pytest.mark.parametrize("again", [False, True], ids=["gone", "made-again"])
def test_deleted_between_verdict_and_rollback_is_not_made_again(seen: str, again: bool) -> None:
    """However it is learned: `Deleted`, 8, and nothing is created."""
    player = failing()
    player.run_to(State.RECORDING, Leg.BACK)
    ref = player.web
    player.server.remove(ref)
    if again:
        player.server.put(manifest("v2"), "kubectl")
    if seen == "watch":
        player.news()
    if seen == "refusal":
        player.bend(Write, rejected)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert (ref in player.server.stored) is again


@pytest.mark.contract("B75")
def test_a_number_of_replicas_that_nobody_else_owns_stays_on_the_way_back() -> None:
    """As after `kubectl scale --replicas=0`: there is no conflict that keeps the rollback off."""
    player = failing()
    player.run_to(State.RECORDING, Leg.BACK)
    player.server.edit(player.web, FIELD_MANAGER, {"spec.replicas": 9})
    player.run()
    assert player.writes[-1].body.thaw()["spec"]["replicas"] == 9
    assert player.server.stored[player.web].leaves["spec.replicas"] == 9


@pytest.mark.contract("B140")
def test_a_field_of_others_inside_the_template_is_5() -> None:
    """The template cannot be restored in part; the cause names the conflict."""
    player = failing()
    player.run_to(State.RECORDING, Leg.BACK)

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        paths = (f".{IMAGE}", ".spec.replicas")
        now, number = player.attempt.now, effect.effect_id
        return WriteRejected(now, number, Reason.CONFLICT, CleanText("conflict with x"), paths)

    player.bend(Write, conflict)
    attempt = player.run()
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP)
    assert attempt.result.ending is not None
    assert attempt.result.ending.causes[-1].reason is Reason.CONFLICT
