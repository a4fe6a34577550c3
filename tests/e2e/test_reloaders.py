"""A reloader that writes the version of the configuration into the pods, as soon as it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest

from tests.bed.expectations import assert_rolled_back, assert_verified
from tests.bed.nodes import Nodes
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON, STRATEGIC_PATCH
from tests.cluster.workloads import daemon_set, stateful_set
from tests.long import longer

CRASH = "crash=0.1"
KINDS = ["deployments", longer("statefulsets"), longer("daemonsets")]


def version(resource: str, pool: str, number: int, behaviour: str = "") -> tuple[JSON, JSON]:
    """Return a version of the configuration, and of the workload that reads it."""
    image = f"shop/web:{number}"
    make: dict[str, Callable[[], JSON]] = {
        "deployments": lambda: web(number, behaviour=behaviour),
        "statefulsets": lambda: stateful_set("web", image=image, behaviour=behaviour),
        "daemonsets": lambda: daemon_set("web", image=image, pool=pool, behaviour=behaviour),
    }
    return settings(str(number)), make[resource]()


def has_mode(config_map: JSON, mode: str) -> bool:
    """Tell whether the configuration says so."""
    return bool(config_map["data"]["mode"] == mode)


@contextmanager
def reloading(scene: Scene, resource: str, *modes: str) -> Iterator[None]:
    """Set a variable of the pods to each of the modes that the configuration comes to have."""

    def follow() -> None:
        path = f"{scene.objects.path(resource, 'web')}?fieldManager=reloader"
        for mode in modes:
            scene.objects.wait_for("configmaps", "settings", partial(has_mode, mode=mode))
            own = {"name": "web", "env": [{"name": "MODE", "value": mode}]}
            patch = {"spec": {"template": {"spec": {"containers": [own]}}}}
            scene.client.json("PATCH", path, patch, STRATEGIC_PATCH)

    with ThreadPoolExecutor(1) as threads:
        ended: Future[None] = threads.submit(follow)
        yield
        ended.result()


def runs(scene: Scene, resource: str) -> tuple[str, str]:
    """Return the image of the workload, and what the reloader has set."""
    (container,) = scene.objects.get(resource, "web")["spec"]["template"]["spec"]["containers"]
    mode = next(one["value"] for one in container["env"] if one["name"] == "MODE")
    return container["image"], mode


@pytest.mark.contract("B1751", "B58")
@pytest.mark.parametrize("resource", KINDS)
@pytest.mark.parametrize("behaviour", ["", CRASH], ids=["good", "bad"])
def test_releases_end_as_without_it(
    scene: Scene, nodes: Nodes, resource: str, behaviour: str
) -> None:
    """Whether it acts before the workload is written or after that; the way back, too."""
    nodes.join(2)
    assert_verified(scene.apply(*version(resource, nodes.pool, 1)))
    modes = ["2", "1"] if behaviour else ["2"]
    with reloading(scene, resource, *modes):
        result = scene.apply(*version(resource, nodes.pool, 2, behaviour))
    if behaviour:
        assert_rolled_back(result, "CrashLoop")
        assert runs(scene, resource) == ("shop/web:1", "1")
    else:
        assert_verified(result)
        assert runs(scene, resource) == ("shop/web:2", "2")
