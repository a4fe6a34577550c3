"""The workloads that walks go over: each kind in versions, and what the API says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.bed.expectations import REVISION, is_going
from tests.bed.pods import image_of
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.rollouts import is_owned, unfinished
from tests.cluster.workloads import daemon_set, stateful_set

GOOD, CRASHING = "ready=1", "crash=0.1"


@dataclass(frozen=True, slots=True)
class Walked:
    """A kind of workload; `make` returns one of a version, by its name and its pods' behaviour."""

    resource: str
    make: Callable[[int, str, str], JSON]

    def version_of(self, scene: Scene, name: str) -> int:
        """Return the one version that a workload is of: its template and all its pods, ready."""
        live = scene.objects.get(self.resource, name)
        missing = unfinished(scene.objects, self.resource, live)
        assert not missing, f"{name} is not complete: {missing}"
        found = {_number_of(live["spec"]["template"])} | set(_versions_of_pods(scene, name))
        assert len(found) == 1, f"{name} is a mixture of {found}"
        return found.pop()

    def revision_of(self, scene: Scene, name: str) -> int:
        """Return the number of the newest revision."""
        live = scene.objects.get(self.resource, name)
        if self.resource == "deployments":
            return int(live["metadata"]["annotations"][REVISION])
        owned = (
            each for each in scene.objects.list_all("controllerrevisions") if is_owned(each, live)
        )
        return max(int(each["revision"]) for each in owned)


def _versions_of_pods(scene: Scene, name: str) -> list[int]:
    pods = scene.objects.list_all("pods", f"app={name}")
    return [_number_of(pod) for pod in pods if not is_going(pod)]


def _number_of(item: JSON) -> int:
    return int(image_of(item).rpartition(":")[2])


def _web(version: int, name: str, behaviour: str) -> JSON:
    return web(version, name=name, behaviour=behaviour)


def _db(version: int, name: str, behaviour: str) -> JSON:
    image = f"shop/{name}:{version}"
    return stateful_set(name, image=image, replicas=2, behaviour=behaviour)


def _agent(version: int, name: str, behaviour: str) -> JSON:
    return daemon_set(name, image=f"shop/{name}:{version}", behaviour=behaviour)


DEPLOYMENT = Walked("deployments", _web)
STATEFUL_SET = Walked("statefulsets", _db)
DAEMON_SET = Walked("daemonsets", _agent)
