"""The first line of a verdict about Deployments: what each did, and what became of it."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.report.schema.result import DeploymentResult
from gate.report.style.style import Style
from gate.report.words.headline import headline
from tests.unit.report.results import deployment_result, object_result, result_of

ONE_LINE = Style(width=1_000_000)


def beside(*own: Reason) -> DeploymentResult:
    """Return a Deployment that another one's failure ended, with what spoke against it."""
    found = deployment_result(Outcome.FAILED, Reason.SIBLING_FAILED, name="api")
    reasons = (Reason.SIBLING_FAILED, *own)
    found["causes"] = [{"reason": one, "message": "why", "pods": 1} for one in reasons]
    return found


@pytest.mark.contract("B772", "B742")
@pytest.mark.parametrize(
    ("own", "said"),
    [
        (Reason.CRASH_LOOP, "deployment/web, deployment/api failed and were not taken back"),
        (Reason.POD_CREATE_DENIED, "deployment/api did not complete and was not taken back"),
        (None, "nothing was found against deployment/api, which stays"),
    ],
)
def test_what_ended_beside_a_failure_is_judged_by_its_own_causes(
    own: Reason | None, said: str
) -> None:
    """The failure of the other one speaks neither for nor against it."""
    web = deployment_result(Outcome.FAILED, Reason.CRASH_LOOP)
    other = beside() if own is None else beside(own)
    first = headline(result_of(web, other), ONE_LINE)[0]
    assert said in first


@pytest.mark.contract("B742")
def test_of_several_that_went_back_each_is_said_what_it_did() -> None:
    """A quota is no fault of the version beside the one that crashed."""
    crashed = deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    denied = deployment_result(Outcome.ROLLED_BACK, Reason.POD_CREATE_DENIED, name="api")
    first = headline(result_of(crashed, denied), ONE_LINE)[0]
    assert "deployment/web failed and deployment/api did not complete; 2 of 2" in first


@pytest.mark.contract("B898")
@pytest.mark.parametrize("reason", [Reason.CHECK_FAILED, Reason.CHECK_INCONCLUSIVE])
def test_after_a_check_led_back_it_is_said_that_none_was_asked_again(reason: Reason) -> None:
    """What serves again may fail the same check: verified is what Kubernetes says of it."""
    web = deployment_result(Outcome.ROLLED_BACK, reason)
    api = {**deployment_result(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED), "name": "api"}
    alone = headline(result_of(web), ONE_LINE)[0]
    assert alone.endswith("serves again, verified; no check was asked of it"), alone
    both = headline(result_of(web, api), ONE_LINE)[0]  # type: ignore[arg-type]
    assert both.endswith("2 of 2 Deployments went back, verified; no check was asked of them")
    crashed = headline(
        result_of(deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP)), ONE_LINE
    )[0]
    assert crashed.endswith("serves again, verified"), crashed


@pytest.mark.contract("B772")
def test_of_several_that_went_back_the_one_that_failed_is_named() -> None:
    """Nothing was found against the other, which went back with it: also without a log."""
    crashed = deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    other = {**beside(), "outcome": Outcome.ROLLED_BACK, "running": "baseline"}
    first = headline(result_of(crashed, other), ONE_LINE)[0]  # type: ignore[arg-type]
    assert "deployment/web failed; 2 of 2 Deployments went back, verified" in first
    assert "deployment/api" not in first


@pytest.mark.contract("B742")
@pytest.mark.parametrize(
    ("causes", "verb"),
    [
        ([Reason.CRASH_LOOP, Reason.POD_CREATE_DENIED], "failed"),
        ([Reason.POD_CREATE_DENIED, Reason.CRASH_LOOP], "did not complete"),
        ([Reason.SIBLING_FAILED, Reason.CRASH_LOOP, Reason.UNSCHEDULABLE], "failed"),
        ([], "did not complete"),
    ],
)
def test_the_first_cause_of_its_own_says_whether_it_failed(causes: list[Reason], verb: str) -> None:
    """A clock ended it; what came second, as a quota beside a crash, takes nothing from it."""
    web = deployment_result(Outcome.ROLLED_BACK, Reason.PROGRESS_DEADLINE_EXCEEDED, "baseline")
    web["causes"] = [{"reason": one, "message": "why", "pods": 1} for one in causes]
    assert f"deployment/web {verb}; " in headline(result_of(web), ONE_LINE)[0]


@pytest.mark.contract("B742")
@pytest.mark.parametrize(
    ("reason", "verb"),
    [(Reason.POD_CREATE_DENIED, "did not complete"), (Reason.CRASH_LOOP, "failed")],
)
def test_the_verb_is_the_same_whatever_became_of_it(reason: Reason, verb: str) -> None:
    """Beside configuration that did not return, and of what the run had not changed."""
    back = result_of(deployment_result(Outcome.ROLLED_BACK, reason, "baseline"))
    back["outcome"] = Outcome.ROLLBACK_FAILED
    said = f"deployment/web {verb}; not all that goes with it was restored: it needs a person"
    assert said in headline(back, ONE_LINE)[0]
    sick = [{**deployment_result(Outcome.FAILED, reason), "changed": False} for _ in range(2)]
    sick[1]["name"] = "api"
    for count, stand in ((1, "it: it stands as it was"), (2, "them: they stand as they were")):
        result = result_of(*sick[:count])  # type: ignore[arg-type]
        result["objects"] = [object_result()]
        names = ", ".join(f"deployment/{one['name']}" for one in sick[:count])
        said = f"{names} {verb}, and this run had not changed {stand}"
        assert said in headline(result, ONE_LINE)[0]


@pytest.mark.contract("B136")
@pytest.mark.parametrize(
    ("action", "said"), [("deleted", "was deleted"), ("deleting", "is being deleted")]
)
def test_of_what_was_created_and_deleted_nothing_serves_again(action: str, said: str) -> None:
    """There was no version before it: alone, and beside one that went back."""
    web = deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "none")
    web["baseline"] = None
    alone = result_of(web)
    alone["objects"] = [object_result(kind="Deployment", name="web", action=action)]
    first = headline(alone, ONE_LINE)[0]
    assert f"deployment/web failed; this run had created it, and it {said}" in first
    other = deployment_result(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED, "baseline")
    other["name"] = "api"
    both = result_of(web, other)
    both["objects"] = alone["objects"]
    first = headline(both, ONE_LINE)[0]
    assert "1 of 2 Deployments went back, verified;" in first
    assert first.endswith(f"deployment/web, created by this run, {said}")
