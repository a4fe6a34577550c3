"""Jobs of a test's scene, and what a result document says of them."""

from __future__ import annotations

from tests.bed.scene import Scene
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON

PHASE, REPLACE = "rollout-gate.dev/phase", "rollout-gate.dev/replace-failed"
CRASH = "crash=1;code=3"


def job(
    name: str = "migrate",
    *,
    behaviour: str = "complete=1",
    env: str = "",
    annotations: JSON | None = None,
    **spec: object,
) -> JSON:
    """Return a Job of one pod, which is not tried again."""
    variables = {"PASSWORD": env} if env else None
    whole = manifests.deployment(name, image="shop/migrate:1", behaviour=behaviour, env=variables)
    template = whole["spec"]["template"]
    del template["metadata"]["labels"]
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, **({"annotations": annotations} if annotations else {})},
        "spec": {"backoffLimit": 0, "template": template, **spec},
    }


def ended(result: Result) -> tuple[int, str, str]:
    """Return the exit code, and how the document says that the run and its reason were."""
    return result.exit_code, result.document["outcome"], result.document["reason"]


def entry(result: Result, name: str) -> JSON:
    """Return what the document says of one workload."""
    found: JSON = next(one for one in result.document["workloads"] if one["name"] == name)
    return found


def mode(scene: Scene) -> str:
    """Return what the ConfigMap says."""
    return str(scene.objects.get("configmaps", "settings")["data"]["mode"])
