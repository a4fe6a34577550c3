"""What a recovery says of a complete version of which checks had still to decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.check_conclusions import iter_unasked
from gate.core.checks.spec import OnInconclusive
from gate.core.rollout.policy import Budgets, Policy, Response
from tests.unit.core.checks_world import a_check
from tests.unit.core.leaves import manifest
from tests.unit.core.recovery.test_resumption import Dying, finished, plan_of
from tests.unit.core.server import Server


@pytest.mark.contract("B1910")
@pytest.mark.parametrize(
    ("may_still_run", "ended"),
    [
        (False, "the gate that asked it ended"),
        (True, "the lock of the gate that asked it was released"),
    ],
)
def test_a_gate_whose_lock_was_released_is_not_said_to_have_ended(
    ended: str, *, may_still_run: bool
) -> None:
    """Its checks are not asked again in either case."""
    server = Server()
    server.put(manifest("v1"))
    limits = Policy(checks=(a_check(),), budgets=Budgets(bake_seconds=60.0))
    dying = Dying(server, plan_of(server, manifest("v2"), policy=limits))
    assert dying.die_after(3)
    attempt = finished(server, dying.record).attempt
    resumed = attempt.plan.resumed
    assert resumed is not None
    resumed = replace(resumed, may_still_run=may_still_run)
    [said] = iter_unasked(replace(attempt, plan=replace(attempt.plan, resumed=resumed)))
    assert said.message == f"not asked again, since {ended}"


CHECKS = [
    (("errors",), "the check errors"),
    (("errors", "latency"), "the checks errors, latency"),
]


@pytest.mark.contract("B1891", "B530")
@pytest.mark.parametrize(("names", "said"), CHECKS)
@pytest.mark.parametrize("is_complete", [True, False])
def test_it_is_said_that_checks_had_still_to_decide_of_what_was_complete(
    names: tuple[str, ...], said: str, *, is_complete: bool
) -> None:
    """Of what was still starting that alone is said: the checks had not begun."""
    server = Server() if is_complete else Server(v2="stuck")
    server.put(manifest("v1"))
    limits = Policy(
        checks=tuple(replace(a_check(), name=name) for name in names),
        budgets=Budgets(bake_seconds=60.0),
        response=Response(on_inconclusive=OnInconclusive.ROLLBACK),
    )
    dying = Dying(server, plan_of(server, manifest("v2"), policy=limits))
    assert dying.die_after(3)
    why = finished(server, dying.record).attempt.result.why_back
    assert why is not None
    unfinished = "the gate ended before the new version was complete"
    complete = f"the new version was complete, and the gate ended before {said} had decided"
    assert (why.message, why.check) == ((complete, names[0]) if is_complete else (unfinished, ""))
