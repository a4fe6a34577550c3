"""The pods of a scene, told one by one how to behave from now on."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.face import behaviour as behaviours
from tests.bed.scene import Scene
from tests.cluster.kubelet.api import JSON


def image_of(pod: JSON) -> str:
    """Return the image of a pod's first container."""
    return str(pod["spec"]["containers"][0]["image"])


def running_pods(scene: Scene, image: str, count: int) -> list[JSON]:
    """Return the pods of an image, as soon as that many run."""

    def running(pods: list[JSON]) -> list[JSON]:
        ours = (pod for pod in pods if image_of(pod) == image)
        return [pod for pod in ours if pod["status"].get("phase") == "Running"]

    return running(scene.objects.wait("pods", lambda pods: len(running(pods)) == count))


def wait_until_gone(scene: Scene, name: str) -> None:
    """Wait until no pod of the Deployment is left."""
    prefix = f"shop/{name}:"
    scene.objects.wait(
        "pods", lambda pods: not any(image_of(pod).startswith(prefix) for pod in pods)
    )


def behave(scene: Scene, pods: Iterable[JSON], behaviour: str) -> None:
    """Ask running pods for another behaviour, as the annotation of `sandbox` has it."""
    asked = {"metadata": {"annotations": {behaviours.ANNOTATION: behaviour}}}
    for pod in pods:
        scene.objects.patch("pods", pod["metadata"]["name"], asked)


def restarts(pod: JSON) -> int:
    """Return how often a pod's containers were restarted."""
    return sum(each["restartCount"] for each in pod["status"].get("containerStatuses", ()))
