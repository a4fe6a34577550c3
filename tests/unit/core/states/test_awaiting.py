"""Writes that wait for what was written before: the phases of a plan, and what an object needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.body import Body, FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.model.readiness import Readiness, ReadinessKind
from gate.core.plan.phases import Phase
from gate.core.plan.target_set import TargetSet
from gate.core.protocol.effects import Read
from gate.core.protocol.events import Interrupted, LeaseLost
from gate.core.rollout.policy import Budgets, OnFailure, OnInterrupt, Policy, Response
from gate.report.document.document import document
from gate.report.document.run import Run, RunIdentity, RunTimes
from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.unit.core.leaves import IMAGE, config, manifest, ref_of
from tests.unit.core.player import Player, ending_of, ends, planned, serving
from tests.unit.core.recovery.test_resumption import Dying, deaths, plan_of, resumed
from tests.unit.core.server import Server

FIRST, LAST = {"job": Phase.BEFORE}, {"job": Phase.AFTER}
NOT_YET = Readiness(ReadinessKind.NOT_YET, CleanText("Established is False: installing"))
READY = Readiness(ReadinessKind.READY)
WIDGET = ref_of(config("1", "widget"))
DEFINITION = ref_of(config("1", "definition"))
WEB, SETTINGS = ref_of(manifest("v1")), ref_of(config("1"))


def applying(
    phases: Mapping[str, Phase],
    *bodies: Mapping[str, Any],
    served: tuple[str, ...] = ("web",),
    policy: Policy | None = None,
    **behaviour: str,
) -> Player:
    """Return an apply of `bodies`, by default settings, the workload `job` and then `web`."""
    server = Server(**behaviour)
    for name in served:
        server.put(manifest("v1", name))
    server.put(config("1", "settings"))
    wanted = bodies or (config("2", "settings"), manifest("job", "job"), manifest("v3"))
    return Player(server, planned(server, *wanted, phases=phases, policy=policy))


def needing(readiness: Readiness, *, beside: bool = True) -> Player:
    """Return an apply of a definition, of an object that needs it, and of `web` beside them."""
    server = serving(config("1", "settings"))
    server.readiness[DEFINITION] = readiness
    bodies = (
        config("2", "settings"),
        config("1", "definition"),
        config("1", "widget"),
        *([manifest("v3")] if beside else []),
    )
    needs = {WIDGET: (DEFINITION,)}
    return Player(server, planned(server, *bodies, needs=needs))


def names(player: Player) -> list[str]:
    """Return the objects that the server has written, in order."""
    return [write.ref.name for write in player.server.done]


def endings(attempt: Attempt) -> dict[str, tuple[Outcome, str]]:
    """Return how each workload ended and what is said of it, by name."""
    found = attempt.result.endings.items()
    return {ref.name: (ending.outcome, ending.message) for ref, ending in found}


@pytest.mark.contract("B980")
def test_what_comes_first_is_complete_before_the_rest_is_written() -> None:
    """Nothing behind it is sent until its verdict; then the attempt goes on as any."""
    player = applying(FIRST, job="stuck")
    player.run_to(State.AWAITING)
    player.pass_to(player.attempt.now + 60)
    assert names(player) == ["settings", "job"]
    player.behave("good", "job")
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert names(player) == ["settings", "job", "web"]


@pytest.mark.contract("B980")
def test_what_comes_last_is_written_once_the_rest_is_complete() -> None:
    """It stood first in the manifest; a version that breaks meanwhile goes back without it."""
    bodies = (manifest("job", "job"), config("2", "settings"), manifest("v3"))
    player = applying(LAST, *bodies, v3="stuck")
    player.run_to(State.AWAITING)
    assert names(player) == ["settings", "web"]
    player.behave("good", "v3")
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert names(player) == ["settings", "web", "job"]

    broken = applying(LAST, *bodies, v3="crash")
    assert ends(broken.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert "job" not in names(broken)
    assert endings(broken.attempt)["job"][0] is Outcome.REFUSED


@pytest.mark.contract("B981")
@pytest.mark.parametrize("on_failure", OnFailure)
def test_a_first_workload_that_fails_takes_back_the_rest_unwritten(on_failure: OnFailure) -> None:
    """Whatever the policy does about a version: nothing of one was written."""
    player = applying(FIRST, job="crash", policy=Policy(response=Response(on_failure=on_failure)))
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(player) == ["settings", "job", "settings"]
    said = endings(player.attempt)
    assert said["job"][0] is Outcome.ROLLED_BACK
    assert said["web"] == (Outcome.REFUSED, said["web"][1])
    assert said["web"][1].startswith("it was not written, since deployment/job failed: CrashLoop")


@pytest.mark.contract("B981")
def test_with_nothing_to_take_back_all_is_as_it_was() -> None:
    """A workload that serves is verified to do so, 4; where none was there before, 6."""
    bodies = (manifest("job", "job"), manifest("v3"))
    player = applying(FIRST, *bodies, job="crash")
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(player) == ["job"]
    first = applying(FIRST, *bodies, served=(), job="crash")
    assert ends(first.run()) == (6, Outcome.FAILED, Reason.CRASH_LOOP)
    assert endings(first.attempt)["web"][0] is Outcome.REFUSED
    beside = applying(FIRST, served=(), job="crash")
    assert ends(beside.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(beside) == ["settings", "job", "settings"]


@pytest.mark.contract("B981")
def test_what_was_not_written_does_not_return_to_an_older_version() -> None:
    """A failure of its version would have; here it keeps what it runs."""
    server = serving(config("1"), job="crash")
    plan = planned(server, config("2"), manifest("job", "job"), manifest("v3"), phases=FIRST)
    older = TargetSet(FrozenMap({WEB: Body.of(manifest("v0"))}))
    player = Player(server, replace(plan, target_set=older))
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert names(player) == ["settings", "job", "settings"]


@pytest.mark.contract("B981")
def test_what_only_observes_leaves_what_it_wrote() -> None:
    """The rest stays unwritten all the same, and nothing goes back."""
    player = applying(FIRST, job="crash", policy=Policy(observe=True))
    assert ends(player.run())[:2] == (0, Outcome.OBSERVED)
    assert names(player) == ["settings", "job"]
    said = endings(player.attempt)["web"]
    assert said[0] is Outcome.FAILED
    assert said[1].startswith("it was not written, since deployment/job failed")


@pytest.mark.contract("B981")
def test_a_first_workload_that_others_delete_is_never_known_to_be_complete() -> None:
    """What needs it is not written, and what was written goes back."""
    player = applying(FIRST, job="stuck")
    player.run_to(State.AWAITING)
    player.server.remove(ref_of(manifest("job", "job")))
    player.news()
    assert player.run().ended
    assert names(player) == ["settings", "job", "settings"]
    assert endings(player.attempt)["web"][0] in (Outcome.REFUSED, Outcome.VERIFIED)


@pytest.mark.contract("B982")
def test_an_object_waits_for_what_it_needs() -> None:
    """The definition is read at a pace until it is ready, and alone; then the rest is written."""
    player = needing(NOT_YET)
    player.run_to(State.AWAITING)
    started_at = player.attempt.now
    player.pass_to(started_at + 20)
    assert 8 <= len([one for one in player.asked(Read) if one.ref == DEFINITION]) <= 11
    assert names(player) == ["settings", "definition"]
    player.server.readiness[DEFINITION] = READY
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert names(player) == ["settings", "definition", "widget", "web"]


@pytest.mark.contract("B983")
@pytest.mark.parametrize("kind", [ReadinessKind.NOT_YET, ReadinessKind.FAILED])
def test_what_is_needed_and_never_ready_ends_the_writes(kind: ReadinessKind) -> None:
    """At once where its conditions say that it failed, else within the budget of objects."""
    player = needing(Readiness(kind, CleanText("NamesAccepted is False: taken")))
    started_at = player.attempt.now
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    waited = player.attempt.course.leg_at - started_at
    assert waited == pytest.approx(300 if kind is ReadinessKind.NOT_YET else 0, abs=3)
    assert names(player) == ["settings", "definition", "settings"]
    ending = ending_of(player.attempt)
    assert "configmap/definition" in ending.message
    assert "NamesAccepted is False: taken" in ending.message
    (cause,) = ending.causes
    assert cause.reason is Reason.OBJECT_NOT_READY


@pytest.mark.contract("B1060")
@pytest.mark.parametrize("beside", [True, False], ids=["workload", "alone"])
def test_a_need_that_is_not_ready_is_no_rejection(beside: bool) -> None:
    """With or without a workload, the first line says at what it broke off, and the advice fits."""
    why = Readiness(ReadinessKind.FAILED, CleanText("NamesAccepted is False: taken"))
    player = needing(why, beside=beside)
    reason = Reason.APPLY_REJECTED if beside else Reason.OBJECT_NOT_READY
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, reason)
    times = RunTimes("2026-11-21T12:00:00Z", 0.0, 1.0)
    result = document(player.attempt, Run(RunIdentity("1", "id", "apply"), times))
    text = verdict_text(result, Style(width=1000))
    at = "configmap/definition: NamesAccepted is False: taken; what"
    assert f"the apply broke off half-way at {at}" in text
    assert "reject" not in text.replace("ApplyRejected", "")
    assert "the server names" not in text
    assert "--wait-for workloads" not in text
    assert "conditions and the controller of configmap/definition" in text


@pytest.mark.contract("B984")
def test_the_budget_begins_again_after_a_workload_that_comes_first() -> None:
    """By default; a chosen timeout is one for the whole, and ends the wait."""
    player = applying(FIRST, job="stuck", v3="stuck")
    player.run_to(State.AWAITING)
    player.pass_to(player.attempt.now + 550)
    player.behave("good", "job")
    player.run_to(State.FOLLOWING)
    assert player.attempt.workloads.rollouts[WEB].budget.begins_at == pytest.approx(650, abs=1)

    chosen = applying(FIRST, job="stuck", policy=Policy(Budgets(timeout_seconds=100)))
    first = chosen.attempt.now
    assert ends(chosen.run()) == (4, Outcome.ROLLED_BACK, Reason.TIMEOUT)
    assert chosen.attempt.course.leg_at == pytest.approx(first + 100, abs=1)


@pytest.mark.contract("B985")
def test_a_signal_ends_the_wait() -> None:
    """What was written is left or taken back, as asked; the rest is not written."""
    for on_interrupt, expected in (
        (OnInterrupt.KEEP, ["settings", "job"]),
        (OnInterrupt.ROLLBACK, ["settings", "job", "settings"]),
    ):
        player = applying(
            FIRST, job="stuck", policy=Policy(response=Response(on_interrupt=on_interrupt))
        )
        player.run_to(State.AWAITING)
        player.hear(Interrupted(player.attempt.now + 1, 15))
        assert player.run().exit_code == 128 + 15
        assert names(player) == expected


@pytest.mark.contract("B985")
def test_a_lost_lock_ends_the_wait() -> None:
    """Nothing more is written, nor taken back."""
    player = applying(FIRST, job="stuck")
    player.run_to(State.AWAITING)
    player.hear(LeaseLost(player.attempt.now + 1, "another run"))
    assert player.run().exit_code == 8
    assert names(player) == ["settings", "job"]


@pytest.mark.contract("B985")
@pytest.mark.parametrize("job", ["good", "stuck"])
def test_a_gate_that_dies_at_any_effect_leaves_no_mixture(job: str) -> None:
    """Whoever recovers what broke off takes it back; what came first is not written again."""
    outcomes = set()

    def begin() -> Dying:
        server = serving(config("1"), job=job)
        bodies = (config("2"), manifest("job", "job"), manifest("v3"))
        return Dying(server, plan_of(server, *bodies, phases=FIRST))

    for player in deaths(begin):
        server, done = player.server, len(player.server.done)
        plan = resumed(server, player.record)
        if plan is not None:
            outcomes.add(Player(server, plan).run().outcome)
        assert "job" not in [write.ref.name for write in server.done[done:]]
        image, settings = server.stored[WEB].image, server.stored[SETTINGS].leaves["data.mode"]
        assert (image, settings) in (("shop/web:v1", "1"), ("shop/web:v3", "2"))
    assert outcomes == {Outcome.ROLLED_BACK, *([Outcome.VERIFIED] if job == "good" else [])}


@pytest.mark.contract("B30", "B980")
def test_what_others_take_over_once_all_is_written_ends_the_run() -> None:
    """Nothing is left that would have to be given up for the workload that came first."""
    policy = Policy(budgets=Budgets(bake_seconds=600.0))
    player = applying(FIRST, policy=policy, v3="stuck")
    began_at = player.run_to(State.FOLLOWING).now
    for name in ("job", "web"):
        player.server.edit(ref_of(manifest("v1", name)), "kubectl-set", {IMAGE: "shop/web:v9"})
    player.news()
    attempt = player.run()
    assert ends(attempt) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert attempt.now < began_at + 60.0
    assert names(player) == ["settings", "job", "web"]
