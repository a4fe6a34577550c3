"""Comparisons by counts in a file: what they become, and what is wrong with them at which line."""

from __future__ import annotations

import re

import pytest

from gate.config import as_configuration
from gate.config.limits import policy
from gate.core.checks.query_template import Query
from gate.core.checks.spec import Check, ComparedPods, Counts, During, Schedule, Tolerances
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.model.body import FrozenMap
from gate.core.statistics.count_decision import CountRule
from tests.table import each
from tests.unit.config.folder import BY_LOADER, BY_SCHEMA, VALIDATOR, Folder, listed

BAD = 'requests{pod=~"${replicaset}-.*",code=~"5.."}'
TOTAL = 'requests{pod=~"${replicaset}-.*"}'
LEAST = f"name: errors\nbad: {BAD}\ntotal: {TOTAL}"
WHOLE = f"""
name: errors
bad: 'requests{{app="${{app}}",pod=~"${{replicaset}}-.*",code=~"5.."}}'
total: {TOTAL}
compare:
  {{test: counts, tolerance: 0.5, harm: 3, negligible: 0, min-delta: 0.01, alpha: 0.05,
   baseline: fresh}}
warm-up: 1m
scrape-interval: 15s
interval: 5s
during: bake
allowed-consecutive-errors: 2
required: false
dry-run: true
deployment: web
variables: {{app: shop}}
"""


def parsed(text: str) -> Query:
    """Return a query that may name every variable."""
    return Query.parse(text, BUILT_IN | {"app"})


@pytest.mark.contract("B1159")
def test_every_key_of_a_comparison_arrives(folder: Folder) -> None:
    """The first look is after the warm-up, and as late as counters are read."""
    bad = 'requests{app="${app}",pod=~"${replicaset}-.*",code=~"5.."}'
    rule = CountRule(0.5, 3.0, 0.0, 0.01, 0.05, known_length=True)
    assert folder.check(WHOLE) == Check(
        "errors",
        Counts(parsed(bad), parsed(TOTAL), rule, 60.0, 15.0, compared_pods=ComparedPods.FRESH),
        Schedule(5.0, 75.0, during=During.BAKE),
        Tolerances(allowed_consecutive_errors=2),
        required=False,
        dry_run=True,
        user_variables=FrozenMap({"app": "shop"}),
        deployment="web",
    )


def test_two_queries_are_all_that_it_needs(folder: Folder) -> None:
    """The rest are the defaults, for which the promises are measured."""
    found = folder.check(LEAST)
    assert found.probe == Counts(parsed(BAD), parsed(TOTAL), CountRule())
    assert found.schedule == Schedule(10.0, 30.0)


@each("text", [WHOLE, LEAST, f"{LEAST}\ncompare: {{test: counts}}\nduring: bake"])
def test_it_turns_back_into_the_same(folder: Folder, text: str) -> None:
    """As a recording holds it; and an editor takes it."""
    check = folder.check(text)
    (written,) = as_configuration([check])
    assert VALIDATOR.is_valid({"checks": [written]})
    assert folder.is_valid(listed(text))
    assert folder.load(listed(text)).checks == (check,)
    assert as_configuration(folder.load("{}", checks=[written]).checks) == [written]


COUNTER = 'requests{pod=~"${replicaset}-.*"}'
WRONG = [
    (f"name: x\nbad: {BAD}", 'has no "total"', BY_SCHEMA),
    (f"{LEAST}\ncompare: {{test: mann-whitney}}", "not one of counts", BY_SCHEMA),
    (f"{LEAST}\ncompare: {{harm: 3}}", 'has no "test"', BY_SCHEMA),
    (f"{LEAST}\ncompare: {{test: counts, alpha: 0}}", "must be above 0", BY_SCHEMA),
    (f"{LEAST}\ncompare: {{test: counts, negligible: 1}}", "0 or more and below 1", BY_SCHEMA),
    (f"{LEAST}\ncompare: {{test: counts, min-delta: 1}}", "0 or more and below 1", BY_SCHEMA),
    (f"{LEAST}\ncompare: {{test: counts, alpha: 1}}", "above 0 and at most 0.5", BY_SCHEMA),
    (
        f"{LEAST}\ncompare: {{test: counts, alpha: -0.1}}",
        "checks: errors: compare.alpha: must be above 0",
        BY_SCHEMA,
    ),
    (
        f"{LEAST}\ncompare: {{test: counts, harm: 1.2}}",
        "harm (1.2) has to be above 1 + tolerance (1.25)",
        BY_LOADER,
    ),
    (
        f"{LEAST}\ncompare: {{test: counts, tolerance: 2}}",
        "compare.tolerance: harm (2) has to be above 1 + tolerance (3)",
        BY_LOADER,
    ),
    (f"{LEAST}\ncompare: {{test: counts, baseline: young}}", "not one of all, fresh", BY_SCHEMA),
    (f"{LEAST}\nmax: 1", "goes with query or use alone", BY_SCHEMA),
    (f"{LEAST}\nallowed-failures: 1", "alone", BY_SCHEMA),
    (
        f"name: x\nbad: rate({COUNTER}[5m])\ntotal: {TOTAL}",
        "x: bad: needs the counters themselves",
        BY_LOADER,
    ),
    (
        f"name: x\nbad: {BAD}\ntotal: sum by (pod) ({COUNTER})",
        "x: total: sum hides which counter began again",
        BY_LOADER,
    ),
    (
        f"name: x\nbad: {BAD}\ntotal: requests",
        "x: total: has to name ${replicaset}",
        BY_LOADER,
    ),
    (
        f"name: x\nquery: {TOTAL}\ncompare: {{test: counts}}",
        "compare.test: counts goes with bad and total",
        BY_SCHEMA,
    ),
]


@pytest.mark.contract("B1157")
@each(("text", "problem", "seen"), WRONG)
def test_what_cannot_work_is_refused_at_its_place(
    folder: Folder, text: str, problem: str, seen: bool
) -> None:
    """One complaint with file, line and column; the schema sees what an editor can."""
    (told,) = folder.problems(listed(text))
    assert re.match(r"rollout-gate\.yaml:\d+:\d+: checks: (errors|x): ", told)
    assert problem in told
    assert folder.is_valid(listed(text)) != seen


@each(
    "text",
    [
        'latency_count{pod=~"${replicaset}-.*"} - ignoring(le) latency_bucket{le="0.5"}',
        'requests{path="/[a-z]/sum(",pod=~"${replicaset}-.*"}',
        'summary_count{pod=~"${replicaset}-.*"}',
    ],
)
def test_counters_may_be_computed_one_by_one(folder: Folder, text: str) -> None:
    """As what is above a bound of a histogram; and strings are no functions."""
    assert folder.load("", checks=[{"name": "x", "bad": text, "total": TOTAL}]).checks[0].queries[
        0
    ] == parsed(text)


@pytest.mark.contract("B1157")
def test_a_bake_window_too_short_for_nine_looks_is_refused(folder: Folder) -> None:
    """With the numbers, and a window that does."""
    text = f"{LEAST}\nduring: bake\nwarm-up: 1m"
    (told,) = folder.problems(listed(text), bake="3m")
    assert (
        "errors: 9 looks take over 3m with what is left out at the beginning, and bake is 3m:"
        " nothing could be decided"
    ) in told
    folder.load(listed(text), bake="3m1s")
    both = listed(f"{LEAST}\nwarm-up: 1m")
    folder.load(both, bake="2m59s")
    folder.load(both, bake="1m", timeout="2m1s")
    (told,) = folder.problems(both, bake="1m", timeout="2m")
    assert "and timeout and bake together are 3m: nothing could be decided" in told


@pytest.mark.contract("B1155", "B1161")
def test_the_policy_shares_alpha_and_knows_the_window(folder: Folder) -> None:
    """Sixty looks after what is left out, and two to spare."""
    two = f"{listed(LEAST)}\n{listed(LEAST.replace('errors', 'more')).removeprefix('checks:')}"
    made = policy(folder.load(two))
    assert [check.probe.rule.split for check in made.checks if isinstance(check.probe, Counts)] == [
        2,
        2,
    ]
    assert made.budgets.evidence_seconds == 30 + 62 * 10
    assert policy(folder.load(two, bake_early=True)).budgets.bake_early
