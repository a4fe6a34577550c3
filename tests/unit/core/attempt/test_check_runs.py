"""For how long checks may keep a bake window open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.check_runs import longest_window_seconds
from gate.core.attempt.transitions import State
from gate.core.checks.baseline_comparison import Ratio
from gate.core.checks.query_template import Query
from gate.core.checks.spec import Check, Counts
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.rollout.policy import Budgets, Policy
from gate.core.statistics.count_decision import CountRule
from tests.table import each
from tests.unit.core.checks_world import a_check, metric
from tests.unit.core.player import Player, rolling_out, serving, watched
from tests.unit.core.world import WEB

BOUND = replace(a_check(), name="bound")
REPORT = replace(a_check(required=False), name="report")
RATIO = a_check(metric(most=None, compare=Ratio(1.5)))
ASKED_SECONDS, EVIDENCE_SECONDS = 30.0, 120.0


def counts(negligible: float) -> Check:
    """Return a comparison by counts that passes by itself below a rate, 0 for never."""
    of_pod = Query.parse('requests{pod=~"${replicaset}-.*"}', BUILT_IN)
    return a_check(Counts(of_pod, of_pod, CountRule(negligible=negligible)))


@pytest.mark.contract("B1428")
@each(
    ("checks", "serves_old", "seconds"),
    [
        ((RATIO,), False, ASKED_SECONDS),
        ((RATIO, REPORT), False, ASKED_SECONDS),
        ((counts(0.0),), False, ASKED_SECONDS),
        ((RATIO, BOUND), False, EVIDENCE_SECONDS),
        ((counts(0.001),), False, EVIDENCE_SECONDS),
        ((RATIO,), True, EVIDENCE_SECONDS),
    ],
)
def test_a_window_is_extended_for_what_can_be_decided(
    checks: tuple[Check, ...], serves_old: bool, seconds: float
) -> None:
    """A comparison without an old version is none such, unless a negligible rate passes."""
    budgets = Budgets(bake_seconds=ASKED_SECONDS, evidence_seconds=EVIDENCE_SECONDS)
    limits, server = Policy(checks=checks, budgets=budgets), serving()
    alone = Player(server, watched(server, WEB, policy=limits))
    player = rolling_out(policy=limits) if serves_old else alone
    assert longest_window_seconds(player.run_to(State.BAKING)) == seconds
