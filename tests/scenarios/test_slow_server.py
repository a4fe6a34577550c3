"""A server that is far away: each answer takes its time, and a signal leaves little of it.

`interrupted` fails where the end does not come within 5 s.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from gate.clock import Clock
from sandbox.face import Answer, Request
from tests.bed.expectations import images
from tests.bed.interrupting import interrupted
from tests.bed.scene import Scene, web
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON
from tests.played.bed import PlayedUsers, sandbox_bed, scene_through

pytestmark = pytest.mark.sandbox_only("every answer of the server is late")

NAMES = tuple(f"web-{number:02}" for number in range(12))
ROUND_TRIP_SECONDS = 0.4
SILENT_SECONDS = 60.0
CONFIG_MAPS, SECRETS = 14, 6


class Distance:
    """Stands between the gate and its server: an answer takes `seconds`.

    Where `path` is set, those about another one are at once.
    """

    def __init__(self) -> None:
        """Be near by: `clock` is set once there is one."""
        self.clock: Clock | None = None
        self.seconds = ROUND_TRIP_SECONDS
        self.path = ""

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, late."""
        if self.clock is not None and (not self.path or request.path == self.path):
            self.clock.wait(self.seconds)
        return handle(request)


@contextmanager
def far_away(folder: Path) -> Iterator[tuple[Scene, Distance]]:
    """Open a scene with twelve Deployments that serve, far from the gate."""
    distance = Distance()
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed, distance)
        scene.serve(*(web(name=name, replicas=1) for name in NAMES))
        assert isinstance(bed.users, PlayedUsers)
        distance.clock = bed.users.played.clock
        yield scene, distance


def next_versions() -> list[JSON]:
    """Return the next version of each Deployment, which takes a minute to become ready."""
    return [web(2, name=name, replicas=1, behaviour="ready=60") for name in NAMES]


def configuration(version: int) -> list[JSON]:
    """Return ConfigMaps and Secrets of a version."""
    maps = [
        manifests.config_map(f"settings-{number}", {"mode": str(version)})
        for number in range(CONFIG_MAPS)
    ]
    secrets: list[JSON] = [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": f"keys-{number}"},
            "stringData": {"key": f"value-{version}"},
        }
        for number in range(SECRETS)
    ]
    return [*maps, *secrets]


ALL_APPLIED = f"applied +deployment/{NAMES[-1]} changed"


@pytest.mark.contract("B29", "B151", "B153", "B165")
@pytest.mark.parametrize("policy", ["rollback", "keep"])
def test_many_deployments_end_in_time(tmp_path: Path, policy: str) -> None:
    """All are returned, or left, and every lock is given back, within 5 s of the signal."""
    with far_away(tmp_path) as (scene, _):
        with scene.applying(*next_versions(), flags=["--on-interrupt", policy]) as running:
            running.wait_for_line(ALL_APPLIED)
            interrupted(running, "")
        version = 1 if policy == "rollback" else 2
        runs = [images(scene.objects.get("deployments", name)) for name in NAMES]
        held = [
            lease["metadata"]["name"]
            for lease in scene.objects.list_all("leases")
            if lease["spec"].get("holderIdentity")
        ]
    assert runs == [[f"shop/{name}:{version}"] for name in NAMES]
    assert not held


@pytest.mark.contract("B153", "B165")
def test_their_configuration_returns_with_them_in_time(tmp_path: Path) -> None:
    """Twenty ConfigMaps and Secrets are all back before the Deployments, within the same 5 s."""
    with far_away(tmp_path) as (scene, distance):
        distance.seconds = 0.0
        assert scene.apply(*configuration(1)).exit_code == 0
        flags = ["--on-interrupt", "rollback"]
        with scene.applying(*configuration(2), *next_versions(), flags=flags) as running:
            running.wait_for_line(ALL_APPLIED)
            distance.seconds = ROUND_TRIP_SECONDS
            result = interrupted(running, "")
        modes = [one["data"]["mode"] for one in scene.objects.list_all("configmaps")]
        names = [f"keys-{number}" for number in range(SECRETS)]
        keys = [scene.objects.get("secrets", name)["data"]["key"] for name in names]
        runs = [images(scene.objects.get("deployments", name)) for name in NAMES]
    assert modes == ["1"] * CONFIG_MAPS
    assert keys == [base64.b64encode(b"value-1").decode()] * SECRETS
    assert runs == [[f"shop/{name}:1"] for name in NAMES]
    actions = {one["action"] for one in result.document["objects"]}
    assert actions == {"restored"}


@pytest.mark.contract("B153", "B552")
def test_a_server_that_falls_silent_costs_no_more_than_the_bounds(tmp_path: Path) -> None:
    """No answer comes after the signal: the end is not later for the locks, which expire."""
    with far_away(tmp_path) as (scene, distance):
        flags = ["--on-interrupt", "rollback"]
        with scene.applying(*next_versions(), flags=flags) as running:
            running.wait_for_line(ALL_APPLIED)
            distance.seconds = SILENT_SECONDS
            result = interrupted(running, "")
    assert result.document["rollback"]["verified"] is False


@pytest.mark.contract("B163", "B153", "B771")
@pytest.mark.parametrize("signalled", [True, False])
def test_the_namespace_of_what_was_deleted_holds_no_end(tmp_path: Path, signalled: bool) -> None:
    """It is looked at for the advice alone: for 2 s at the most, and not after a signal."""
    name, other = NAMES[:2]
    with far_away(tmp_path) as (scene, distance):
        distance.seconds = 0.0
        bodies = (web(2, name=name, behaviour="ready=60"), web(2, name=other, behaviour="ready=60"))
        with scene.applying(*bodies, flags=["--timeout", "10s", "--on-failure", "keep"]) as running:
            running.wait_for_line(f"following .*shop/{other}:2")
            distance.path, distance.seconds = "/api/v1/namespaces/shop", 14.0
            scene.objects.delete("deployments", name)
            if signalled:
                running.wait_for_line(f"{name}.*deleted")
                result = interrupted(running, "")
            else:
                result = running.wait(12.5)
    reasons = {one["name"]: one["reason"] for one in result.document["deployments"]}
    assert reasons[name] == "Deleted", str(result)
