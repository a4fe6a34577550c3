"""Whatever happens, in whatever order: the attempt keeps its promises, and ends."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from gate.core.attempt.transitions import State
from gate.core.protocol.effects import Write
from gate.core.rollout.policy import Budgets, OnInterrupt, Policy, Response
from tests.unit.core.walk import ROLLBACK_TIMEOUT, TIMEOUT, Walk


class LongWalk(Walk):
    """The same walk, of which there are many."""


def walk_to_following(on_interrupt: OnInterrupt) -> Walk:
    """Return a walk that has written two Deployments and their configuration, and follows them."""
    walk = Walk()
    budgets = Budgets(timeout_seconds=TIMEOUT, rollback_timeout_seconds=ROLLBACK_TIMEOUT)
    policy = Policy(budgets=budgets, response=Response(on_interrupt=on_interrupt))
    walk.begin(policy=policy, serving={"web", "api", "settings"}, verify=False, what="good")
    for _ in range(20):
        if walk.attempt.course.state is not State.FOLLOWING:
            walk.answer(control=False)
    assert walk.attempt.course.state is State.FOLLOWING
    return walk


@pytest.mark.contract("B153")
def test_a_signal_ends_in_time_though_access_is_refused_after_it() -> None:
    """The refusals last longer than the signal allows; the process is woken between them."""
    walk = walk_to_following(OnInterrupt.KEEP)
    walk.end("signal")
    walk.end("forbidden")
    walk.teardown()
    assert walk.attempt.now <= walk.attempt.interference.interrupted_at + 5.0


@pytest.mark.contract("B165")
def test_after_a_signal_a_walk_has_two_writes_outstanding_on_the_way_back() -> None:
    """Both Deployments, after the configuration; never two before the signal."""
    walk = walk_to_following(OnInterrupt.ROLLBACK)
    walk.end("signal")
    most = 0
    for _ in range(6):
        walk.holds()
        asked = walk.attempt.requests.outstanding.values()
        most = max(most, sum(isinstance(effect, Write) for effect in asked))
        walk.answer(control=True)
    assert most == 2
    walk.teardown()


def walks(examples: int) -> settings:
    """Return the settings of so many walks, the same each time."""
    return settings(
        max_examples=examples,
        stateful_step_count=60,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


TestWalk = pytest.mark.contract("B18", "B125", "B137", "B163")(Walk.TestCase)
TestWalk.settings = walks(15)
TestLongWalk = pytest.mark.long(LongWalk.TestCase)
TestLongWalk.settings = walks(120)
