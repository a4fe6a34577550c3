"""Sequences of operations on a bed: what each was answered, and what stands in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from sandbox.face import behaviour
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON, MERGE_PATCH, STRATEGIC_PATCH, ApiError
from tests.conformance.bed import APPLY_PATCH, JSON_PATCH, Bed
from tests.conformance.operations import Apply, Change, Operation, Step, Verb
from tests.conformance.resting import (
    is_empty,
    is_observed,
    owner_of,
    rests,
    revision_of,
    template_of,
    works,
)
from tests.conformance.scenarios import GATE, NAME, RECREATE
from tests.conformance.settled import anonymous, settled
from tests.conformance.watched import Watched, path_of

DEADLINE_SECONDS = 2
HISTORY_LIMIT = 2
MOST_SECONDS = 40.0
QUIET_SECONDS = 0.6
NOTICED_SECONDS = 0.15
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What each step was answered, and what stood when all had settled."""

    answers: list[str]
    settled: JSON


def play(bed: Bed, steps: Sequence[Step], namespace: str) -> Outcome:
    """Play steps in a namespace of their own, which goes afterwards."""
    bed.json("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    try:
        operator = _Operator(bed, namespace)
        answers = [operator.take(step) for step in steps]
        operator.settle()
        return Outcome(answers, _comparable(operator.seen))
    finally:
        bed.leave()
        bed.json("DELETE", f"/api/v1/namespaces/{namespace}")


class _Operator:
    """Does one step after the other to the Deployment of a namespace."""

    def __init__(self, bed: Bed, namespace: str) -> None:
        self.seen = Watched(bed, namespace)
        self._bed = bed
        self._namespace = namespace

    def take(self, step: Step) -> str:
        """Take a step; return `done`, or why it was refused."""
        try:
            self.do(step.do)
            answer = "done"
        except ApiError as error:
            answer = anonymous(f"{error.status} {error.message}", self.seen.replica_sets)
            answer = answer.replace(self._namespace, "NAMESPACE")
        self._wait_until_noticed()
        if step.settle:
            self.settle()
        else:
            self._bed.wait(lambda: False, NOTICED_SECONDS)
        return answer

    def settle(self) -> None:
        """Wait until the controllers have nothing to do any more."""
        self.seen.wait_quiet(rests, MOST_SECONDS, QUIET_SECONDS)

    def _wait_until_noticed(self) -> None:
        """Wait until the controllers have observed what the server holds now."""
        live = self._bed.json("GET", self._path("deployments", NAME))["metadata"]

        def is_noticed(seen: Watched) -> bool:
            found = seen.deployment.get("metadata", {})
            is_new = found.get("uid") == live["uid"] and found["generation"] >= live["generation"]
            return is_new and is_observed(seen)

        self.seen.wait(is_noticed, MOST_SECONDS)

    def do(self, operation: Operation) -> None:
        match operation:
            case Apply(force=force):
                query = f"?fieldManager={GATE}&force={str(force).lower()}"
                self._patch(query, _body(operation), APPLY_PATCH)
            case Change(Verb.SCALE, replicas):
                body = {"spec": {"replicas": replicas}}
                self._patch("/scale?fieldManager=kubectl", body, MERGE_PATCH)
            case Change(Verb.PAUSE | Verb.RESUME as verb):
                self._rollout({"spec": {"paused": True if verb is Verb.PAUSE else None}})
            case Change(Verb.RESTART, second):
                annotations = {RESTARTED_AT: f"2026-01-01T00:00:0{second}Z"}
                self._rollout({"spec": {"template": {"metadata": {"annotations": annotations}}}})
            case Change(Verb.EDIT, value):
                containers = [{"name": NAME, "env": [{"name": "MODE", "value": value}]}]
                body = {"spec": {"template": {"spec": {"containers": containers}}}}
                self._patch("?fieldManager=kubectl-set", body, STRATEGIC_PATCH)
            case Change(Verb.UNDO):
                self._undo()
            case Change(Verb.RECREATE, version):
                options = {"propagationPolicy": "Background"}
                self._bed.json("DELETE", self._path("deployments", NAME), options)
                self.seen.wait(is_empty, MOST_SECONDS)
                self.do(Apply(version, replicas=2))
            case Change(verb, asked):
                self._disturb(asked if verb is Verb.FAIL_POD else None)

    def _undo(self) -> None:
        sets = sorted(self.seen.replica_sets, key=revision_of)
        if len(sets) < 2 or self.seen.deployment["spec"].get("paused"):
            return
        template = template_of(sets[-2])
        ops = [{"op": "replace", "path": "/spec/template", "value": template}]
        self._patch("?fieldManager=kubectl-rollout", ops, JSON_PATCH)

    def _disturb(self, asked: str | None) -> None:
        """Let a pod, where one works, do what is asked; delete it where nothing is."""
        name = self._pod()
        if name and asked is not None:
            body = {"metadata": {"annotations": {behaviour.ANNOTATION: asked}}}
            self._bed.json("PATCH", self._path("pods", name), body, MERGE_PATCH)
        elif name:
            self._bed.json("DELETE", self._path("pods", name))

    def _pod(self) -> str:
        """Return the name of the oldest pod that works, of the latest revision that has one."""
        for owner in sorted(self.seen.replica_sets, key=revision_of, reverse=True):
            for pod in self.seen.pods:
                if owner_of(pod) == owner["metadata"]["uid"] and works(pod):
                    return str(pod["metadata"]["name"])
        return ""

    def _rollout(self, body: JSON) -> None:
        self._patch("?fieldManager=kubectl-rollout", body, STRATEGIC_PATCH)

    def _patch(self, rest: str, body: JSON | list[JSON], content_type: str) -> None:
        self._bed.json("PATCH", self._path("deployments", NAME) + rest, body, content_type)

    def _path(self, resource: str, name: str) -> str:
        return path_of(resource, self._namespace, name)


def _body(operation: Apply) -> JSON:
    return manifests.deployment(
        NAME,
        image=f"shop/{NAME}:{operation.version}",
        replicas=operation.replicas,
        behaviour=operation.behaviour,
        progress_deadline_seconds=DEADLINE_SECONDS,
        strategy=RECREATE if operation.recreate else None,
        revisionHistoryLimit=HISTORY_LIMIT,
    )


def _comparable(seen: Watched) -> JSON:
    """Return what does not depend on how often a controller looked on the way."""
    found = settled([seen.deployment, *seen.replica_sets, *seen.pods])
    found["deployment"]["status"]["conditions"].sort(key=itemgetter("type"))
    return found
