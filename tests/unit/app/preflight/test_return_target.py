"""What is said before the first write of what a failure returns to, and how old that may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gate.app.preflight.return_target import describe
from gate.app.preflight.target_age import within_age
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Known
from gate.core.model.objects import Revision
from gate.core.plan.plan import Plan, Target, plan_to_take_back
from gate.core.rollout.policy import OnFailure, OnInterrupt, Policy, Response
from gate.core.rollout.snapshot import OwnRevisions
from gate.core.versions.history import History
from tests.unit.core.leaves import manifest
from tests.unit.core.player import planned, serving
from tests.unit.core.test_set_walk import API, KEEP, ROLLBACK, WEB, Pipeline


def said(pipeline: Pipeline, on_failure: OnFailure = ROLLBACK) -> list[str]:
    """Return what is said of the Deployments before v9 is applied."""
    lines: list[str] = []
    plan = pipeline.plan(9, on_failure)
    describe(plan, lambda _event, line: lines.append(line), lines.append)
    return [line for line in lines if line.startswith(("deployment/web", "deployment/api"))]


def kept() -> Pipeline:
    """Verify v1, then keep a v2 that crashes."""
    pipeline = Pipeline()
    pipeline.apply("good", ROLLBACK)
    pipeline.apply("crash", KEEP)
    return pipeline


@pytest.mark.contract("B538", "B706")
def test_why_a_failure_returns_to_the_last_verified_version_is_said() -> None:
    """What serves is not live; nothing of it where a failure does not return at all."""
    version = "to the last verified revision 2 (shop/web:v1)"
    for line in said(kept()):
        assert line.endswith(f": what is live does not serve, so a failure returns {version}")
    for line in said(kept(), KEEP):
        assert line.endswith(f": a failure does not return {version}")


@pytest.mark.contract("B706")
def test_a_version_that_serves_and_was_not_verified_is_called_that() -> None:
    """It serves: that no version served would not be true."""
    pipeline = kept()
    pipeline.server.behaviour["shop/web:v2"] = "good"
    for ref in (WEB, API):
        pipeline.server.control(ref)
    why = "what runs was not verified (CrashLoop)"
    for line in said(pipeline):
        assert f": {why}, so a failure returns to the last verified revision 2" in line
    for ref, history in pipeline.histories.items():
        bad = tuple(one for one in history.versions if not one.verified)
        pipeline.histories[ref] = History(bad)
    for line in said(pipeline):
        assert line.endswith(f": {why}, so a failure has nowhere to return to")


@pytest.mark.contract("B706")
def test_a_deployment_that_returns_with_another_one_says_with_which() -> None:
    """It serves, and nobody knows it to be bad; all of one attempt return to one set."""
    pipeline = kept()
    pipeline.server.behaviour["shop/web:v2"] = "good"
    pipeline.server.control(WEB)
    history = pipeline.histories[WEB]
    pipeline.histories[WEB] = replace(history, versions=history.verified)
    api, web = sorted(said(pipeline))
    assert ": what is live does not serve, so a failure returns to the last verified" in api
    beside = "together with deployment/api (what is live does not serve)"
    assert web.startswith(f"deployment/web: {beside} a failure returns to the last verified")


# -- the age limit ---------------------------------------------------------------------------------


KEPT = (OnFailure.KEEP, OnInterrupt.KEEP)


def plan_over_v1(policy: Policy | None = None) -> Plan:
    """Plan to apply over a version that serves."""
    server = serving()
    return planned(server, manifest("v2"), policy=policy)


def made_at(plan: Plan) -> datetime:
    """Return when the version that serves was made."""
    [target] = plan.targets
    [made] = [rs.created_at for rs in target.snapshot.list_owned()]
    return datetime.fromisoformat(made)


def reactions(plan: Plan) -> tuple[OnFailure, OnInterrupt]:
    """Return what a failure and a signal do."""
    return plan.policy.response.on_failure, plan.policy.response.on_interrupt


@pytest.mark.contract("B138", "B1644")
@pytest.mark.parametrize(
    ("hours", "is_kept", "days"), [(48, False, 0), (49, True, 2), (72, True, 2), (73, True, 3)]
)
def test_a_version_that_is_too_old_is_not_returned_to(hours: int, is_kept: bool, days: int) -> None:
    """Neither by a failure nor by a signal; it is still what checks compare with."""
    plan, warnings = plan_over_v1(), list[str]()
    now = made_at(plan) + timedelta(hours=hours)
    bounded = within_age(plan, 2, now, warnings.append)
    assert (reactions(bounded) == KEPT, len(warnings)) == (is_kept, is_kept)
    said = f"is more than {days} days old, and the limit is 2:"
    assert [said in warning for warning in warnings] == [True] * is_kept
    assert (bounded.targets, bounded.writes) == (plan.targets, plan.writes)


@pytest.mark.contract("B138")
@pytest.mark.parametrize("made", ["", "yesterday", "2026-11-21T12:00:00"])
def test_a_version_of_unknown_age_is_too_old(made: str) -> None:
    """Its ReplicaSet is gone, or does not tell: a limit that cannot be held is no limit."""
    plan, warnings = plan_over_v1(), list[str]()
    [target] = plan.targets
    sets = {rs.uid: replace(rs, created_at=made) for rs in target.snapshot.list_owned() if made}
    plan = replace(plan, targets=(with_sets(target, sets),))
    bounded = within_age(plan, 2, datetime.now(UTC), warnings.append)
    assert reactions(bounded) == KEPT
    assert "nobody knows" in warnings[0]


def with_sets(target: Target, sets: Mapping[str, Revision]) -> Target:
    """Return a target that has other ReplicaSets."""
    own = OwnRevisions(tuple(sets.values()))
    return replace(target, snapshot=replace(target.snapshot, revisions=FrozenMap(sets), own=own))


@pytest.mark.contract("B32", "B138")
@pytest.mark.parametrize("on_failure", OnFailure)
def test_half_an_apply_does_not_go_back_to_what_is_too_old(on_failure: OnFailure) -> None:
    """It would go back whatever becomes of a version that fails; the limit says more."""
    plan, warnings = plan_over_v1(Policy(response=Response(on_failure=on_failure))), list[str]()
    bounded = within_age(plan, 2, datetime(2100, 1, 1, tzinfo=UTC), warnings.append)
    assert plan_to_take_back(plan).policy.response.on_failure is OnFailure.ROLLBACK
    assert plan_to_take_back(bounded) is bounded
    keeps = bounded.policy.response.on_failure
    assert keeps is (OnFailure.KEEP if on_failure is OnFailure.ROLLBACK else on_failure)
    assert len(warnings) == 1


@pytest.mark.contract("B138")
def test_nothing_changes_where_nothing_would_go_back() -> None:
    """Without a limit, with nothing to return to."""
    later, warnings = datetime(2100, 1, 1, tzinfo=UTC), list[str]()
    plan = plan_over_v1()
    assert within_age(plan, None, later, warnings.append) is plan
    [target] = plan.targets
    assert isinstance(target.baseline, Known)
    first = replace(plan, targets=(replace(target, baseline=Absent()),))
    assert within_age(first, 2, later, warnings.append) is first
    assert not warnings
