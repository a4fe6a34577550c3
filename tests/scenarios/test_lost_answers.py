"""The answers to all writes of the way back are lost, and reads show that they were done."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from urllib3.exceptions import ProtocolError

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_runs
from tests.bed.pods import running_pods
from tests.bed.scene import settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.played.bed import sandbox_bed, scene_through
from tests.scenarios.test_contact import status

pytestmark = pytest.mark.sandbox_only("answers are lost between the gate and its server")

BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "30s")
CRASHES: Final = "crash=0.1"
KINDS: Final = ("/configmaps", "/deployments", "/statefulsets")


class Losing:
    """Does each write and loses its answer, after the writes of the way out."""

    def __init__(self, how: str, writes_out: int) -> None:
        """Pass all on until so many writes were seen since `begin`."""
        self._how = how
        self._left: float = float("inf")
        self._writes_out = writes_out
        self.lost: list[str] = []

    def begin(self) -> None:
        """Count from now."""
        self._left = self._writes_out

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, and lose the answer to a write of the way back."""
        answer = handle(request)
        is_dry = bool(request.read_parameter("dryRun"))
        if is_dry or request.method != "PATCH" or not any(one in request.path for one in KINDS):
            return answer
        self._left -= 1
        if self._left >= 0:
            return answer
        self.lost.append(request.path.rpartition("/")[2])
        if self._how == "reset":
            raise ProtocolError("Connection aborted.", ConnectionResetError(104, "reset"))
        return status(504, "the backend did not answer in time")


@pytest.mark.contract("B162", "B1700")
@pytest.mark.parametrize("how", ["reset", "504"])
@pytest.mark.parametrize("kind", ["deployment", "several", "statefulset"])
def test_a_way_back_that_is_read_is_not_sent_again(tmp_path: Path, kind: str, how: str) -> None:
    """Each write is sent once, what it brought back is verified, and a blocked pod is replaced."""
    first, second = _versions(kind)
    losing = Losing(how, len(second))
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, losing)
        scene.serve(*first)
        losing.begin()
        result = scene.apply(*second, flags=BUDGETS)
        assert_ended(result, 4, "rolled-back", "CrashLoop")
        names = [body["metadata"]["name"] for body in second]
        assert sorted(losing.lost) == sorted(names)
        if kind == "statefulset":
            running_pods(scene, "shop/db:1", 2)
        else:
            assert_runs(scene.objects, "shop/web:1")
        if kind == "several":
            assert scene.objects.get("configmaps", "settings")["data"] == settings("one")["data"]
        assert not any("not known" in each for each in result.document["warnings"])


def _versions(kind: str) -> tuple[list[JSON], list[JSON]]:
    """Return what serves, and what fails."""
    if kind == "statefulset":
        bad = stateful_set(image="shop/db:2", replicas=2, behaviour=CRASHES)
        return [stateful_set(image="shop/db:1", replicas=2)], [bad]
    if kind == "deployment":
        return [web()], [web(2, behaviour=CRASHES)]
    bad = web(2, behaviour=CRASHES)
    other = web(2, name="api", behaviour=CRASHES)
    return [settings("one"), web(), web(name="api")], [settings("two"), bad, other]
