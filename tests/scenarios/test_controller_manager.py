"""A controller manager that is gone, as its Lease shows it: no version has failed for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_verified
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.played.bed import PlayedUsers, sandbox_bed, scene_through

pytestmark = pytest.mark.sandbox_only("the Lease of a controller manager is written by the test")

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"
DEADLINE_SECONDS = 60
RENEWED = {"spec": {"holderIdentity": "kcm", "renewTime": "2026-01-01T00:00:00.000000Z"}}


class Looks:
    """Stands between the gate and its server, and notes when the Lease is read."""

    def __init__(self) -> None:
        """Renew nothing."""
        self.scene: Scene | None = None
        self.at: list[float] = []
        self.now: Callable[[], float] = float
        self.renews = False

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on; a Lease that is renewed is another one at each look."""
        if request.path == LEASE and request.method == "GET":
            self.at.append(self.now())
            if self.renews and self.scene is not None:
                time = f"2026-01-01T00:{len(self.at):02}:00.000000Z"
                renewed = {"spec": {"renewTime": time}}
                self.scene.client.json("PATCH", LEASE, renewed, "application/merge-patch+json")
        return handle(request)


@contextmanager
def stuck(folder: Path, *, lease: bool, renews: bool = False) -> Iterator[tuple[Scene, Looks]]:
    """Open a scene that has, or has not, the Lease of a controller manager."""
    looks = Looks()
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed, looks)
        scene.serve(web())
        if lease:
            body = {"metadata": {"name": "kube-controller-manager"}, **RENEWED}
            scene.client.json("POST", LEASE.rpartition("/")[0], body)
        assert isinstance(bed.users, PlayedUsers)
        looks.now, looks.scene, looks.renews = bed.users.played.clock.now, scene, renews
        yield scene, looks


def slow(behaviour: str) -> dict[str, object]:
    """Return a second version with a deadline of a minute."""
    return web(2, behaviour=behaviour, progress_deadline_seconds=DEADLINE_SECONDS)


def rolled_back_at(result: Result) -> float:
    """Return when the rollback was decided, in seconds since the start."""
    lines = result.document["timeline"]
    return next(float(one["at_seconds"]) for one in lines if one["event"] == "rollback")


@pytest.mark.contract("B119")
def test_a_lease_that_stays_the_same_stops_the_clock_and_is_named(tmp_path: Path) -> None:
    """Blind from the first look on, for one deadline; until then no condition counts."""
    with stuck(tmp_path, lease=True) as (scene, looks):
        result = scene.apply(slow("never-ready"))
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded")
    found = result.document["deployments"][0]["causes"]
    causes = {one["reason"]: one["message"] for one in found}
    assert "has not renewed its Lease for" in causes["ControllerNotObserving"]
    assert rolled_back_at(result) >= DEADLINE_SECONDS + 10.0
    assert min(b - a for a, b in zip(looks.at, looks.at[1:], strict=False)) >= 10.0


@pytest.mark.contract("B119")
def test_a_lease_that_cannot_be_read_is_asked_for_once(tmp_path: Path) -> None:
    """Nor is it an error: a version that starts slowly is verified without a word of it."""
    with stuck(tmp_path, lease=False) as (scene, looks):
        result = scene.apply(slow("ready=45"))
    assert_verified(result)
    assert len(looks.at) == 1
    assert "controller manager" not in result.stderr
