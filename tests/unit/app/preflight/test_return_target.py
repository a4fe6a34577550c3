"""What is said before the first write of what a failure returns to, and why to that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.app.preflight.return_target import describe
from gate.core.rollout.policy import OnFailure
from gate.core.versions.history import History
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
