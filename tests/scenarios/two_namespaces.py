"""An attempt over two namespaces: the scene's own, `shop`, and another one."""

from __future__ import annotations

from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, kill_apply


def prod(scene: Scene) -> None:
    """Make another namespace."""
    scene.objects.create("namespaces", {"metadata": {"name": "prod"}})


def placed_in(namespace: str, body: JSON) -> JSON:
    """Return an object in another namespace."""
    return body | {"metadata": body["metadata"] | {"namespace": namespace}}


def settings_in_prod(scene: Scene) -> JSON:
    """Return what the ConfigMap in `prod` says."""
    return dict(scene.client.json("GET", "/api/v1/namespaces/prod/configmaps/settings")["data"])


def both(other: str, version: int, mode: str, **more: str) -> list[JSON]:
    """Return a version of `api` in the other namespace and of `web`, each with its settings."""
    there = [settings(mode), web(version, name="api", **more)]
    return [*(placed_in(other, one) for one in there), settings(mode), web(version, **more)]


def die_over_two_namespaces(scene: Scene, program: PlayedGate, other: str = "prod") -> None:
    """Verify version 1 in both; kill the gate once it wrote version 2.

    Its record is in the first of both by name.
    """
    scene.objects.create("namespaces", {"metadata": {"name": other}})
    assert program("apply", "-f", scene.manifest(*both(other, 1, "one"))).exit_code == 0
    slow = both(other, 2, "two", behaviour=SLOW)
    kill_apply(scene, program, *slow, line=r"deployment/web in \S+ changed")


def delete_namespace(scene: Scene, other: str) -> None:
    """Delete the other, and what goes with it: the sandbox has no controller that does."""
    for place in (
        f"/apis/apps/v1/namespaces/{other}/deployments/api",
        f"/api/v1/namespaces/{other}/configmaps/settings",
        f"/apis/coordination.k8s.io/v1/namespaces/{other}/leases/rollout-gate.deployment.api",
        f"/api/v1/namespaces/{other}",
    ):
        scene.client.json("DELETE", place)
