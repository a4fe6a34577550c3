"""Answers to writes are lost on their way: reads show what was done, and nothing is done twice."""

from __future__ import annotations

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_runs, assert_verified, images, warned
from tests.bed.jobs import CRASH as JOB_CRASH
from tests.bed.jobs import REPLACE, ended, job
from tests.bed.pods import running_pods
from tests.bed.scene import secret, settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.killing import LEASE
from tests.scenarios.proxy import (
    UNAUTHORIZED,
    Does,
    Proxy,
    breaks,
    counted,
    loses,
    nth,
    reads,
    says,
    says_once_done,
    status,
    writes,
)
from tests.scenarios.versions import CRASH, mode

BUDGETS = ("--timeout", "60s", "--rollback-timeout", "30s")
WORKLOADS = writes("/configmaps", "/deployments", "/statefulsets")
GAVE_UP = Answer(504, b"the proxy gave up", {"content-type": "text/plain"})
VERSIONS: dict[str, tuple[list[JSON], list[JSON]]] = {
    "deployment": ([web()], [web(2, behaviour=CRASH)]),
    "several": (
        [settings("one"), web(), web(name="api")],
        [settings("two"), web(2, behaviour=CRASH), web(2, name="api", behaviour=CRASH)],
    ),
    "statefulset": (
        [stateful_set(replicas=2)],
        [stateful_set(image="shop/db:2", replicas=2, behaviour=CRASH)],
    ),
}


@pytest.mark.sandbox_only("answers are lost between the gate and its server")
@pytest.mark.contract("B162", "B1700")
@pytest.mark.parametrize(
    "does",
    [loses, says_once_done(status(504, "the backend did not answer in time"))],
    ids=["reset", "504"],
)
@pytest.mark.parametrize("kind", VERSIONS)
def test_a_way_back_that_is_read_is_not_sent_again(proxy: Proxy, kind: str, does: Does) -> None:
    """Each write is sent once, what it brought back is verified, and a blocked pod is replaced."""
    scene, (first, second) = proxy.scene, VERSIONS[kind]
    scene.serve(*first)
    proxy.on(counted(WORKLOADS, lambda number: number > len(second)), does)
    result = scene.apply(*second, flags=BUDGETS)
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    names = [body["metadata"]["name"] for body in second]
    assert sorted(one.path.rpartition("/")[2] for one in proxy.met) == sorted(names)
    if kind == "statefulset":
        running_pods(scene, "shop/db:1", 2)
    else:
        assert_runs(scene.objects, "shop/web:1")
    if kind == "several":
        assert mode(scene) == "one"
    assert not any("not known" in each for each in result.document["warnings"])


@pytest.mark.sandbox_only("answers are lost between the gate and its server")
@pytest.mark.contract("B1945")
def test_a_forced_write_that_was_lost_is_not_sent_again_over_somebody_elses(proxy: Proxy) -> None:
    """The server would take it, whoever owns the image by then."""
    scene = proxy.scene
    assert_verified(scene.apply(web()))

    def lost_and_changed(request: Request, handle: Handle) -> Answer:
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:77")
        return breaks(request, handle)

    proxy.on(nth(1, writes("/deployments/web")), lost_and_changed)
    result = scene.apply(web(2), flags=["--force-conflicts"])
    assert_ended(result, 8, "superseded", "Superseded")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:77"]


@pytest.mark.sandbox_only("answers are lost between the gate and its server")
@pytest.mark.contract("B1943")
def test_the_write_in_doubt_is_named_and_none_that_was_left_to_others(proxy: Proxy) -> None:
    """Somebody deletes api while its answer is lost; that of web is the last that is awaited."""
    scene, lost = proxy.scene, list[Request]()
    assert_verified(scene.apply(web(name="api"), web()))

    def lost_and_deleted(request: Request, handle: Handle) -> Answer:
        scene.objects.delete("deployments", "api")
        return breaks(request, handle)

    def lost_for_good(request: Request, handle: Handle) -> Answer:
        lost.append(request)
        return loses(request, handle)

    proxy.on(nth(1, writes("/deployments/api")), lost_and_deleted)
    proxy.on(lambda _: bool(lost), breaks)
    proxy.on(nth(1, writes("/deployments/web")), lost_for_good)
    result = scene.apply(web(2, name="api"), web(2), flags=("--timeout", "30s"))
    assert_ended(result, 9, "lost-contact", "Unreachable")
    actions = {one["name"]: one["action"] for one in result.document["objects"]}
    assert actions == {"api": "unchanged", "web": "in-doubt"}
    [doubt] = [one for one in result.document["warnings"] if "not known" in one]
    assert "deployment/web" in doubt
    proxy.rest()
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.sandbox_only("answers are lost between the gate and its server")
@pytest.mark.contract("B1942", "B542")
@pytest.mark.parametrize("does", [loses, says_once_done(GAVE_UP)], ids=["reset", "504"])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_secret_beside_a_lock_that_lost_its_answer_is_deleted(
    proxy: Proxy, does: Does, is_read: bool
) -> None:
    """It is found at once, or at the end where the server did not answer that question either."""
    scene = proxy.scene
    assert_verified(scene.apply(secret("one"), web()))
    proxy.on(lambda request: request.method == "POST" and request.path.endswith("/secrets"), does)
    if not is_read:
        asks = reads(f"/secrets/{LEASE}")
        proxy.on(lambda request: asks(request) and len(proxy.met) == 1, says(UNAUTHORIZED))
    result = scene.apply(secret("two"), web(2))
    assert_verified(result)
    assert warned(result, "will not be able to restore secret/keys") is not is_read
    assert [one["metadata"]["name"] for one in scene.objects.list_all("secrets")] == ["keys"]


@pytest.mark.contract("B965")
@pytest.mark.parametrize("losing", [0, 1])
def test_a_generated_name_makes_one_job_an_attempt(proxy: Proxy, losing: int) -> None:
    """A request that is repeated after a lost answer names the same Job; the next apply another."""
    body = job()
    body["metadata"] = {"generateName": "migrate-"}
    scene, creations = proxy.scene, writes("/jobs/")
    proxy.on(creations, lambda request, handle: handle(request))
    proxy.on(counted(creations, lambda number: number <= losing), says_once_done(GAVE_UP))
    assert ended(scene.apply(body)) == (0, "verified", "Complete")
    (made,) = scene.objects.list_all("jobs")
    assert made["metadata"]["name"].startswith("migrate-")
    assert len(made["metadata"]["name"]) == len("migrate-") + 10
    assert {one.path.rpartition("/")[2] for one in proxy.met} == {made["metadata"]["name"]}
    assert ended(scene.apply(body)) == (0, "verified", "Complete")
    assert len(scene.objects.list_all("jobs")) == 2


@pytest.mark.contract("B964", "B965")
@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_replaced_job_whose_answers_are_lost_is_created_once(
    proxy: Proxy, *, is_dropped: bool
) -> None:
    """Neither a lost deletion nor a creation that was lost or dropped is called somebody else's."""
    scene = proxy.scene
    assert ended(scene.apply(job(behaviour=JOB_CRASH))) == (6, "failed", "JobFailed")
    if not is_dropped:
        proxy.on(nth(1, writes("/jobs/", method="DELETE")), says_once_done(GAVE_UP))
    does = says(GAVE_UP) if is_dropped else says_once_done(GAVE_UP)
    proxy.on(nth(1, writes("/jobs/")), does)
    assert ended(scene.apply(job(annotations={REPLACE: "true"}))) == (0, "verified", "Complete")
    assert len(proxy.met) == (1 if is_dropped else 2)
    assert len(scene.objects.list_all("jobs")) == 1
