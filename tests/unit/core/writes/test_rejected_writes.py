"""A write that is refused for good after others were done: they go back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.model.body import Body
from gate.core.model.fact import Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import AttemptEvent, ReadBack, Woke, WriteConflicted
from gate.core.rollout.policy import Budgets, OnFailure, OnFirstFailure, Policy, Response
from tests.unit.core import world
from tests.unit.core.leaves import IMAGE, config, manifest, ref_of
from tests.unit.core.player import Player, ends, planned, rejected, serving
from tests.unit.core.server import Server


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
