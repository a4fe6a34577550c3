"""A way back that gets no usable answer until its time is over: what is said, and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from urllib3.exceptions import ProtocolError

from gate.app.rehearsal.virtual_world import Handle
from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, images
from tests.bed.pods import image_of
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.bed import sandbox_bed, scene_through
from tests.scenarios.pod_replacement import db
from tests.scenarios.test_contact import AWAY, UNAUTHORIZED, Gateway, Meets, status
from tests.scenarios.versions import one_line

pytestmark = pytest.mark.sandbox_only("requests fail between the gate and its server")

BUDGETS = ("--timeout", "60s", "--rollback-timeout", "30s")
CRASHES = "crash=0.1"
GONE_BACK = "restored +(deployment/web|statefulset/db)"
FAILED = "rollback "
NOTHING_LEFT = "no attempt is unfinished"
DOWN = status(500, 'Internal error occurred: failed calling webhook "policy.example": refused')
SHED = status(429, "too many requests, please try again later")
DENIED = status(403, 'admission webhook "policy.example" denied the request: not now')


def is_no_renewal(request: Request) -> bool:
    """Tell whether a request is about anything but a lock."""
    return "/leases" not in request.path


def is_read_of_sets(request: Request) -> bool:
    """Tell whether a request reads StatefulSets; a watch of them goes on."""
    is_watch = request.read_parameter("watch")
    return request.method == "GET" and "/statefulsets" in request.path and not is_watch


def is_eviction(request: Request) -> bool:
    """Tell whether a request removes a pod."""
    return request.method == "POST" and request.path.endswith("/eviction")


def is_write(request: Request) -> bool:
    """Tell whether a request writes what the way back restores."""
    kinds = ("/deployments", "/configmaps")
    return request.method == "PATCH" and any(kind in request.path for kind in kinds)


class Silence(Gateway):
    """Breaks the connection in place of an answer."""

    def __init__(self) -> None:
        """Pass everything on."""
        super().__init__(AWAY)

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, or lose it on its way."""
        if not self.fails(request):
            return handle(request)
        self.failed.append(request)
        raise ProtocolError("Connection aborted.", ConnectionResetError(104, "reset by peer"))


@contextmanager
def unanswered(
    folder: Path, gateway: Gateway, meets: Meets, since: str, *versions: tuple[JSON, ...]
) -> Iterator[tuple[Scene, Result]]:
    """Fail the second version; from a line of its way back on the requests that `meets` fail."""
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed, gateway)
        good, bad = versions
        assert scene.apply(*good).exit_code == 0
        with scene.applying(*bad, flags=BUDGETS) as running:
            running.wait_for_line(since)
            gateway.fails = meets
            result = running.wait()
        gateway.fails = lambda _: False
        assert gateway.failed
        yield scene, result


def advice_of(result: Result) -> str:
    """Return what a report advises to do next, in one line."""
    return one_line(verdict_text(result.document, Style(width=200))).partition("next")[2]


SETS = (settings("one"), web()), (settings("two"), web(2, behaviour=CRASHES))


@pytest.mark.contract("B1710", "B28", "B544", "B1631")
def test_renewals_of_a_lock_are_no_contact_with_what_is_followed(tmp_path: Path) -> None:
    """Nothing but Leases is answered once the way back is written: nobody knows what runs."""
    with unanswered(tmp_path, Gateway(AWAY), is_no_renewal, GONE_BACK, *SETS) as (scene, result):
        ended = assert_ended(result, 9, "lost-contact", "Unreachable", running="unknown")
        assert ended["message"].startswith("requests got only 503 Service Unavailable: ")
        assert "serves requests again" not in result.stderr
        assert "rollout-gate recover" in advice_of(result)
        assert_rolled_back(scene.gate("recover", "--output", "json"), "CrashLoop")
        assert_runs(scene.objects, "shop/web:1")
        assert NOTHING_LEFT in scene.gate("recover").stderr


@pytest.mark.contract("B1711", "B25")
def test_a_workload_that_cannot_be_read_is_left_to_recover(tmp_path: Path) -> None:
    """The server sheds the reads of StatefulSets alone: the pod in the way stays until then."""
    sets = (db(1),), (db(2, behaviour=CRASHES),)
    with unanswered(tmp_path, Gateway(SHED), is_read_of_sets, GONE_BACK, *sets) as (scene, result):
        ended = assert_ended(result, 5, "rollback-failed", "CrashLoop")
        said = "the last read before its time ran out got no usable answer: too many requests"
        assert ended["message"].startswith(said)
        assert "finish the rollback: rollout-gate recover" in advice_of(result)
        assert_rolled_back(scene.gate("recover", "--output", "json"), "CrashLoop")
        pods = scene.objects.list_all("pods")
        assert [image_of(pod) for pod in pods] == ["shop/db:1"] * 3


@pytest.mark.contract("B1711", "B924")
def test_a_pod_whose_removal_has_no_answer_is_left_to_recover(tmp_path: Path) -> None:
    """The StatefulSet went back, and can go no further until that pod goes."""
    sets = (db(1),), (db(2, behaviour=CRASHES),)
    with unanswered(tmp_path, Gateway(AWAY), is_eviction, GONE_BACK, *sets) as (scene, result):
        assert_ended(result, 5, "rollback-failed", "CrashLoop")
        assert "its removal has no answer: apiserver is shutting down" in one_line(result.stdout)
        assert "finish the rollback: rollout-gate recover" in advice_of(result)
        assert_rolled_back(scene.gate("recover", "--output", "json"), "CrashLoop")
        pods = scene.objects.list_all("pods")
        assert [image_of(pod) for pod in pods] == ["shop/db:1"] * 3


@pytest.mark.contract("B1711", "B924")
def test_a_pod_whose_removal_is_refused_leaves_nothing_to_finish(tmp_path: Path) -> None:
    """Whoever may not evict it now may not do so the next time."""
    sets = (db(1),), (db(2, behaviour=CRASHES),)
    with unanswered(tmp_path, Gateway(DENIED), is_eviction, GONE_BACK, *sets) as (scene, result):
        assert_ended(result, 5, "rollback-failed", "CrashLoop")
        assert not result.document["recoverable"]
        assert NOTHING_LEFT in scene.gate("recover").stderr


UNANSWERED = {
    "webhook": Gateway(DOWN),
    "503": Gateway(AWAY),
    "401": Gateway(UNAUTHORIZED),
    "lost": Silence(),
}


@pytest.mark.contract("B1711", "B25")
@pytest.mark.parametrize("gateway", UNANSWERED.values(), ids=UNANSWERED)
def test_writes_without_a_usable_answer_are_left_to_recover(
    tmp_path: Path, gateway: Gateway
) -> None:
    """The bad version stands after 5; the record finishes the way back once writes are done."""
    with unanswered(tmp_path, gateway, is_write, FAILED, *SETS) as (scene, result):
        assert_ended(result, 5, "rollback-failed", "CrashLoop")
        assert result.document["recoverable"]
        assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
        assert "finish the rollback: rollout-gate recover" in advice_of(result)
        assert_rolled_back(scene.gate("recover", "--output", "json"), "CrashLoop")
        assert_runs(scene.objects, "shop/web:1")
        assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
        assert NOTHING_LEFT in scene.gate("recover").stderr


@pytest.mark.contract("B1711", "B25")
def test_a_way_back_that_the_server_denies_leaves_nothing_to_finish(tmp_path: Path) -> None:
    """A refusal is an answer: the same again would be refused as well."""
    with unanswered(tmp_path, Gateway(DENIED), is_write, FAILED, *SETS) as (scene, result):
        assert_ended(result, 5, "rollback-failed", "CrashLoop")
        assert not result.document["recoverable"]
        assert NOTHING_LEFT in scene.gate("recover").stderr
