"""A server that is far away: each answer takes its time, and a signal leaves little of it.

`interrupted` fails where the end does not come within 5 s.
"""

from __future__ import annotations

import base64

import pytest

from tests.bed.expectations import images
from tests.bed.interrupting import interrupted
from tests.bed.leases import held_locks
from tests.bed.scene import Scene, web
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON
from tests.scenarios.proxy import Proxy, any_request, waits

pytestmark = pytest.mark.sandbox_only("every answer of the server is late")

NAMES = tuple(f"web-{number:02}" for number in range(12))
ROUND_TRIP_SECONDS = 0.4
SILENT_SECONDS = 60.0
CONFIG_MAPS, SECRETS = 14, 6


@pytest.fixture
def scene(proxy: Proxy) -> Scene:
    """Return the scene of twelve Deployments that serve, far from the gate."""
    proxy.scene.serve(*(web(name=name, replicas=1) for name in NAMES))
    move(proxy, ROUND_TRIP_SECONDS)
    return proxy.scene


def move(proxy: Proxy, seconds: float) -> None:
    """Let each answer take so long from now on."""
    proxy.rest()
    proxy.on(any_request, waits(proxy.clock, seconds))


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
def test_many_deployments_end_in_time(scene: Scene, policy: str) -> None:
    """All are returned, or left, and every lock is given back, within 5 s of the signal."""
    with scene.applying(*next_versions(), flags=["--on-interrupt", policy]) as running:
        running.wait_for_line(ALL_APPLIED)
        interrupted(running, "")
    version = 1 if policy == "rollback" else 2
    runs = [images(scene.objects.get("deployments", name)) for name in NAMES]
    assert runs == [[f"shop/{name}:{version}"] for name in NAMES]
    assert not held_locks(scene)


@pytest.mark.contract("B153", "B165")
def test_their_configuration_returns_with_them_in_time(scene: Scene, proxy: Proxy) -> None:
    """Twenty ConfigMaps and Secrets are all back before the Deployments, within the same 5 s."""
    proxy.rest()
    assert scene.apply(*configuration(1)).exit_code == 0
    flags = ["--on-interrupt", "rollback"]
    with scene.applying(*configuration(2), *next_versions(), flags=flags) as running:
        running.wait_for_line(ALL_APPLIED)
        move(proxy, ROUND_TRIP_SECONDS)
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
def test_a_server_that_falls_silent_costs_no_more_than_the_bounds(
    scene: Scene, proxy: Proxy
) -> None:
    """No answer comes after the signal: the end is not later for the locks, which expire."""
    flags = ["--on-interrupt", "rollback"]
    with scene.applying(*next_versions(), flags=flags) as running:
        running.wait_for_line(ALL_APPLIED)
        move(proxy, SILENT_SECONDS)
        result = interrupted(running, "")
    assert result.document["rollback"]["verified"] is False


@pytest.mark.contract("B163", "B153", "B771")
@pytest.mark.parametrize("signalled", [True, False])
def test_the_namespace_of_what_was_deleted_holds_no_end(
    scene: Scene, proxy: Proxy, signalled: bool
) -> None:
    """It is looked at for the advice alone: for 2 s at the most, and not after a signal."""
    name, other = NAMES[:2]
    proxy.rest()
    bodies = (web(2, name=name, behaviour="ready=60"), web(2, name=other, behaviour="ready=60"))
    with scene.applying(*bodies, flags=["--timeout", "10s", "--on-failure", "keep"]) as running:
        running.wait_for_line(f"following .*shop/{other}:2")
        proxy.on(lambda one: one.path == "/api/v1/namespaces/shop", waits(proxy.clock, 14.0))
        scene.objects.delete("deployments", name)
        if signalled:
            running.wait_for_line(f"{name}.*deleted")
            result = interrupted(running, "")
        else:
            result = running.wait(12.5)
    reasons = {one["name"]: one["reason"] for one in result.document["deployments"]}
    assert reasons[name] == "Deleted", str(result)
