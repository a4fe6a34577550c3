"""A way back that gets no usable answer until its time is over: what is said, and what is kept."""

from __future__ import annotations

import pytest

from sandbox.face import Request
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.owners import disown
from tests.bed.pods import image_of
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.pod_replacement import db
from tests.scenarios.proxy import (
    AWAY,
    UNAUTHORIZED,
    Does,
    Meets,
    Proxy,
    breaks,
    says,
    status,
    writes,
)
from tests.scenarios.versions import CRASH, mode, one_line, screen

pytestmark = pytest.mark.sandbox_only("requests fail between the gate and its server")

GONE_BACK = "restored +(deployment/web|statefulset/db)"
FAILED = "rollback "
DOWN = status(500, 'Internal error occurred: failed calling webhook "policy.example": refused')
SHED = status(429, "too many requests, please try again later")
DENIED = status(403, 'admission webhook "policy.example" denied the request: not now')
Bodies = tuple[JSON, ...]
DEPLOYMENT = (settings("one"), web()), (settings("two"), web(2, behaviour=CRASH))
STATEFUL_SET = (db(1),), (db(2, behaviour=CRASH),)
WRITES = writes("/deployments", "/configmaps")
EVICTIONS = writes("/eviction", method="POST")
BUDGETS = ("--timeout", "60s", "--rollback-timeout", "30s")


def is_no_renewal(request: Request) -> bool:
    """Tell whether a request is about anything but a lock."""
    return "/leases" not in request.path


def is_read_of_sets(request: Request) -> bool:
    """Tell whether a request reads StatefulSets; a watch of them goes on."""
    is_watch = request.read_parameter("watch")
    return request.method == "GET" and "/statefulsets" in request.path and not is_watch


def unanswered(
    proxy: Proxy, does: Does, meets: Meets, since: str, versions: tuple[Bodies, Bodies]
) -> Result:
    """Fail the second version; from a line of its way back on, requests come to nothing."""
    good, bad = versions
    assert proxy.scene.apply(*good).exit_code == 0
    with proxy.scene.applying(*bad, flags=BUDGETS) as running:
        running.wait_for_line(since)
        proxy.on(meets, does)
        result = running.wait()
    proxy.rest()
    assert proxy.met
    return result


def advice_of(result: Result) -> str:
    """Return what a report advises to do next, in one line."""
    return one_line(screen(result)).partition("next")[2]


def assert_recovers(scene: Scene) -> None:
    """Assert that `recover` finishes the way back, and leaves nothing to finish."""
    assert_rolled_back(recover(scene), "CrashLoop")
    assert_nothing_left(scene)


def assert_nothing_left(scene: Scene) -> None:
    """Assert that there is nothing to finish."""
    assert "no record of an unfinished attempt was found" in scene.gate("recover").stderr


@pytest.mark.contract("B1710", "B28", "B544", "B1631")
def test_renewals_of_a_lock_are_no_contact_with_what_is_followed(proxy: Proxy) -> None:
    """Nothing but Leases is answered once the way back is written: nobody knows what runs."""
    result = unanswered(proxy, says(AWAY), is_no_renewal, GONE_BACK, DEPLOYMENT)
    ended = assert_ended(result, 9, "lost-contact", "Unreachable", running="unknown")
    assert ended["message"].startswith("requests got only 503 Service Unavailable: ")
    assert "serves requests again" not in result.stderr
    assert "rollout-gate recover" in advice_of(result)
    assert_recovers(proxy.scene)
    assert_runs(proxy.scene.objects, "shop/web:1")


@pytest.mark.contract("B1711", "B25", "B924")
@pytest.mark.parametrize(
    ("does", "meets", "said"),
    [
        (
            says(SHED),
            is_read_of_sets,
            "the last read before its time ran out got no usable answer: too many requests",
        ),
        (says(AWAY), EVICTIONS, "its removal has no answer: apiserver is shutting down"),
    ],
    ids=["reads", "removal"],
)
def test_a_pod_in_the_way_of_a_blind_way_back_is_left_to_recover(
    proxy: Proxy, does: Does, meets: Meets, said: str
) -> None:
    """The StatefulSet went back, and can go no further until that pod goes."""
    result = unanswered(proxy, does, meets, GONE_BACK, STATEFUL_SET)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert said in one_line(result.stdout)
    assert "finish the rollback: rollout-gate recover" in advice_of(result)
    assert_recovers(proxy.scene)
    pods = proxy.scene.objects.list_all("pods")
    assert [image_of(pod) for pod in pods] == ["shop/db:1"] * 3


UNANSWERED = {
    "webhook": says(DOWN),
    "503": says(AWAY),
    "401": says(UNAUTHORIZED),
    "lost": breaks,
}


@pytest.mark.contract("B1711", "B25")
@pytest.mark.parametrize("does", UNANSWERED.values(), ids=UNANSWERED)
def test_writes_without_a_usable_answer_are_left_to_recover(proxy: Proxy, does: Does) -> None:
    """The bad version stands after 5; the record finishes the way back once writes are done."""
    result = unanswered(proxy, does, WRITES, FAILED, DEPLOYMENT)
    scene = proxy.scene
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert result.document["recoverable"]
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert "finish the rollback: rollout-gate recover" in advice_of(result)
    assert_recovers(scene)
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B1711", "B25", "B924")
@pytest.mark.parametrize(
    ("meets", "since", "versions"),
    [(WRITES, FAILED, DEPLOYMENT), (EVICTIONS, GONE_BACK, STATEFUL_SET)],
    ids=["writes", "removal"],
)
def test_a_way_back_that_the_server_denies_leaves_nothing_to_finish(
    proxy: Proxy, meets: Meets, since: str, versions: tuple[Bodies, Bodies]
) -> None:
    """A refusal is an answer: the same again would be refused as well."""
    result = unanswered(proxy, says(DENIED), meets, since, versions)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert not result.document["recoverable"]
    assert_nothing_left(proxy.scene)


@pytest.mark.contract("B1870", "B149", "B1801")
def test_configuration_whose_owners_may_not_be_put_back_stays_alone(proxy: Proxy) -> None:
    """It is asked once to restore it, once to put back what somebody removed; the rest returns."""
    result = disowned(proxy, "configmaps", "settings")
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert_runs(proxy.scene.objects, "shop/web:1")
    assert mode(proxy.scene) == "two"


@pytest.mark.contract("B1870", "B149")
def test_a_workload_whose_owners_may_not_be_put_back_is_given_up(proxy: Proxy) -> None:
    """The version that failed stays, and the report says why; its configuration went before it."""
    result = disowned(proxy, "deployments", "web")
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert images(proxy.scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert mode(proxy.scene) == "one"


def disowned(proxy: Proxy, resource: str, name: str) -> Result:
    """Fail a version, remove the managed fields of an object, and deny every write of it."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(*DEPLOYMENT[1], flags=BUDGETS) as running:
        running.wait_for_line(UNDER_WAY)
        disown(scene.objects, resource, name)
        proxy.on(writes(f"/{resource}/{name}"), says(DENIED))
        result = running.wait()
    assert len({request.body for request in proxy.met}) == len(proxy.met) <= 2
    assert "denied the request: not now" in one_line(screen(result))
    return result
