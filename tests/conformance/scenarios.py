"""The scenarios, as data: what stands before, what is applied, what happens then, how it ends.

Each is recorded in `tests/traces` too, from another control plane; times, strategy and replicas
are the same there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.face import behaviour
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON

NAME = "web"
GATE = "rollout-gate"
SOMEBODY = "kubectl-edit"
BY_STEPS_OF_ONE: JSON = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
}
RECREATE: JSON = {"type": "Recreate"}


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply an object as the gate does, and wait until it is complete, or has failed."""

    body: JSON
    until_deadline: bool = False


@dataclass(frozen=True, slots=True)
class LimitPods:
    """Create a quota that leaves no room beyond `most` pods, and wait until it counts."""

    most: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Change the Deployment as somebody else: another image, and pods that are ready at once."""

    image: str


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete a pod that runs an image: of several, the one that came first."""

    image: str


@dataclass(frozen=True, slots=True)
class Later:
    """What happens `seconds` after the apply."""

    seconds: float
    do: Edit | DeletePod


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario.

    It ends when the rollout is complete and nothing terminates, `at_deadline` when the controller
    has given up. `flags` are what the gate is told when it judges the recording.
    """

    name: str
    applied: JSON
    before: Sequence[Apply | LimitPods] = ()
    later: Sequence[Later] = ()
    at_deadline: bool = False
    flags: Sequence[str] = ()

    @property
    def deleted_pods(self) -> int:
        """How many pods somebody deletes on the way."""
        return sum(isinstance(later.do, DeletePod) for later in self.later)


def web(
    version: int | str, behaviour: str = "", *, replicas: int = 4, strategy: JSON | None = None
) -> JSON:
    """Return the Deployment of all scenarios: 4 pods, a deadline of 8 s, 1 s to be available."""
    body = manifests.deployment(
        NAME,
        image=f"shop/{NAME}:{version}",
        replicas=replicas,
        behaviour=behaviour,
        min_ready_seconds=1,
        progress_deadline_seconds=8,
        strategy=strategy,
    )
    body["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1
    return body


ONE = Apply(web(1))
FAILED_TWO = Apply(web(2, "never-ready"), until_deadline=True)

ALL = (
    Scenario("good-rolling", web(2), [ONE]),
    Scenario("good-slow-steps", web(2, "ready=3", strategy=BY_STEPS_OF_ONE), [ONE]),
    Scenario("good-recreate", web(2, strategy=RECREATE), [Apply(web(1, strategy=RECREATE))]),
    Scenario("first-good", web(1)),
    Scenario("noop", web(1), [ONE]),
    Scenario("scale-only", web(1, replicas=6), [ONE]),
    Scenario("pod-deleted", web(2, "ready=2"), [ONE], [Later(1.5, DeletePod(f"shop/{NAME}:1"))]),
    Scenario("stale-deadline", web(3), [ONE, FAILED_TWO]),
    Scenario("superseded", web(2, "ready=4"), [ONE], [Later(2.0, Edit(f"shop/{NAME}:3"))]),
    Scenario("crashloop", web(2, "crash=0.3"), [ONE], at_deadline=True),
    Scenario("first-crashloop", web(1, "crash=0.3"), at_deadline=True),
    Scenario("oom", web(2, "oom=0.3"), [ONE], at_deadline=True),
    Scenario(
        "image-pull",
        web("typo", "image-pull"),
        [ONE],
        at_deadline=True,
        flags=["--fail-fast", "image-pull=2s"],
    ),
    Scenario("never-ready", web(2, "never-ready"), [ONE], at_deadline=True),
    Scenario("unschedulable", web(2, "unschedulable"), [ONE], at_deadline=True),
    Scenario(
        "quota",
        web(2, strategy=BY_STEPS_OF_ONE),
        [ONE, LimitPods(4)],
        at_deadline=True,
        flags=["--fail-fast", "pod-create=3s"],
    ),
)
BY_NAME = {scenario.name: scenario for scenario in ALL}


def edits(edit: Edit) -> list[JSON]:
    """Return the JSON patch of an edit; the template must have a behaviour."""
    annotation = behaviour.ANNOTATION.replace("/", "~1")
    template = "/spec/template"
    return [
        {"op": "replace", "path": f"{template}/spec/containers/0/image", "value": edit.image},
        {"op": "remove", "path": f"{template}/metadata/annotations/{annotation}"},
    ]
