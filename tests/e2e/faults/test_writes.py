"""Writes whose answer is lost, that arrive late or twice, are refused, or take long."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from tests.bed.expectations import assert_rolled_back, assert_runs, assert_verified, images
from tests.bed.owners import disown, whole
from tests.bed.scene import Scene, settings, web
from tests.cluster.access import Certificate
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import BUDGETS, GOOD, Version, judged
from tests.e2e.faults.webhook import asked_about_deployments
from tests.faults import connections
from tests.faults.proxy import Proxy
from tests.faults.request import APPLIES, Match
from tests.faults.script import Fault, Rule

LATE_SECONDS = 20.0
IN_A_ROW = 20
SLOW_SECONDS = 25.0
DISOWNED = (("configmaps", "settings"), ("deployments", "web"))


@pytest.mark.fault(11)
@pytest.mark.contract("B162", "B506")
@pytest.mark.parametrize(
    "fault", [connections.LostAnswer(), connections.MuteAnswer()], ids=["cut", "silent"]
)
@judged
def test_a_write_whose_answer_is_lost_is_read_back(
    scene: Scene, play: Play, proxy: Proxy, version: Version, fault: Fault
) -> None:
    """The server has done it: what is sent after the read changes nothing, there and back."""
    scene.serve(web())
    first = 1 if version.is_good else 2
    play(Rule(APPLIES, fault, first=first, count=1))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    assert scene.objects.get("deployments", "web")["metadata"]["generation"] == first + 1
    [lost] = proxy.log.like(APPLIES, type(fault).__name__)
    asked = [seen.asked for seen in proxy.log if seen.at > lost.at]
    about = [each for each in asked if each.path == lost.asked.path]
    assert about[0].method == "GET"


@pytest.mark.fault(12)
@pytest.mark.contract("B506")
def test_a_write_that_arrives_late_changes_nothing(scene: Scene, play: Play, audit: Trail) -> None:
    """The first one comes when the second was done: its resourceVersion is the past."""
    scene.serve(web())
    play(Rule(APPLIES, connections.Late(LATE_SECONDS), count=1))
    flags = (*BUDGETS, "--bake", f"{LATE_SECONDS + 5:g}s")
    GOOD.assert_judged(scene, scene.apply(GOOD.manifest, flags=flags))
    written = audit.requests().writes().of(resource="deployments")
    assert [request.code for request in written] == [200, 409]


@judged
def test_writes_that_arrive_twice_are_done_once(scene: Scene, play: Play, version: Version) -> None:
    """A balancer sends each write a second time: that one conflicts, and is read back."""
    scene.serve(web())
    play(Rule(APPLIES, connections.Twice()))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))


@pytest.mark.contract("B149")
def test_owners_that_go_right_before_the_way_back_are_put_back(
    scene: Scene, play: Play, proxy: Proxy
) -> None:
    """The API server's own conflicts with `before-first-apply`: all of it returns, to the field."""
    served = (settings("one"), web())
    assert_verified(scene.apply(*served))
    found = [whole(scene.objects, *each) for each in DISOWNED]
    stripped = [
        Rule(
            Match("PATCH", rf"/{resource}/{name}$", write=True),
            connections.Overtaken(partial(disown, scene.objects, resource, name)),
            first=2,
            count=1,
        )
        for resource, name in DISOWNED
    ]
    play(*stripped)
    bad = {**settings("one"), "data": {"mode": "two", "more": "2"}}
    result = scene.apply(bad, web(2, behaviour="crash=0.1"), flags=BUDGETS)
    assert_rolled_back(result, "CrashLoop")
    assert len(proxy.log.like(stripped[0].match, "Overtaken")) == 1
    assert len(proxy.log.like(stripped[1].match, "Overtaken")) == 1
    assert [whole(scene.objects, *each) for each in DISOWNED] == found
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.fault(13)
@pytest.mark.contract("B507")
@judged
def test_twenty_conflicts_in_a_row_are_decided_again(
    scene: Scene, play: Play, proxy: Proxy, version: Version
) -> None:
    """As under somebody who writes all the time: the server's own, each over another version."""
    scene.serve(web())
    first = 1 if version.is_good else 2
    numbers = itertools.count()

    def touch() -> None:
        changed = {"metadata": {"annotations": {"shop/seen": str(next(numbers))}}}
        scene.objects.patch("deployments", "web", changed)

    play(Rule(APPLIES, connections.Overtaken(touch), first=first, count=IN_A_ROW))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    assert len(proxy.log.like(APPLIES)) == IN_A_ROW + first


@pytest.mark.fault(28)
@pytest.mark.contract("B512")
@judged
def test_a_slow_webhook_is_waited_for(
    scene: Scene, audit: Trail, certificate: Certificate, version: Version
) -> None:
    """A webhook takes 25 s for each write; nothing is sent twice."""
    scene.serve(web())
    namespace = scene.objects.namespace
    with asked_about_deployments(
        scene.client, namespace, certificate, seconds=SLOW_SECONDS
    ) as webhook:
        result = scene.apply(version.manifest, flags=BUDGETS)
    version.assert_judged(scene, result)
    written = audit.requests().writes().of(resource="deployments")
    assert [request.code for request in written] == [200] * (1 if version.is_good else 2)
    assert webhook.asked


def sidecar(deployment: JSON) -> list[JSON]:
    """Return the patch that adds a container to a Deployment's template, where it lacks it."""
    container = {"name": "sidecar", "image": "mesh/proxy:1"}
    if container["image"] in images(deployment):
        return []
    return [{"op": "add", "path": "/spec/template/spec/containers/-", "value": container}]


@pytest.mark.fault(29)
@pytest.mark.contract("B512")
def test_what_a_webhook_adds_is_no_change_of_others(scene: Scene, certificate: Certificate) -> None:
    """A sidecar in the template comes back in the answer to the apply: it is still ours."""
    scene.serve(web())
    with asked_about_deployments(scene.client, scene.objects.namespace, certificate, patch=sidecar):
        result = scene.apply(GOOD.manifest, flags=BUDGETS)
    assert_verified(result)
    live = scene.objects.get("deployments", "web")
    assert images(live) == ["shop/web:2", "mesh/proxy:1"]
