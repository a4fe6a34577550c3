"""Once all workloads are complete, every other object that was written has to be ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.model.readiness import Readiness, ReadinessKind
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import Suspended, WriteRejected
from gate.core.rollout.policy import Budgets, ObjectWait, OnFailure, Policy, Response, WaitFor
from gate.report.views.timeline import waiting_for
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.player import Player, ending_of, ends, planned, serving
from tests.unit.core.recovery.test_resumption import Dying, plan_of, resumed

ALL = Policy(object_wait=ObjectWait(WaitFor.ALL, 120.0))
READY = Readiness(ReadinessKind.READY)
NOT_YET = Readiness(ReadinessKind.NOT_YET, CleanText("Ready is False: NoIssuer"))
STALLED = Readiness(ReadinessKind.FAILED, CleanText("Stalled is True: Denied"))


def custom(value: str, kind: str = "Certificate") -> dict[str, Any]:
    """Return an object of a custom kind."""
    named = {"apiVersion": "example.com/v1", "kind": kind}
    return {**config(value, "own"), **named}


OWN = ref_of(custom("1"))


def applying(
    *bodies: Mapping[str, Any],
    readiness: Readiness | None = None,
    policy: Policy = ALL,
    **more: str,
) -> Player:
    """Return an apply over `web` and the object OWN; by default both change."""
    server = serving(config("1"), custom("1"), **more)
    if readiness is not None:
        server.readiness[OWN] = readiness
    wanted = bodies or (config("2"), custom("2"), manifest("v3"))
    return Player(server, planned(server, *wanted, policy=policy))


def reads(player: Player) -> list[Read]:
    """Return the reads of OWN alone that were sent."""
    return [one for one in player.asked(Read) if one.ref == OWN]


@pytest.mark.contract("B986")
def test_the_end_waits_for_objects_that_are_not_ready() -> None:
    """They are read once the workloads are complete, at a pace; then the attempt is verified."""
    player = applying(readiness=Readiness(ReadinessKind.UNJUDGED), v3="stuck")
    player.run_to(State.FOLLOWING)
    player.pass_to(player.attempt.now + 20)
    assert not reads(player)
    player.server.readiness[OWN] = NOT_YET
    player.behave("good", "v3")
    player.run_to(State.AWAITING)
    player.pass_to(player.attempt.now + 20)
    assert 9 <= len(reads(player)) <= 12
    said = waiting_for(player.attempt, player.attempt.now)
    assert said == "certificate/own is not ready: Ready is False: NoIssuer"
    player.server.readiness[OWN] = READY
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    found = {ref.name: one.kind for ref, one in player.attempt.result.objects.items()}
    assert found == {"settings": ReadinessKind.UNJUDGED, "own": ReadinessKind.READY}


@pytest.mark.contract("B987", "B1365")
@pytest.mark.parametrize(
    ("readiness", "slept_seconds"), [(NOT_YET, 0.0), (NOT_YET, 500.0), (STALLED, 0.0)]
)
def test_an_object_that_is_not_ready_in_time_fails_the_attempt(
    readiness: Readiness, slept_seconds: float
) -> None:
    """It goes back as for a failed check, with the words of the object's own conditions."""
    player = applying(readiness=readiness)
    if slept_seconds:
        player.run_to(State.AWAITING)
        player.hear(Suspended(player.attempt.now + slept_seconds, slept_seconds))
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.OBJECT_NOT_READY)
    waited = player.attempt.course.leg_at - 100.0 - slept_seconds
    assert waited == pytest.approx(120 if readiness is NOT_YET else 2, abs=4)
    late = " is not ready after 120 s" if readiness is NOT_YET else ""
    assert ending_of(player.attempt).message == f"certificate/own{late}: {readiness.why}"
    assert [write.ref.name for write in player.server.done][-3:] == ["settings", "own", "web"]


@pytest.mark.contract("B1233")
def test_an_object_that_fails_during_the_bake_window_fails_the_attempt() -> None:
    """It is read again meanwhile, and the end of the window is not waited for."""
    player = applying(readiness=READY, policy=replace(ALL, budgets=Budgets(bake_seconds=100.0)))
    player.run_to(State.BAKING)
    began_at = player.attempt.now
    player.server.readiness[OWN] = STALLED
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.OBJECT_NOT_READY)
    assert player.attempt.course.leg_at - began_at == pytest.approx(30, abs=2)


@pytest.mark.contract("B987")
def test_without_a_workload_it_fails_the_attempt_all_the_same() -> None:
    """What was written goes back; `--on-failure keep` leaves it, 6."""
    bodies = (config("2"), custom("2"))
    player = applying(*bodies, readiness=NOT_YET)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.OBJECT_NOT_READY)
    kept = Policy(response=Response(on_failure=OnFailure.KEEP), object_wait=ALL.object_wait)
    player = applying(*bodies, readiness=NOT_YET, policy=kept)
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.OBJECT_NOT_READY)


@pytest.mark.contract("B988")
def test_what_was_not_ready_before_and_is_not_changed_fails_nothing() -> None:
    """It is none of this attempt's doing; it is named as not judged."""
    player = applying(custom("1"), manifest("v3"), readiness=NOT_YET)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    found = player.attempt.result.objects[OWN]
    assert found == Readiness(ReadinessKind.UNJUDGED, NOT_YET.why)


@pytest.mark.contract("B988")
def test_workloads_alone_are_waited_for_where_that_is_asked() -> None:
    """No other object is read before the last look."""
    player = applying(readiness=NOT_YET, policy=Policy(object_wait=ObjectWait(WaitFor.WORKLOADS)))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert State.AWAITING not in {state for _, state in player.places}


@pytest.mark.contract("B986")
def test_workloads_are_judged_while_objects_are_waited_for() -> None:
    """A version that breaks meanwhile fails as in any other state."""
    player = applying(readiness=NOT_YET)
    player.run_to(State.AWAITING)
    player.behave("crash", "v3")
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)


@pytest.mark.contract("B986")
@pytest.mark.parametrize(("count", "rounds"), [(8, 11), (20, 5)])
def test_many_objects_are_read_no_faster_than_a_few(count: int, rounds: int) -> None:
    """Every 2 s as long as that makes four a second at most."""
    many = [config("2", f"own-{number}") for number in range(count)]
    server = serving()
    for body in many:
        server.readiness[ref_of(body)] = NOT_YET
    player = Player(server, planned(server, *many, manifest("v3"), policy=ALL))
    player.run_to(State.AWAITING)
    before, since = len(player.asked(Read)), player.attempt.now
    player.pass_to(since + 20)
    found = [one for one in player.asked(Read)[before:] if not one.whole_rollout]
    assert count * (rounds - 1) <= len(found) <= count * rounds
    assert len(found) <= 4 * 20 + count


@pytest.mark.contract("B989")
def test_a_claim_that_no_pod_uses_is_not_waited_for() -> None:
    """It may never be bound; one that is used has to be."""
    claim = {**config("2", "data"), "kind": "PersistentVolumeClaim"}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    using = manifest("v3")
    using["spec"]["template"]["spec"]["volumes"] = volumes
    for workload, expected in ((manifest("v3"), 0), (using, 4)):
        server = serving()
        server.readiness[ref_of(claim)] = Readiness(ReadinessKind.NOT_YET, CleanText("Pending"))
        player = Player(server, planned(server, claim, workload, policy=ALL))
        assert player.run().exit_code == expected


@pytest.mark.contract("B990")
def test_a_server_that_lags_behind_is_asked_again_for_10_s() -> None:
    """A 404 to what needs a ready definition is repeated; then it is a refusal like any."""
    widget, definition = custom("2"), config("2", "definition")
    needs = {ref_of(widget): (ref_of(definition),)}
    for times, expected in ((5, 0), (11, 4)):
        server = serving(config("1", "definition"))
        plan = planned(server, definition, widget, manifest("v3"), needs=needs)
        player = Player(server, plan)
        player.let_pass(Write)
        player.bend(Write, _not_found, times=times)
        assert player.run().exit_code == expected
        tries = [one for one in player.writes if one.ref == ref_of(widget)]
        assert len(tries) == (6 if expected == 0 else 11)
        assert player.place == (Leg.BACK if expected else Leg.FORWARD, State.ENDED)


def _not_found(player: Player, effect: Write) -> WriteRejected:
    text = CleanText("the server could not find the requested resource")
    return WriteRejected(player.attempt.now, effect.effect_id, Reason.NOT_FOUND, text)


@pytest.mark.contract("B986")
@pytest.mark.parametrize("is_ready", [True, False])
def test_a_recovery_waits_for_objects_as_the_attempt_did(is_ready: bool) -> None:
    """All stands, and the workloads are complete: what is not ready yet still decides."""
    server = serving(config("1"), custom("1"))
    server.readiness[OWN] = NOT_YET
    bodies = (config("2"), custom("2"), manifest("v3"))
    player = Dying(server, plan_of(server, *bodies, policy=ALL))
    player.run(lambda attempt: attempt.course.state is State.AWAITING)
    plan = resumed(server, player.record)
    assert plan is not None
    again = Player(server, plan)
    again.run_to(State.AWAITING)
    if is_ready:
        server.readiness[OWN] = READY
    assert again.run().exit_code == (0 if is_ready else 4)
