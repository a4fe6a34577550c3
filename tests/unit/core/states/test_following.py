"""What a way back follows beside what it writes, and what it leaves to others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.new_rollout import applied_found
from gate.core.attempt.parts import Course, Interference, Purpose, Workloads
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.kinds.job.reasons import JobReason
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent
from gate.core.model.objects import CleanText, Condition
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.plan import Plan, Target
from gate.core.protocol.effects import Read
from gate.core.rollout.judge import Rollout, Verdict, VerdictKind
from gate.core.rollout.policy import Budgets, Policy
from gate.core.states.confirming import Confirming
from tests.table import each
from tests.unit.core.kinds.test_job import last
from tests.unit.core.leaves import IMAGE, config, manifest, ref_of
from tests.unit.core.player import Player, ends, planned, rolling_out, serving
from tests.unit.core.world import WEB, snapshot_of

API = ref_of(manifest("v1", "api"))
SHORT = Budgets(bake_seconds=60.0, rollback_timeout_seconds=60.0)


@pytest.mark.contract("B133")
def test_a_deployment_that_did_not_change_is_judged_with_its_configuration_of_before() -> None:
    """Its pods fail of what they took, and go on to fail: it does not serve again."""
    server = serving(config("a"))
    policy = Policy(budgets=SHORT)
    player = Player(server, planned(server, config("b"), manifest("v1"), policy=policy))
    player.pass_to(player.attempt.now + 10.0)
    player.behave("crash", "v1")
    attempt = player.run()
    assert WEB in attempt.workloads.rollouts
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP)


@pytest.mark.contract("B30", "B27")
def test_what_others_took_over_is_not_followed_on_the_way_back() -> None:
    """It was applied without a change, and somebody else has brought another version since."""
    server = serving(manifest("v1", "api"), v2="stuck")
    player = Player(server, planned(server, manifest("v1", "api"), manifest("v2")))
    player.run_to(State.FOLLOWING)
    server.edit(API, "kubectl-set", {IMAGE: "shop/web:v9"})
    server.control(API)
    player.news()
    player.behave("crash", "v2")
    player.run()
    assert set(player.attempt.workloads.rollouts) == {WEB}
    assert player.attempt.result.endings[API].outcome is Outcome.SUPERSEDED
    assert player.attempt.result.endings[WEB].outcome is Outcome.ROLLED_BACK


@pytest.mark.contract("B30")
def test_who_took_over_is_not_asked_again_where_a_read_has_just_shown_it() -> None:
    """A watch does not say who it was, and is followed by a read; a read says so itself."""
    player = rolling_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    player.server.edit(WEB, "kubectl-set", {IMAGE: "shop/web:v9"})
    known = len(player.asked(Read))
    attempt = player.run()
    assert ends(attempt) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert attempt.result.endings[WEB].message.endswith("(by kubectl-set)")
    assert len(player.asked(Read)) == known + 1


# -- what has failed, and is still being stopped ---------------------------------------------------

STOPPING = Condition("FailureTarget", "True", "BackoffLimitExceeded", CleanText(""))


@pytest.mark.contract("B956")
@each(
    ("now", "signal_number", "waits"),
    [(50.0, None, True), (100.0, None, False), (50.0, 15, False)],
)
def test_pods_that_are_being_stopped_are_waited_for_within_the_budget(
    now: float, signal_number: int | None, *, waits: bool
) -> None:
    """Configuration would go back beneath them; a signal leaves no time for it."""
    job = replace(last("job-good"), conditions=(STOPPING,))
    snapshot = snapshot_of(job.ref, job)
    policy = Policy(budgets=Budgets(timeout_seconds=100.0))
    rollout = Rollout.start(applied_found(0.0, job), snapshot, policy, total_seconds=100.0)
    attempt = Attempt(
        Plan("apply", (Target(job.ref, snapshot, Absent()),), (), (), policy),
        now,
        Course(0.0, state=State.CONFIRMING, purpose=Purpose.FAILURE),
        workloads=Workloads(rollouts=FrozenMap({job.ref: rollout})),
        interference=Interference(signal_number=signal_number),
    )
    failed = Verdict(VerdictKind.FAILED, JobReason.JOB_FAILED, CleanText("it failed"))
    trigger = Confirming().next_trigger(attempt, {job.ref: failed})
    assert (trigger is None) is waits
