"""What the live tree shows of an attempt: parts, causes, checks and clocks, as values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import TRANSITIONS, State
from gate.core.checks.measurement import make_fail, make_pass
from gate.core.checks.query_template import Query
from gate.core.checks.run import CheckRun
from gate.core.checks.spec import Bounds, Check, Command, Metric, Schedule
from gate.core.checks.tick_grid import Tick
from gate.core.model.body import FrozenMap
from gate.core.plan.leg import Leg
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Budgets, Policy
from gate.report.live.attempts import attempt_view, status_view
from gate.report.live.view import Mark, View
from tests.unit.core.checks.count_looks import counts, steady
from tests.unit.core.leaves import manifest
from tests.unit.core.server import Server
from tests.unit.core.world import container, crashing, later, terminated
from tests.unit.report.endings import ReportPlayer, going_back, lost_contact, one_failed, under_way

STARTED_AT = 98.5


def seen(player: ReportPlayer, after: float = 0.0) -> View:
    """Return what there is to see of an attempt some seconds later."""
    return attempt_view(player.attempt, player.attempt.now + after, STARTED_AT)


def half_way() -> ReportPlayer:
    """Return a rollout from v1 to v2 with one new pod ready and one that crashes."""
    player = under_way(policy=Policy(budgets=Budgets(timeout_seconds=300.0)))
    first, second = player.pods()[-2:]
    panic = terminated(message="panic: DATABASE_URL is not set")
    new = later(
        player.server.parts(player.web)[0][-1], 9999, ready_replicas=1, available_replicas=1
    )
    player.hear(Observed(player.attempt.now + 1.5, new))
    for pod, status in ((first, container()), (second, crashing(last_terminated=panic))):
        changed = later(pod, 9999, containers=(status,), ready=status.ready)
        player.hear(Observed(player.attempt.now, changed))
    return player


@pytest.mark.contract("B630")
def test_on_the_way_back_it_says_which_version_failed() -> None:
    """And which one comes back, first."""
    view = seen(going_back())
    assert (view.phase, view.mark, view.checks) == ("rolling back", Mark.BAD, ())
    roles = [(each.role, each.name) for each in view.workloads[0].revisions]
    assert roles == [("back", "web-1"), ("failed", "web-2")]


def test_a_deployment_that_goes_back_for_another_one_has_not_failed() -> None:
    """Its version was in order."""
    attempt = at(one_failed().attempt, State.FOLLOWING)
    view = attempt_view(attempt, attempt.now, STARTED_AT)
    roles = {each.name: [one.role for one in each.revisions] for each in view.workloads}
    assert roles == {"deployment/web": ["back", "failed"], "deployment/api": ["back", "new"]}


@pytest.mark.contract("B630")
def test_both_clocks_run_and_the_bake_window_is_one() -> None:
    """No progress against the deadline of the Deployment, the whole against the timeout."""
    first, whole = seen(half_way(), 20.0).clocks
    assert (first.label, first.limit_seconds) == ("no progress", 600.0)
    assert (whole.label, whole.limit_seconds) == ("in all", 300.0)
    assert first.seconds == pytest.approx(20.0)
    assert whole.seconds == pytest.approx(22.5), "since the write"
    baking = under_way("good", Policy(budgets=Budgets(bake_seconds=60.0)))
    *_, bake = seen(baking, 15.0).clocks
    assert (bake.label, bake.welcome) == ("bake window", True)
    assert bake.limit_seconds == pytest.approx(60.0)
    assert bake.share == pytest.approx(0.25)
    assert seen(baking).phase == "complete, and watched for a while"


@pytest.mark.contract("B630")
def test_checks_show_their_value_and_their_bound() -> None:
    """And how often it passed; before the first measurement, that there is none."""
    rate = Metric(Query.parse("rate(errors_total[1m])", ()), Bounds(most=0.5))
    checks = (
        Check("errors", rate, Schedule(interval_seconds=5.0)),
        Check("smoke", Command(("./smoke.sh",)), required=False),
    )
    attempt = half_way().attempt
    plan = replace(attempt.plan, policy=replace(attempt.plan.policy, checks=checks))
    run = CheckRun.start(checks[0], attempt.now)
    for number, what in enumerate(
        (make_pass("0.1 is <= 0.5", 0.1), make_fail("2 is not <= 0.5", 2.0))
    ):
        tick = Tick(number, attempt.now)
        run = run.after_question(tick).after_measurement(tick, attempt.now, what)
    attempt = replace(
        attempt, plan=plan, health=replace(attempt.health, checks=FrozenMap({"errors": run}))
    )
    errors, smoke = attempt_view(attempt, attempt.now, STARTED_AT).checks
    assert (errors.value, errors.bound, errors.often) == ("2", "<= 0.5", "1 passed, 1 failed")
    assert errors.mark is Mark.BAD
    assert (smoke.value, smoke.bound, smoke.mark) == ("not measured yet", "exit 0", Mark.MOVING)


@pytest.mark.contract("B1212")
def test_a_comparison_shows_what_both_versions_counted() -> None:
    """Also once it has passed, where the new rate alone would say nothing."""
    attempt, check = half_way().attempt, counts()
    run = steady(CheckRun.start(check, attempt.now), 10, (1, 1000), (2, 1000))
    plan = replace(attempt.plan, policy=replace(attempt.plan.policy, checks=(check,)))
    health = replace(attempt.health, checks=FrozenMap({"errors": run}))
    (errors,) = attempt_view(
        replace(attempt, plan=plan, health=health), attempt.now, STARTED_AT
    ).checks
    assert errors.mark is Mark.GOOD
    assert errors.value == "9 of 9,000 bad, of the old version 18 of 9,000, 0.5 times the rate"


def test_status_shows_a_deployment_that_somebody_else_rolls_out() -> None:
    """With its verdict as what is being done; before it was read, that it was not."""
    attempt = half_way().attempt
    (rollout,) = attempt.workloads.rollouts.values()
    view = status_view(rollout, attempt.now, attempt.now - 3.0)
    assert (view.phase, view.seconds, view.checks) == ("progressing", 3.0, ())
    assert [each.role for each in view.workloads[0].revisions] == ["current", "other"]


def test_what_is_not_there_yet_is_said() -> None:
    """A first deployment has nothing to show before its write; without contact, that is said."""
    attempt = at(ReportPlayer(Server(), manifest("v1")).attempt, State.WRITING)
    view = attempt_view(attempt, attempt.now, STARTED_AT)
    assert (view.phase, view.workloads[0].words) == ("applying", "does not exist")
    view = seen(lost_contact())
    assert view.phase.startswith("the API server is unreachable: connection refused")
    assert view.mark is Mark.UNSURE
    for leg in Leg:
        for state in TRANSITIONS[leg]:
            assert attempt_view(at(attempt, state, leg=leg), 110.0, STARTED_AT).phase


def at(attempt: Attempt, state: State, **course: Any) -> Attempt:
    """Return the attempt in another state."""
    return replace(attempt, course=replace(attempt.course, state=state, **course))
