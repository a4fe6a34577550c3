"""What walks go over: faults of one request, and somebody else who does a thing after one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import is_going
from tests.bed.scene import Scene
from tests.cluster.kubelet.api import ApiError
from tests.cluster.objects import is_ready
from tests.cluster.rollouts import REVISION_LABEL
from tests.cluster.workloads import disruption_budget
from tests.scenarios.proxy import loses, refuses, says, status
from tests.scenarios.walked import GOOD, STATEFUL_SET

NAME = "db"
REFUSED = frozenset({404, 409, 422})
"""What somebody else is told who comes too late."""

Operation = Callable[[Scene], object]


FAULTS = {
    "dropped": refuses,
    "lost": loses,
    "refused": says(status(503, "shutting down")),
}
"""What may come of one request."""


def patched(**spec: object) -> Operation:
    """Return what merges a patch into the spec of the StatefulSet."""
    return lambda scene: scene.objects.patch("statefulsets", NAME, {"spec": spec})


def template_of(number: int) -> Operation:
    """Return what sets the image of a version, with pods that come up."""

    def change(scene: Scene) -> object:
        body = STATEFUL_SET.make(number, NAME, GOOD)
        return scene.objects.patch(
            "statefulsets", NAME, {"spec": {"template": body["spec"]["template"]}}
        )

    return change


def pod_deleted(ordinal: int) -> Operation:
    """Return what deletes a pod."""
    return lambda scene: scene.objects.delete("pods", f"{NAME}-{ordinal}")


def rolling(partition: int) -> Operation:
    """Return what sets a partition."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    return patched(updateStrategy=strategy)


def guarded(scene: Scene) -> object:
    """Forbid evictions."""
    return scene.objects.create("poddisruptionbudgets", disruption_budget(NAME, minAvailable=2))


def annotated(scene: Scene) -> object:
    """Annotate the template, as a restart does."""
    patch = {"template": {"metadata": {"annotations": {"somebody/restarted": "now"}}}}
    return scene.objects.patch("statefulsets", NAME, {"spec": patch})


OPERATIONS: dict[str, Operation] = {
    "the first pod deleted": pod_deleted(0),
    "the last pod deleted": pod_deleted(1),
    "scaled up": patched(replicas=3),
    "scaled down": patched(replicas=1),
    "scaled to zero": patched(replicas=0),
    "another image": template_of(3),
    "the old image": template_of(1),
    "restarted": annotated,
    "a partition": rolling(1),
    "a partition for all": rolling(2),
    "OnDelete": patched(updateStrategy={"type": "OnDelete", "rollingUpdate": None}),
    "a disruption budget": guarded,
    "deleted": lambda scene: scene.objects.delete("statefulsets", NAME),
}


class Disturbed:
    """Stands between a gate and its server; somebody does one thing after the n-th request.

    `has_looked` is whether the gate read the workload after that: what comes later makes no verdict
    wrong. `has_written` is whether it wrote the workload, `evicted` what was wrong with evictions.
    """

    def __init__(self, number: int, operation: Operation) -> None:
        """Pass everything on until `begin`."""
        self.left, self.what = number, ""
        self.has_looked = self.has_written = False
        self.evicted: list[str] = []
        self._operation = operation
        self._scene: Scene | None = None

    def begin(self, scene: Scene) -> None:
        """Count from now on."""
        self._scene = scene

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on."""
        scene = self._scene
        if scene is None:
            return handle(request)
        if request.path.endswith("/eviction") and (self.has_looked or not self.what):
            self.evicted += faults_of_eviction(scene, request.path.split("/")[-2])
        answer = handle(request)
        self._note(request, answer)
        self.left -= 1
        if self.left == 0:
            self.what = f"{request.method} {request.path}"
            self._disturb(scene)
        return answer

    def _note(self, request: Request, answer: Answer) -> None:
        if not request.path.endswith(f"/statefulsets/{NAME}"):
            return
        is_write = request.method == "PATCH" and not request.read_parameter("dryRun")
        self.has_written |= is_write and answer.status == HTTPStatus.OK
        self.has_looked |= request.method == "GET" and bool(self.what)

    def _disturb(self, scene: Scene) -> None:
        try:
            self._operation(scene)
        except ApiError as error:
            if error.status not in REFUSED:
                raise


def faults_of_eviction(scene: Scene, name: str) -> Iterator[str]:
    """Iterate why a pod must not be evicted: only the one in the way of what serves may."""
    live, pod = scene.objects.get("statefulsets", NAME), scene.objects.get("pods", name)
    ordinal = int(name.rpartition("-")[2])
    partition = live["spec"]["updateStrategy"].get("rollingUpdate", {}).get("partition", 0)
    revision = pod["metadata"]["labels"][REVISION_LABEL]
    if revision == live["status"]["updateRevision"]:
        yield f"{name} is of the version that is to run"
    if is_ready(pod):
        yield f"{name} is ready"
    if is_going(pod):
        yield f"{name} goes already"
    is_below = ordinal < partition
    if ordinal >= live["spec"]["replicas"]:
        yield f"{name} is not wanted any more"
    if is_below and revision == live["status"]["currentRevision"]:
        yield f"{name} comes back as it is"
    for lower in range(ordinal):
        below = scene.objects.find("pods", f"{NAME}-{lower}")
        if below is None or not is_ready(below):
            yield f"{name} is not the lowest that is not ready"
