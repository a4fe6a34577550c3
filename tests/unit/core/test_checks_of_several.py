"""Health checks where there are several Deployments, or where somebody else has one of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.health_checks import combine_verdicts
from gate.core.attempt.transitions import State
from gate.core.checks.questions import MetricQuestion
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.protocol.effects import Ask, Read
from gate.core.rollout.policy import Policy
from gate.core.rollout.verdict import Verdict, VerdictKind
from tests.unit.core.checks_world import a_check, answer, metric, query
from tests.unit.core.leaves import manifest
from tests.unit.core.player import STARTED_AT, Player, ends, planned
from tests.unit.core.server import Server
from tests.unit.core.test_attempt_checks import always, asks, check, policy, rolled_out
from tests.unit.core.test_attempt_writes import IMAGE


def both_rolled_out(limits: Policy, **behaviour: str) -> Player:
    """Begin to roll v2 of `web` and v3 of `api` out, over versions that serve."""
    server = Server(**behaviour)
    server.put(manifest("v1"))
    server.put(manifest("v1", name="api"))
    plan = planned(server, manifest("v2"), manifest("v3", name="api"), policy=limits)
    return Player(server, plan)


def named(player: Player, name: str) -> Ref:
    """Return the Deployment of that name."""
    return next(target.ref for target in player.attempt.plan.targets if target.ref.name == name)


@pytest.mark.contract("B497")
def test_what_is_somebody_elses_by_now_is_no_reason_to_roll_back() -> None:
    """A change that comes between the failed check and the confirming read is stepped back from."""
    player = rolled_out(policy(check()), measure=0.7)
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    player.server.edit(player.web, "kubectl-edit", {IMAGE: "shop/web:v9"})
    player.server.control(player.web)
    player.news()
    player.hold = ()
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)
    assert player.server.stored[player.web].image == "shop/web:v9"
    assert len(player.written()) == 1


@pytest.mark.contract("B497")
@pytest.mark.parametrize("kind", list(VerdictKind))
def test_checks_fail_what_goes_on_or_is_complete_alone(kind: VerdictKind) -> None:
    """What is somebody else's, or held by somebody, is not theirs to fail."""
    of_rollout = Verdict(kind, Reason.COMPLETE, CleanText("as it is"))
    of_checks = Verdict(VerdictKind.FAILED, Reason.CHECK_FAILED, CleanText("errors: 0.7"))
    theirs = kind in (VerdictKind.COMPLETE, VerdictKind.PROGRESSING)
    assert combine_verdicts(of_rollout, of_checks) is (of_checks if theirs else of_rollout)
    assert combine_verdicts(of_rollout, None) is of_rollout
    assert combine_verdicts(None, of_checks) is of_checks


@pytest.mark.contract("B497")
def test_a_doubt_about_one_is_no_doubt_about_the_other() -> None:
    """Each Deployment ends by the checks that are about it."""
    player = both_rolled_out(policy(check("one", deployment="web"), check("two", deployment="api")))
    player.measure = lambda ask: answer(0.0) if ask.check == "one" else answer()
    attempt = player.run()
    assert ends(attempt) == (7, Outcome.INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE)
    assert attempt.result.endings[named(player, "web")].outcome is Outcome.VERIFIED
    assert attempt.result.endings[named(player, "api")].outcome is Outcome.INCONCLUSIVE


@pytest.mark.contract("B419")
def test_the_window_is_as_long_as_the_youngest_of_the_new_versions() -> None:
    """Of two, the second has its first pod after 25 s: before that nothing is asked."""
    windowed = a_check(replace(metric(), query=query("sum(rate(errors[${window}]))")))
    player = both_rolled_out(policy(windowed), v3="slow")
    player.measure = always(0.0)
    player.pass_to(STARTED_AT + 25.0)
    assert asks(player) == []
    player.behave("good", "v3")
    player.run()
    questions = [effect.questions.value for effect in player.sent if isinstance(effect, Ask)]
    texts = [asked.query for asked in questions if isinstance(asked, MetricQuestion)]
    assert texts[:2] == ["sum(rate(errors[5s]))", "sum(rate(errors[15s]))"]
