"""What an attempt that ends holds against a version, fact by fact."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.journal import record_of
from gate.core.attempt.state import Attempt, Rejection
from gate.core.attempt.version_before import is_same_throughout
from gate.core.attempt.version_failures import find_failed_return
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.journal_record import Resumed
from gate.core.rollout.policy import Budgets, Policy
from tests.table import check_each
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import STARTED_AT, Player, serving
from tests.unit.core.recovery.test_resumption import plan_of
from tests.unit.core.world import WEB, config_ref


def changed_beside(behaviour: str) -> Player:
    """Change configuration and create some beside v1, whose pods then behave so for good.

    What was created is used by another Deployment by then, and stays.
    """
    server = serving(config("a"))
    policy = Policy(budgets=Budgets(bake_seconds=60.0))
    plan = plan_of(server, config("b"), config("a", "new"), manifest("v1"), policy=policy)
    player = Player(server, plan)
    player.users = {config_ref("new"): "deployment/api"}
    player.pass_to(STARTED_AT + 10.0)
    player.behave(behaviour, "v1")
    return player


def refused(attempt: Attempt) -> Attempt:
    """Return an attempt whose configuration could not go back."""
    no = Rejection(config_ref(), Reason.REJECTED, CleanText("no"))
    return replace(attempt, writes=replace(attempt.writes, refusals=FrozenMap({no.ref: no})))


def after_another(attempt: Attempt) -> Attempt:
    """Return an attempt on a workload that another version served."""
    target = attempt.plan.target(WEB)
    assert isinstance(target.baseline, Known)
    served = Known(replace(target.baseline.value, replica_set="web-0"))
    return replace(attempt, plan=replace(attempt.plan, targets=(replace(target, baseline=served),)))


def with_good_pods(attempt: Attempt) -> Attempt:
    """Return an attempt that was cut off on its way back, whose pods are well."""
    well = changed_beside("good").attempt.workloads.rollouts
    return replace(attempt, workloads=replace(attempt.workloads, rollouts=well))


@pytest.mark.contract("B1440")
def test_a_version_fails_again_only_by_its_own_pods_once_all_else_went_back() -> None:
    """Any other fact keeps it from that."""
    crashed, kept_out = changed_beside("crash").run(), changed_beside("over-quota").run()
    assert crashed.result.endings[WEB].outcome is Outcome.ROLLBACK_FAILED

    def check(fact: tuple[Attempt, Outcome, bool]) -> None:
        attempt, outcome, is_held = fact
        ending = replace(attempt.result.endings[WEB], outcome=outcome)
        assert (find_failed_return(attempt, WEB, ending) is not None) is is_held

    stuck = Outcome.ROLLBACK_FAILED
    check_each(
        check,
        [
            ("its own pods", (crashed, stuck, True)),
            ("it went back", (crashed, Outcome.ROLLED_BACK, False)),
            ("what changed did not", (refused(crashed), stuck, False)),
            ("another version served", (after_another(crashed), stuck, False)),
            ("its pods are well", (with_good_pods(crashed), stuck, False)),
            ("a quota keeps them out", (kept_out, stuck, False)),
        ],
    )


@pytest.mark.contract("B1440")
def test_a_version_that_fails_again_failed_without_what_was_created_beside_it() -> None:
    """It was verified before that was there."""
    (closing,) = closed_of(changed_beside("crash").run()).deployments
    assert [set(one.members) for one in closing.versions if one.template] == [{WEB, config_ref()}]


@pytest.mark.contract("B1425")
def test_where_a_record_does_not_say_what_was_tried_it_may_have_been_a_version() -> None:
    """A gate that lives knows; one that finishes what another one began does not."""
    attempt = changed_beside("crash").run()
    objects = tuple(replace(one, trial=None) for one in attempt.plan.objects)
    plan = replace(attempt.plan, objects=objects)
    assert is_same_throughout(replace(attempt, plan=plan), WEB)
    resumed = replace(plan, resumed=Resumed(record_of(plan), written=FrozenMap()))
    assert not is_same_throughout(replace(attempt, plan=resumed), WEB)
