"""Reads are quorum reads; what nobody could read is Unknown, never Absent."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Read
from gate.core.protocol.events import AccessGranted, AccessRefused
from gate.kube.client.client import Client
from gate.kube.client.contact import Contact
from gate.kube.paths.resources import Resources
from gate.kube.reads.quorum_reads import MOST_READ_SINGLY, Autoscaler, Reader
from gate.virtual_time import VirtualClock
from tests.unit.kube.conftest import MakeClient
from tests.unit.kube.scripted import Reply, ScriptedServer, a_list, as_json, as_status

WEB = deployment_ref("shop", "web")
APPS = "/apis/apps/v1/namespaces/shop"
PATH, SETS, PODS = f"{APPS}/deployments/web", f"{APPS}/replicasets", "/api/v1/namespaces/shop/pods"
HPAS = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"
SCALED = "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects"
TEMPLATE: dict[str, Any] = {"spec": {"containers": []}}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "8"},
    "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
}
FORBIDDEN = as_status(403, 'User "u" cannot get resource "deployments" in API group "apps"')


def _item(name: str, **spec: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": "1"}
    return {"metadata": meta, "spec": spec}


@pytest.fixture
def reader(client: Client, resources: Resources) -> Reader:
    """Return a reader of the scripted server."""
    return Reader(client, resources, VirtualClock(5.0))


def test_a_whole_rollout(reader: Reader, server: ScriptedServer) -> None:
    """The Deployment is read first, then what its selector selects, without a resourceVersion."""
    server.on("GET", PATH, as_json(DEPLOYMENT))
    server.on("GET", SETS, a_list(_item("web-1", template=TEMPLATE)))
    server.on("GET", PODS, a_list(_item("web-1-a", containers=[]), following="x"), a_list())
    back = reader.perform(Read(4, WEB, whole_rollout=True))
    assert (back.at, back.effect_id) == (5.0, 4)
    assert isinstance(back.fact, Known)
    assert back.fact.value.uid == "u1"
    assert [found.name for found in back.revisions or ()] == ["web-1"]
    assert [found.name for found in back.pods or ()] == ["web-1-a"]
    assert server.asked(SETS)[0].query == {"labelSelector": "app=web", "limit": "500"}
    assert all("resourceVersion" not in seen.query for seen in server.seen)


def test_absent_is_what_the_server_says_is_not_there(
    reader: Reader, server: ScriptedServer
) -> None:
    """A 404 alone is absence, and then there are no parts either."""
    server.on("GET", PATH, as_status(404, "not found", "NotFound"))
    back = reader.perform(Read(4, WEB, whole_rollout=True))
    assert (back.fact, back.revisions, back.pods) == (Absent(), (), ())


@pytest.mark.contract("B115")
@pytest.mark.parametrize("answer", [as_status(500, "down"), FORBIDDEN, Reply(body=b"<html>")])
@pytest.mark.parametrize("part", [PATH, SETS, PODS])
def test_what_cannot_be_read_is_unknown(
    reader: Reader, server: ScriptedServer, part: str, answer: Reply
) -> None:
    """Where any part of a rollout cannot be read, nothing of it is known."""
    server.on("GET", PATH, as_json(DEPLOYMENT))
    server.on("GET", SETS, a_list())
    server.on("GET", PODS, a_list())
    server.on("GET", part, answer)
    back = reader.perform(Read(4, WEB, whole_rollout=True))
    assert isinstance(back.fact, Unknown)
    assert back.fact.why
    assert (back.revisions, back.pods) == (None, None)


def _owned(name: str, owner: str, **spec: Any) -> dict[str, Any]:
    item = _item(name, **spec)
    owners = [{"uid": owner, "controller": True, "kind": "", "name": "", "apiVersion": ""}]
    return {**item, "metadata": {**item["metadata"], "ownerReferences": owners}}


def _selected(name: str, app: str | None = None) -> dict[str, Any]:
    """Return a Deployment as a list has it: without its kind."""
    spec = {"selector": {"matchLabels": {"app": app or name}}, "template": TEMPLATE}
    return _item(name, **spec)


API = deployment_ref("shop", "api")
BOTH = {ref: {"matchLabels": {"app": ref.name}} for ref in (API, WEB)}
TOGETHER = (Read(1, API, whole_rollout=True), Read(2, WEB, whole_rollout=True))


@pytest.fixture
def pair(client: Client, resources: Resources) -> Reader:
    """Return a reader that knows the selectors of two Deployments."""
    return Reader(client, resources, VirtualClock(5.0), BOTH)


@pytest.mark.contract("B557")
def test_rollouts_that_are_read_together_cost_three_lists(
    pair: Reader, server: ScriptedServer
) -> None:
    """Each gets what it owns; what nobody in the lists owns may be of each."""
    live = (_selected("web"), _selected("job"), _selected("api"))
    server.on("GET", f"{APPS}/deployments", a_list(*live[:2], following="x"), a_list(live[2]))
    sets = (_owned("web-1", "web", template=TEMPLATE), _owned("api-1", "api", template=TEMPLATE))
    server.on("GET", SETS, a_list(*sets))
    pods = (_owned("a", "web-1", containers=[]), _owned("b", "api-1", containers=[]))
    server.on("GET", PODS, a_list(*pods, _item("lone", containers=[])))
    api, web = pair.perform_together(TOGETHER)
    assert (api.effect_id, web.effect_id) == (1, 2)
    for back, name, pod in ((api, "api", "b"), (web, "web", "a")):
        assert isinstance(back.fact, Known)
        assert back.fact.value.ref == deployment_ref("shop", name)
        assert [found.name for found in back.revisions or ()] == [f"{name}-1"]
        assert [found.name for found in back.pods or ()] == [pod, "lone"]
    assert len(server.seen) == 4
    assert server.asked(PODS)[0].query == {"labelSelector": "app in (api,web)", "limit": "500"}
    assert all("resourceVersion" not in seen.query for seen in server.seen)


@pytest.mark.contract("B557")
def test_together_a_missing_one_is_absent_and_one_with_another_selector_is_read_alone(
    pair: Reader, server: ScriptedServer
) -> None:
    """A Deployment that was made again may select by other labels."""
    server.on("GET", f"{APPS}/deployments", a_list(_selected("web", "other")))
    server.on("GET", PATH, as_json(DEPLOYMENT))
    server.on("GET", SETS, a_list())
    server.on("GET", PODS, a_list())
    api, web = pair.perform_together(TOGETHER)
    assert (api.fact, api.revisions, api.pods) == (Absent(), (), ())
    assert isinstance(web.fact, Known)
    assert web.fact.value.uid == "u1"


@pytest.mark.contract("B557")
def test_together_what_is_of_another_kind_is_read_alone(
    client: Client, resources: Resources, server: ScriptedServer
) -> None:
    """A list of Deployments says nothing of a StatefulSet: it is not absent for that."""
    server.on("GET", f"{APPS}/deployments", a_list())
    server.on("GET", SETS, a_list())
    server.on("GET", PODS, a_list())
    ref = Ref("apps/v1", "StatefulSet", "shop", "web")
    server.on("GET", f"{APPS}/statefulsets/web", as_status(403, "no", "Forbidden"))
    selectors = {**BOTH, ref: next(iter(BOTH.values()))}
    reader = Reader(client, resources, VirtualClock(5.0), selectors)
    *_, other = reader.perform_together((*TOGETHER, Read(3, ref, whole_rollout=True)))
    assert isinstance(other.fact, Unknown)


@pytest.mark.contract("B557", "B115")
@pytest.mark.parametrize("part", [f"{APPS}/deployments", SETS, PODS])
def test_together_a_list_that_fails_leaves_all_unknown(
    pair: Reader, server: ScriptedServer, part: str
) -> None:
    """Nothing is told of any of them."""
    server.on("GET", f"{APPS}/deployments", a_list(_selected("web"), _selected("api")))
    server.on("GET", SETS, a_list())
    server.on("GET", PODS, a_list())
    server.on("GET", part, Reply(body=b"<html>"))
    for back in pair.perform_together(TOGETHER):
        assert isinstance(back.fact, Unknown)
        assert (back.revisions, back.pods) == (None, None)


@pytest.mark.contract("B557")
@pytest.mark.parametrize("may_list", [True, False])
def test_many_deployments_are_found_by_one_list(
    reader: Reader, server: ScriptedServer, *, may_list: bool
) -> None:
    """Other objects are read by their names, and so are all where listing is not allowed."""
    refs = [deployment_ref("shop", f"web-{n}") for n in range(MOST_READ_SINGLY + 1)]
    there = [_selected(ref.name) for ref in refs[1:]]
    server.on("GET", f"{APPS}/deployments", a_list(*there) if may_list else FORBIDDEN)
    for ref in refs:
        server.on("GET", f"{APPS}/deployments/{ref.name}", as_status(404, "no", "NotFound"))
    settings = Ref("v1", "ConfigMap", "shop", "settings")
    path = "/api/v1/namespaces/shop/configmaps/settings"
    server.on("GET", path, as_status(404, "no", "NotFound"))
    lives = reader.lives([settings, *refs])
    assert list(lives) == [settings, *refs]
    assert lives[refs[0]] == Absent()
    assert isinstance(lives[refs[1]], Known) is may_list
    assert len(server.seen) == (2 if may_list else 2 + len(refs))


@pytest.mark.contract("B33")
def test_a_refusal_and_its_end_are_told(make_client: MakeClient, server: ScriptedServer) -> None:
    """A 403 in the middle of a run may be that of an authorizer that fails now and then."""
    heard: list[Any] = []
    client = make_client(contact=Contact(VirtualClock(), heard.append))
    server.on("GET", PATH, FORBIDDEN, as_json(DEPLOYMENT))
    reader = Reader(client, Resources(client), VirtualClock(), insists=True)
    assert isinstance(reader.perform(Read(1, WEB, whole_rollout=False)).fact, Known)
    refused, granted = heard
    assert isinstance(refused, AccessRefused)
    assert refused.reason is Reason.FORBIDDEN
    assert granted == AccessGranted(0.0, refused.what)


def test_autoscalers(reader: Reader, server: ScriptedServer) -> None:
    """Both kinds name their target; KEDA leaves out what is usual, and may not be installed."""
    target = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}
    server.on("GET", HPAS, a_list(_item("db", scaleTargetRef=target)))
    scaled = a_list(_item("web", scaleTargetRef={"name": "web"}))
    server.on("GET", SCALED, scaled, Reply(404, b"404 page not found\n"))
    database = Ref("apps/v1", "StatefulSet", "shop", "db")
    first = Autoscaler("HorizontalPodAutoscaler", "db", database)
    assert reader.autoscalers("shop") == Known((first, Autoscaler("ScaledObject", "web", WEB)))
    assert reader.autoscalers("shop") == Known((first,))


@pytest.mark.parametrize("answer", [as_status(403, "x cannot list"), a_list({"spec": {}})])
def test_autoscalers_that_nobody_can_read(
    reader: Reader, server: ScriptedServer, answer: Reply
) -> None:
    """Without the right, or without sense in the answer, nobody knows who scales."""
    server.on("GET", HPAS, a_list())
    server.on("GET", SCALED, answer)
    assert isinstance(reader.autoscalers("shop"), Unknown)
