"""Random sequences for StatefulSets and DaemonSets: what is done, and what stands after each step.

Each step is left to settle, and the picture after it is compared: status, revisions, who owns which
field, and of each pod its revision and whether it is ready. How it came there is not: the stories
of `workloads` are.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sandbox.face import behaviour
from tests.cluster.kubelet.api import JSON, MERGE_PATCH, ApiError
from tests.cluster.objects import is_ready
from tests.cluster.rollouts import REVISION_LABEL, is_observed, is_owned
from tests.cluster.workloads import daemon_set, stateful_set
from tests.conformance.bed import APPLY_PATCH, Bed
from tests.conformance.operations import CRASH, GOOD, NEVER, Change, Verb
from tests.conformance.scenarios import GATE
from tests.conformance.settled import owners

NAME = "web"
VERSIONS = 3
STEPS = (4, 8)
BEHAVIOURS = (GOOD, GOOD, NEVER, CRASH)
TURNS = (GOOD, NEVER, "evicted=0.1", "restart-once=0.1")
MOST_SECONDS = 40.0
QUIET_SECONDS = 1.5
"""Longer than a pod takes to be ready, and than a controller takes to look again."""
LOOK_SECONDS = 0.1
RESOURCES = {"StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply a version as the gate does; `strategy` is the workload's `updateStrategy`."""

    version: int
    behaviour: str
    strategy: str
    replicas: int = 1


Operation = Apply | Change
"""A change of a pod has its index by name, counted again from the first beyond the last."""


def sequence(kind: str, seed: int) -> list[Operation]:
    """Return the steps of a seed; the first one makes the workload."""
    chance = random.Random(f"{kind} {seed}")
    strategies = ["RollingUpdate", "RollingUpdate", "OnDelete"]
    choices: list[Callable[[], Operation]] = [
        lambda: Change(Verb.DELETE_POD, chance.randrange(4)),
        lambda: Change(Verb.FAIL_POD, (chance.randrange(4), chance.choice(TURNS))),
    ]
    if kind == "StatefulSet":
        strategies += ["1", "2"]
        choices.append(lambda: Change(Verb.SCALE, chance.randrange(5)))

    def apply() -> Operation:
        how = chance.choice(BEHAVIOURS), chance.choice(strategies)
        return Apply(chance.randint(1, VERSIONS), *how, replicas=chance.randint(1, 4))

    first = Apply(1, GOOD, "RollingUpdate", replicas=chance.randint(1, 4))
    rest = [chance.choice([apply, apply, *choices])() for _ in range(chance.randint(*STEPS))]
    return [first, *rest]


def play(bed: Bed, kind: str, steps: Sequence[Operation], namespace: str) -> JSON:
    """Play steps in a namespace of their own, which goes afterwards; return all pictures."""
    bed.json("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    try:
        stage = _Stage(bed, kind, namespace)
        return {f"step {number}": stage.take(step) for number, step in enumerate(steps)}
    finally:
        bed.leave()
        bed.json("DELETE", f"/api/v1/namespaces/{namespace}")


class _Stage:
    def __init__(self, bed: Bed, kind: str, namespace: str) -> None:
        self._bed = bed
        self._kind = kind
        self._namespace = namespace

    def take(self, step: Operation) -> JSON:
        """Return what stands when a step has settled, or has not within the time."""
        try:
            self._do(step)
        except ApiError as error:
            return {"refused": error.status}
        until, quiet_since, before = self._bed.now() + MOST_SECONDS, self._bed.now(), ""
        while self._bed.now() < until:
            found = _Found(*self._read())
            picture = json.dumps(found.picture(), sort_keys=True)
            if picture != before or not found.is_at_rest():
                quiet_since, before = self._bed.now(), picture
            elif self._bed.now() - quiet_since >= QUIET_SECONDS:
                break
            self._bed.wait(lambda: False, LOOK_SECONDS)
        settled: JSON = json.loads(before)
        return settled

    def _read(self) -> tuple[JSON, list[JSON], list[JSON]]:
        apps, core = (
            f"/{each}/namespaces/{self._namespace}" for each in ("apis/apps/v1", "api/v1")
        )
        live = self._bed.json("GET", self._path())
        revisions = self._bed.json("GET", f"{apps}/controllerrevisions")["items"]
        pods = self._bed.json("GET", f"{core}/pods")["items"]
        return live, revisions, sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))

    def _do(self, step: Operation) -> None:
        match step:
            case Apply():
                query = f"?fieldManager={GATE}&force=true"
                self._bed.json("PATCH", self._path() + query, self._body(step), APPLY_PATCH)
            case Change(Verb.SCALE, replicas):
                body = {"spec": {"replicas": replicas}}
                path = f"{self._path()}/scale?fieldManager=kubectl"
                self._bed.json("PATCH", path, body, MERGE_PATCH)
            case Change(Verb.DELETE_POD, index):
                for path in self._pod(index):
                    self._bed.json("DELETE", path)
            case Change(Verb.FAIL_POD, (index, asked)):
                turn = {"metadata": {"annotations": {behaviour.ANNOTATION: asked}}}
                for path in self._pod(index):
                    self._bed.json("PATCH", path, turn, MERGE_PATCH)

    def _pod(self, index: int) -> Iterator[str]:
        """Yield the path of a pod, where there is any."""
        *_, pods = self._read()
        if pods:
            name = pods[index % len(pods)]["metadata"]["name"]
            yield f"/api/v1/namespaces/{self._namespace}/pods/{name}"

    def _path(self) -> str:
        return f"/apis/apps/v1/namespaces/{self._namespace}/{RESOURCES[self._kind]}/{NAME}"

    def _body(self, step: Apply) -> JSON:
        strategy: JSON = {"type": step.strategy}
        if step.strategy.isdigit():
            rolling = {"partition": int(step.strategy)}
            strategy |= {"type": "RollingUpdate", "rollingUpdate": rolling}
        image = f"shop/web:{step.version}"
        if self._kind == "DaemonSet":
            body = daemon_set(NAME, image=image, behaviour=step.behaviour)
        else:
            body = stateful_set(NAME, image=image, behaviour=step.behaviour, replicas=step.replicas)
        body["spec"]["updateStrategy"] = strategy
        return body


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read of a workload, in one look."""

    live: JSON
    revisions: list[JSON]
    pods: list[JSON]

    def is_at_rest(self) -> bool:
        """Whether its controller has seen it as it is, and each pod is as it was asked to be."""
        return is_observed(self.live) and all(map(_is_as_asked, self.pods))

    def picture(self) -> JSON:
        """Return what does not differ from cluster to cluster, nor with how long pods took."""
        spec, status = self.live["spec"], dict(self.live.get("status", {}))
        status.pop("collisionCount", None)
        for name in ("currentRevision", "updateRevision"):
            if name in status:
                status[name] = self._number(status[name])
        owned = [each for each in self.revisions if is_owned(each, self.live)]
        return {
            "replicas": spec.get("replicas"),
            "strategy": spec["updateStrategy"],
            "status": status,
            "owners": owners(self.live),
            "revisions": sorted((each["revision"], _image(each["data"])) for each in owned),
            "pods": [self._pod(pod) for pod in self.pods],
        }

    def _pod(self, pod: JSON) -> JSON:
        own, owner = (
            pod["metadata"]["name"],
            self._number(pod["metadata"]["labels"][REVISION_LABEL]),
        )
        is_named = self.live["kind"] == "StatefulSet"
        return {
            "name": own if is_named else "",
            "revision": owner,
            "image": _image({"spec": {"template": pod}}),
            "ready": is_ready(pod),
            "deleting": "deletionTimestamp" in pod["metadata"],
        }

    def _number(self, label: str) -> str:
        """Return a revision by its number: its name, or the hash at the end of it, is a label."""
        for each in self.revisions:
            name = each["metadata"]["name"]
            if label == name or name.endswith(f"-{label}"):
                return f"revision {each['revision']}"
        return "none"


def _image(data: JSON) -> str:
    return str(data["spec"]["template"]["spec"]["containers"][0]["image"])


def _is_as_asked(pod: JSON) -> bool:
    asked = pod["metadata"].get("annotations", {}).get(behaviour.ANNOTATION)
    if "deletionTimestamp" in pod["metadata"] or pod["status"].get("phase") == "Failed":
        return False
    return is_ready(pod) != (asked in {NEVER, CRASH})
