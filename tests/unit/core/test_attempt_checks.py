"""Health checks within an attempt: when they are asked, and what their verdict does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.check_conclusions import combine_verdicts
from gate.core.attempt.transitions import State
from gate.core.checks.baseline_comparison import Ratio
from gate.core.checks.questions import Answers, CommandQuestion, Exit, MetricQuestion
from gate.core.checks.spec import Command, During, OnInconclusive, Schedule
from gate.core.model.fact import Known
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Ask, Read
from gate.core.protocol.events import Interrupted
from gate.core.rollout.policy import Budgets, OnFailure, Policy
from gate.core.rollout.verdict import Verdict, VerdictKind
from tests.unit.core.checked_attempts import WINDOW, always, asks, check, policy, rolled_out
from tests.unit.core.checks.count_looks import both, counts, samples
from tests.unit.core.checks_world import a_check, answer, metric, pair, unreachable
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import (
    STARTED_AT,
    Player,
    ending_of,
    ends,
    planned,
    serving,
    watched,
)

# -- when they are asked ---------------------------------------------------------------------------


@pytest.mark.contract("B411", "B410")
def test_checks_are_asked_on_their_grid_from_the_end_of_the_writes_on() -> None:
    """Every ten seconds, through the bake window, and never at its end or after it."""
    player = rolled_out(policy(check()))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert asks(player) == [("errors", float(at)) for at in range(0, 60, 10)]


@pytest.mark.contract("B1160")
@pytest.mark.parametrize(("count", "seconds"), [(2, 10), (None, 60)])
def test_a_bake_window_may_end_early(count: int | None, seconds: int) -> None:
    """Once every check that decides has all it needs; one that could still fail keeps it open."""
    limits = policy(check(schedule=Schedule(count=count, during=During.BAKE)))
    early = replace(limits, budgets=replace(limits.budgets, bake_early=True))
    ended = rolled_out(early).run()
    assert ended.now == STARTED_AT + seconds
    assert rolled_out(limits).run().now == STARTED_AT + WINDOW
    unchecked = replace(early, checks=())
    assert rolled_out(unchecked).run().now == STARTED_AT + WINDOW, "nothing would have been shown"


def test_the_way_back_asks_nothing() -> None:
    """A rollback is verified by its pods: its checks would measure the failed version's time."""
    player = rolled_out(policy(check()), measure=0.0, v2="crash")
    before = len(asks(player))
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert len(asks(player)) - before <= 1
    assert not player.attempt.workloads.rollouts[player.web].policy.budgets.longest_bake_seconds


# -- what stands against a version -----------------------------------------------------------------


@pytest.mark.contract("B412", "B493")
def test_a_failed_check_rolls_back_at_once() -> None:
    """Exit 4, the reason names the rule, the message the check with its value."""
    player = rolled_out(policy(check()), measure=0.7)
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.CHECK_FAILED)
    assert ending_of(attempt).message == "errors: 0.7 is not <= 0.5"
    assert attempt.now == STARTED_AT


def test_where_nothing_may_be_written_a_failed_check_is_exit_6() -> None:
    """`--on-failure keep`, and `verify`."""
    player = rolled_out(policy(check(), on_failure=OnFailure.KEEP), measure=0.7)
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.CHECK_FAILED)
    server = serving()
    beside = Player(server, watched(server, player.web, policy=policy(check())))
    beside.measure = always(0.7)
    assert ends(beside.run()) == (6, Outcome.FAILED, Reason.CHECK_FAILED)
    assert not beside.written()


def test_pods_count_beside_checks() -> None:
    """A version whose checks pass and whose pods crash in the window is rolled back for that."""
    player = rolled_out(policy(check()))
    player.pass_to(STARTED_AT + 30.0)
    player.behave("crash")
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)


@pytest.mark.contract("B494")
def test_a_manifest_without_a_deployment_has_checks_and_a_window() -> None:
    """A switch of configuration goes back when a check fails, and is verified when none does."""
    for measured, end in ((0.7, (4, Outcome.ROLLED_BACK, Reason.CHECK_FAILED)), (0.1, None)):
        server = serving(config("old"))
        player = Player(server, planned(server, config("new"), policy=policy(check())))
        player.measure = always(measured)
        assert ends(player.run()) == (end or (0, Outcome.VERIFIED, Reason.COMPLETE))
        assert len(player.written()) == (2 if end else 1)
        assert player.attempt.now == STARTED_AT + (0.0 if end else WINDOW)


# -- what nobody can tell --------------------------------------------------------------------------


@pytest.mark.contract("B414", "B495")
@pytest.mark.parametrize("measured", [None, unreachable()])
@pytest.mark.parametrize(
    ("asked_for", "end"),
    [
        (OnInconclusive.KEEP, (7, Outcome.INCONCLUSIVE)),
        (OnInconclusive.ROLLBACK, (4, Outcome.ROLLED_BACK)),
        (OnInconclusive.PASS, (0, Outcome.VERIFIED)),
    ],
)
def test_no_evidence_is_what_the_policy_says(
    measured: Any, asked_for: OnInconclusive, end: tuple[int, Outcome]
) -> None:
    """Never good by itself, never bad by itself, and always at the end of the window."""
    player = rolled_out(policy(check(), on_inconclusive=asked_for), measure=measured)
    attempt = player.run()
    code, outcome, reason = ends(attempt)
    assert (code, outcome) == end
    if outcome is not Outcome.VERIFIED:
        expected = Reason.CHECK_INCONCLUSIVE if measured is None else Reason.CHECK_ERROR
        assert reason is expected
    assert attempt.now >= STARTED_AT + WINDOW


@pytest.mark.contract("B423")
def test_a_comparison_is_with_what_served_right_before() -> None:
    """A failure may return past it, as it was left unverified; it serves beside the new one."""
    server = serving()
    compared = a_check(metric(compare=Ratio(max_ratio=2.0)))
    plan = planned(server, manifest("v2"), policy=policy(compared))
    (target,) = plan.targets
    assert isinstance(target.baseline, Known)
    served = target.baseline.value.revision_name
    past = replace(target, baseline=Known(replace(target.baseline.value, revision_name="web-past")))
    player = Player(server, replace(plan, targets=(past,)))
    player.measure = always(pair(0.0, 0.0))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    asked = [one.questions.baseline for one in player.sent if isinstance(one, Ask)]
    assert asked
    assert all(isinstance(one, MetricQuestion) and served in one.query for one in asked)


@pytest.mark.contract("B423", "B1511")
@pytest.mark.parametrize("past", ["", "web-past"])
def test_what_has_no_pod_serves_nothing_to_compare_with(past: str) -> None:
    """Neither the version itself, nor one that a failure would return to; it is said at once."""
    server = serving()
    compared = a_check(metric(compare=Ratio(max_ratio=2.0)))
    plan = planned(server, manifest("v1"), policy=policy(compared))
    (target,) = plan.targets
    assert isinstance(target.baseline, Known)
    baseline = target.baseline.value
    target = replace(
        target, baseline=Known(replace(baseline, revision_name=past or baseline.revision_name))
    )
    player = Player(server, replace(plan, targets=(target,)))
    player.measure = always(pair(0.0, 0.0))
    assert ends(player.run()) == (7, Outcome.INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE)
    assert asks(player) == []
    said = next(one for one in player.said if "no old version serves" in one.message)
    assert said.at < STARTED_AT + 1


@pytest.mark.contract("B54")
@pytest.mark.parametrize(("seconds", "windows"), [(2.0, 1), (12.0, 2)])
def test_a_window_in_which_the_server_hung_is_watched_once_more(
    seconds: float, windows: int
) -> None:
    """A confirming read that takes so long shows that nothing was seen before it."""
    player = rolled_out(policy(bake=8.0))
    player.run_to(State.CONFIRMING)
    player.hold = (Read,)
    player.pass_to(player.attempt.now + seconds)
    player.hold = ()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert sum(one.event == "baking" for one in player.said) == windows


# -- the end of the window -------------------------------------------------------------------------


@pytest.mark.contract("B417")
def test_the_window_that_evidence_needs_ends_with_the_evidence() -> None:
    """A smoke test that runs once ends it; one that goes on lasts as long as it may."""
    once = replace(
        a_check(Command(("smoke",), timeout_seconds=60.0)),
        name="smoke",
        schedule=Schedule(count=1, during=During.BAKE),
    )
    for checks, lasts in (((once,), 0.0), ((once, check()), 80.0)):
        player = rolled_out(Policy(checks=checks, budgets=Budgets(evidence_seconds=80.0)))
        player.measure = lambda ask: (
            Answers(Exit(0)) if isinstance(ask.questions.value, CommandQuestion) else answer(0.0)
        )
        assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
        assert player.attempt.now == STARTED_AT + lasts


@pytest.mark.contract("B496", "B1958")
def test_the_end_waits_for_a_measurement_under_way_and_not_for_ever() -> None:
    """An answer at 62 s decides; one that does not come is waited for 5 s."""
    player = rolled_out(policy(check(schedule=Schedule(interval_seconds=59.0))))
    player.pass_to(STARTED_AT + 58.0)
    player.hold = (Ask,)
    player.pass_to(STARTED_AT + 62.0)
    assert player.place == (Leg.FORWARD, State.BAKING)
    player.hold = ()
    player.measure = always(0.7)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CHECK_FAILED)

    player = rolled_out(policy(check()))
    player.pass_to(STARTED_AT + 45.0)
    player.hold = (Ask,)
    player.pass_to(STARTED_AT + 51.0)
    [asked] = [one.questions.value for one in player.waiting if isinstance(one, Ask)]
    assert isinstance(asked, MetricQuestion)
    assert asked.answer_by == STARTED_AT + WINDOW + 4.5
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + WINDOW + 5.0


def disturb(player: Player) -> None:
    """Take a pod away and give it back, as a scale does: the bake window begins again."""
    player.server.stored[player.web].sets[-1].pods.pop()
    player.server.touch(player.web)
    player.news()
    player.server.control(player.web)
    player.news()


def test_an_answer_to_a_window_that_is_over_says_nothing() -> None:
    """What was asked of a window before it began again is no measurement of this one."""
    player = rolled_out(policy(check(schedule=Schedule(during=During.BAKE))))
    player.pass_to(STARTED_AT + 5.0)
    player.hold = (Ask,)
    player.pass_to(STARTED_AT + 15.0)
    (old,) = (effect for effect in player.waiting if isinstance(effect, Ask))
    disturb(player)
    assert old.effect_id not in player.attempt.requests.outstanding
    assert player.attempt.awaits(Ask)
    player.hold = ()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)


@pytest.mark.contract("B1561")
@pytest.mark.parametrize(("bad", "outcome"), [(3.0, Outcome.ROLLED_BACK), (1.0, Outcome.VERIFIED)])
def test_windows_that_begin_again_keep_no_comparison_undecided(
    bad: float, outcome: Outcome
) -> None:
    """No window lasts for the nine looks that a decision needs."""

    def count(ask: Ask) -> Answers:
        seconds = ask.tick.at - STARTED_AT
        new, old = (samples(share * seconds, 100 * seconds) for share in (bad, 1.0))
        return both(new, old)

    player = rolled_out(policy(counts()))
    player.measure = count
    while not player.attempt.ended and player.attempt.now < STARTED_AT + 400:
        player.pass_to(player.attempt.now + 45.0)
        if player.place == (Leg.FORWARD, State.BAKING):
            disturb(player)
    assert player.run().outcome is outcome
    assert sum(one.event == "baking" for one in player.said) > 2


# -- several Deployments, or somebody else's -------------------------------------------------------


def both_rolled_out(limits: Policy, **behaviour: str) -> Player:
    """Begin to roll v2 of `web` and v3 of `api` out, over versions that serve."""
    server = serving(manifest("v1", name="api"), **behaviour)
    plan = planned(server, manifest("v2"), manifest("v3", name="api"), policy=limits)
    return Player(server, plan)


def named(player: Player, name: str) -> Ref:
    """Return the Deployment of that name."""
    return next(target.ref for target in player.attempt.plan.targets if target.ref.name == name)


@pytest.mark.contract("B497")
def test_what_is_somebody_elses_is_no_reason_to_roll_back() -> None:
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
    windowed = a_check(metric(text="sum(rate(errors[${window}]))"))
    player = both_rolled_out(policy(windowed), v3="slow")
    player.measure = always(0.0)
    player.pass_to(STARTED_AT + 25.0)
    assert asks(player) == []
    player.behave("good", "v3")
    player.run()
    questions = [effect.questions.value for effect in player.sent if isinstance(effect, Ask)]
    texts = [asked.query for asked in questions if isinstance(asked, MetricQuestion)]
    assert texts[:2] == ["sum(rate(errors[5s]))", "sum(rate(errors[15s]))"]


# -- signals ---------------------------------------------------------------------------------------


def test_a_bad_measurement_is_evidence_for_a_signal() -> None:
    """Tolerated so far, it speaks against the new version once somebody wants to end.

    What only reports speaks against nothing.
    """
    bears = replace(check(), tolerances=replace(check().tolerances, allowed_failures=3))
    reports = replace(bears, required=False)
    for one, measured, leg in (
        (bears, 0.7, Leg.BACK),
        (bears, 0.1, Leg.FORWARD),
        (reports, 0.7, Leg.FORWARD),
    ):
        player = rolled_out(policy(one), measure=measured)
        player.pass_to(STARTED_AT + 5.0)
        player.hear(Interrupted(player.attempt.now, 15))
        attempt = player.run()
        assert ends(attempt)[1] is Outcome.INTERRUPTED
        assert attempt.course.leg is leg
