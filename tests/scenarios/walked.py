"""The workloads that walks go over: each kind in versions, and what the API says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.bed.expectations import REVISION, is_going
from tests.bed.pods import image_of
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.rollouts import is_owned, unfinished
from tests.cluster.workloads import daemon_set, stateful_set

GOOD, CRASHING = "ready=1", "crash=0.1"


@dataclass(frozen=True, slots=True)
class Walked:
    """A kind of workload; `make` returns one of a version, by its name and its pods' behaviour.

    `name` is what the only one of a test is called.
    """

    resource: str
    name: str
    make: Callable[..., JSON]

    def version(self, number: int, behaviour: str = "", **over: Any) -> JSON:
        """Return a version of the only one; `over` goes to the maker of its kind."""
        return self.make(number, self.name, behaviour, **over)

    def image(self, number: int) -> str:
        """Return the image of a version of the only one."""
        return f"shop/{self.name}:{number}"

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


def _web(version: int, name: str, behaviour: str, **over: Any) -> JSON:
    return web(version, name=name, behaviour=behaviour, **over)


def _db(version: int, name: str, behaviour: str, **over: Any) -> JSON:
    given = {"image": f"shop/{name}:{version}", "replicas": 2, **over}
    return stateful_set(name, behaviour=behaviour, **given)


def _agent(version: int, name: str, behaviour: str, **over: Any) -> JSON:
    return daemon_set(name, image=f"shop/{name}:{version}", behaviour=behaviour, **over)


DEPLOYMENT = Walked("deployments", "web", _web)
STATEFUL_SET = Walked("statefulsets", "db", _db)
DAEMON_SET = Walked("daemonsets", "agent", _agent)
