"""One removal is one request with the pod's uid, and every answer says what became of the pod."""

from __future__ import annotations

import pytest

from gate.core.model.objects import Ref
from gate.core.protocol.effects import RemovePod
from gate.core.protocol.events import Removal
from gate.core.rollout.policy import BlockedPods
from gate.kube.client.client import Client
from gate.kube.writes.pod_removal import PodRemover
from gate.virtual_time import VirtualClock
from tests.unit.kube.scripted import Answer, Drop, ScriptedServer, as_json, as_status

DB = Ref("apps/v1", "StatefulSet", "shop", "db")
POD = "/api/v1/namespaces/shop/pods/db-2"
EVICTION = f"{POD}/eviction"
GUARD = {"preconditions": {"uid": "u1"}}
BUDGET = {"reason": "DisruptionBudget", "message": "The disruption budget db needs 3 healthy pods"}
FORBIDDEN = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"


def effect(how: BlockedPods = BlockedPods.EVICT) -> RemovePod:
    """Return the removal of `db-2`."""
    return RemovePod(7, DB, "db-2", "u1", how)


@pytest.mark.contract("B924")
def test_an_eviction_names_the_uid(client: Client, server: ScriptedServer) -> None:
    """It is a request to the pod's own subresource."""
    server.on("POST", EVICTION, as_json({"kind": "Status", "status": "Success"}, 201))
    answer = PodRemover(client, VirtualClock(5.0)).perform(effect())
    assert (answer.effect_id, answer.removal, answer.message) == (7, Removal.ACCEPTED, "")
    (seen,) = server.asked(EVICTION)
    assert seen.method == "POST"
    assert seen.json()["deleteOptions"] == GUARD


@pytest.mark.contract("B924")
def test_a_deletion_names_the_uid_and_no_grace(client: Client, server: ScriptedServer) -> None:
    """The pod has its whole time to terminate."""
    server.on("DELETE", POD, as_json({"kind": "Pod"}))
    removal = PodRemover(client, VirtualClock(5.0)).perform(effect(BlockedPods.DELETE)).removal
    assert removal is Removal.ACCEPTED
    (seen,) = server.asked(POD)
    assert (seen.method, seen.json()["preconditions"]) == ("DELETE", GUARD["preconditions"])
    assert "gracePeriodSeconds" not in seen.json()


@pytest.mark.contract("B925")
@pytest.mark.parametrize(
    ("answer", "removal"),
    [
        (as_status(429, FORBIDDEN, "TooManyRequests", causes=[BUDGET]), Removal.GUARDED),
        (as_status(500, SEVERAL, "InternalError"), Removal.REFUSED),
        (as_status(403, 'cannot create resource "pods/eviction"', "Forbidden"), Removal.REFUSED),
        (as_status(404, 'pods "db-2" not found', "NotFound"), Removal.ACCEPTED),
        (
            as_status(409, "the UID in the precondition (u1) does not match", "Conflict"),
            Removal.ACCEPTED,
        ),
        (as_status(500, "etcdserver: request timed out", "InternalError"), Removal.UNANSWERED),
        (Drop(), Removal.UNANSWERED),
    ],
    ids=["budget", "two budgets", "no right", "gone", "another", "error", "lost"],
)
def test_each_answer_is_asked_for_once(
    client: Client, server: ScriptedServer, answer: Answer, removal: Removal
) -> None:
    """A budget's refusal is no throttling, and two budgets are an error for good."""
    server.on("POST", EVICTION, answer)
    assert PodRemover(client, VirtualClock(5.0)).perform(effect()).removal is removal
    assert len(server.asked(EVICTION)) == 1
