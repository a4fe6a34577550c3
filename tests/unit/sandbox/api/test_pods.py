"""Binding and eviction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.api.api import Api, ApiError, DeleteOptions, Key, Patch, PatchType, Writer
from sandbox.json import JSON

ME = Writer("system:kube-scheduler", "kube-scheduler")
POD = Key("pods", "default", "p")
BUDGET = Key("poddisruptionbudgets.policy", "default", "b")
SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
EVICTION = {"metadata": {"name": "p"}}


@pytest.fixture
def live(api: Api, pod: Callable[..., JSON]) -> JSON:
    """Return a pod that has no node yet."""
    return api.create("pods", "default", pod(), ME)


@pytest.fixture
def running(api: Api, live: JSON) -> JSON:
    """Return a pod that a node runs."""
    api.bind(POD, binding(), ME)
    return api.patch(
        POD, Patch(PatchType.MERGE, {"status": {"phase": "Running"}}), ME, subresource="status"
    )


def binding(node: str = "n", kind: str = "Node", **metadata: object) -> JSON:
    """Return a Binding."""
    return {"metadata": {"name": "p", **metadata}, "target": {"kind": kind, "name": node}}


def test_binding_gives_a_pod_its_node(api: Api, live: JSON) -> None:
    """With the condition that says so and the annotations of the Binding; nothing is counted."""
    assert api.bind(POD, binding(annotations={"k": "v"}), ME) == SUCCESS
    body = api.get(POD)
    assert body["spec"]["nodeName"] == "n"
    assert body["metadata"]["annotations"] == {"k": "v"}
    assert body["metadata"]["generation"] == live["metadata"]["generation"] == 1
    assert body["metadata"]["managedFields"] == live["metadata"]["managedFields"]
    (condition,) = body["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")


def test_a_pod_is_bound_once(api: Api, running: JSON) -> None:
    """409 names the node that it has."""
    with pytest.raises(ApiError) as caught:
        api.bind(POD, binding("other"), ME)
    assert (caught.value.status, caught.value.message) == (
        409,
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
    )


def test_a_pod_that_goes_is_not_bound(api: Api, live: JSON) -> None:
    """409."""
    api.patch(POD, Patch(PatchType.MERGE, {"metadata": {"finalizers": ["a.b/c"]}}), ME)
    api.delete(POD, ME)
    with pytest.raises(ApiError, match="pod p is being deleted, cannot be assigned to a host"):
        api.bind(POD, binding(), ME)


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (
            binding(kind="Foo"),
            500,
            'target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>"',
        ),
        (binding(""), 500, "target.name: Required value"),
        (binding(uid="x"), 409, "UID in precondition: x"),
    ],
)
def test_a_binding_that_cannot_be_is_refused(
    api: Api, live: JSON, sent: JSON, status: int, message: str
) -> None:
    """With the code and the words of the server."""
    with pytest.raises(ApiError) as caught:
        api.bind(POD, sent, ME)
    assert caught.value.status == status
    assert message in caught.value.message


def test_a_dry_binding_binds_nothing(api: Api, live: JSON) -> None:
    """The answer is a success."""
    assert api.bind(POD, binding(), ME, dry_run=True) == SUCCESS
    assert api.get(POD) is live


def test_an_eviction_deletes_a_pod(api: Api, running: JSON) -> None:
    """Gracefully, as a deletion does."""
    assert api.evict(POD, EVICTION, ME) == SUCCESS
    assert api.get(POD)["metadata"]["deletionGracePeriodSeconds"] == 30


def test_an_eviction_carries_options(api: Api, running: JSON) -> None:
    """Those of a deletion."""
    api.evict(POD, {**EVICTION, "deleteOptions": {"gracePeriodSeconds": 0}}, ME)
    assert api.store.get(POD) is None


def test_an_eviction_is_about_its_pod(api: Api, running: JSON) -> None:
    """400 for another name, 404 for a pod that is not there."""
    with pytest.raises(ApiError, match="name in URL does not match name in Eviction object"):
        api.evict(POD, {"metadata": {"name": "q"}}, ME)
    with pytest.raises(ApiError, match='pods "q" not found'):
        api.evict(Key("pods", "default", "q"), {"metadata": {"name": "q"}}, ME)


@pytest.fixture
def budget(api: Api) -> Callable[[JSON], None]:
    """Return how the budget of the pod gets a status."""
    body = {
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    api.create("poddisruptionbudgets.policy", "default", body, ME)

    def set_status(status: JSON) -> None:
        api.patch(BUDGET, Patch(PatchType.MERGE, {"status": status}), ME, subresource="status")

    return set_status


def test_a_budget_that_nobody_has_computed_blocks(
    api: Api, running: JSON, budget: Callable[[JSON], None]
) -> None:
    """429 with a time to come back."""
    with pytest.raises(ApiError) as caught:
        api.evict(POD, EVICTION, ME)
    assert caught.value.status == 429
    assert caught.value.message == (
        "Cannot evict pod as it would violate the pod's disruption budget."
    )
    assert caught.value.headers == {"Retry-After": "10"}
    (cause,) = caught.value.details["causes"]
    assert cause["message"] == "The disruption budget b is still being processed by the server."


def test_a_budget_that_is_spent_blocks(
    api: Api, running: JSON, budget: Callable[[JSON], None]
) -> None:
    """429 says what it needs and has."""
    budget({"observedGeneration": 1, "desiredHealthy": 1, "currentHealthy": 1})
    with pytest.raises(ApiError) as caught:
        api.evict(POD, EVICTION, ME)
    (cause,) = caught.value.details["causes"]
    assert cause["message"] == "The disruption budget b needs 1 healthy pods and has 1 currently"


def test_an_eviction_spends_the_budget(
    api: Api, running: JSON, budget: Callable[[JSON], None]
) -> None:
    """One disruption less, the pod's name in the status, and the condition where none is left."""
    budget({"observedGeneration": 1, "disruptionsAllowed": 1})
    api.evict(POD, EVICTION, ME)
    status = api.get(BUDGET)["status"]
    assert status["disruptionsAllowed"] == 0
    assert status["disruptedPods"] == {"p": "2026-01-01T00:00:00Z"}
    assert status["conditions"][0]["reason"] == "InsufficientPods"
    assert api.get(POD)["metadata"]["deletionTimestamp"]


def test_a_budget_does_not_keep_what_has_not_begun(
    api: Api, live: JSON, budget: Callable[[JSON], None]
) -> None:
    """A pending pod goes, whatever the budget says."""
    api.evict(POD, EVICTION, ME)
    assert api.store.get(POD) is None


def test_two_budgets_over_one_pod_are_an_error(
    api: Api, running: JSON, budget: Callable[[JSON], None]
) -> None:
    """500: the server does not support it."""
    other = {
        "metadata": {"name": "c"},
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
        },
    }
    api.create("poddisruptionbudgets.policy", "default", other, ME)
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget") as caught:
        api.evict(POD, EVICTION, ME)
    assert caught.value.status == 500


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"propagationPolicy": "x"}, 'propagationPolicy: Unsupported value: "x"'),
        ({"gracePeriodSeconds": "x"}, "gracePeriodSeconds of type int64"),
    ],
)
def test_an_eviction_with_wrong_options_is_refused(
    api: Api, running: JSON, options: JSON, message: str
) -> None:
    """As the deletion would be; the pod stays."""
    with pytest.raises(ApiError, match=message):
        api.evict(POD, {**EVICTION, "deleteOptions": options}, ME)
    assert api.get(POD) is running


def test_an_eviction_can_be_dry_by_its_options(api: Api, running: JSON) -> None:
    """`dryRun` of the deletion is that of the eviction."""
    assert api.evict(POD, {**EVICTION, "deleteOptions": {"dryRun": ["All"]}}, ME) == SUCCESS
    assert api.get(POD) is running


def test_a_binding_of_another_form_is_refused(api: Api, live: JSON) -> None:
    """400 in the words of the decoder."""
    with pytest.raises(ApiError, match=r"Binding.target of type v1.ObjectReference"):
        api.bind(POD, {"metadata": {"name": "p"}, "target": 3}, ME)


def test_a_grace_period_beyond_all_dates_is_kept(api: Api, running: JSON) -> None:
    """The number is as asked; the time is as late as a date tells."""
    found = api.delete(POD, ME, DeleteOptions(grace_seconds=2**62))["metadata"]
    assert found["deletionGracePeriodSeconds"] == 2**62
    assert found["deletionTimestamp"] > "2120"
