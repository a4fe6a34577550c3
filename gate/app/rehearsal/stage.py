"""One stage: a sandbox with what ran before, and the gate that deploys into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TextIO

from gate.app.attempting import apply
from gate.app.played import Played, PlayedSignals
from gate.app.rehearsal.trouble import Before, Trouble
from gate.config import Settings
from gate.core.effects import FIELD_MANAGER
from gate.errors import UsageError
from gate.manifests.manifest import ManifestObject
from gate.sandbox.api.asked import Patch, PatchType, Writer
from gate.sandbox.failure import ApiError
from gate.sandbox.json import JSON, copied, dig
from gate.sandbox.kinds import BY_KIND
from gate.sandbox.kubelet import behaviour
from gate.sandbox.scenario.images import ImageRule, Images
from gate.sandbox.scenario.play import Play
from gate.sandbox.scenario.scenario import Scenario
from gate.sandbox.scenario.series import Series
from gate.sandbox.storage.store import Key
from gate.signals import Delivery

PATIENCE_SECONDS: Final = 3600.0
_BEFORE, _TIMED_OUT = "before", "timed-out"
_WRITER: Final = Writer("system:admin", FIELD_MANAGER)


@dataclass(frozen=True, slots=True)
class Actor:
    """An object of the manifest as the sandbox stores it."""

    key: Key
    body: JSON

    @property
    def is_deployment(self) -> bool:
        """Whether pods come of it."""
        return self.key.resource == "deployments.apps"

    @property
    def images(self) -> tuple[str, ...]:
        """The images of a Deployment's template, init containers last."""
        spec = dig(self.body, "spec", "template", "spec") or {}
        every = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        return tuple(each.get("image", "") for each in every)

    def of_version(self, tag: str) -> JSON:
        """Return the object as another version of it was: all its images have that tag."""
        body: JSON = copied(self.body)
        spec = dig(body, "spec", "template", "spec") or {}
        for each in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            each["image"] = _tagged(each.get("image", ""), tag)
        return body


class Stage:
    """A sandbox that holds what was there before."""

    def __init__(self, played: Played, actors: Sequence[Actor]) -> None:
        self._played = played
        self._actors = tuple(actors)

    @property
    def deployments(self) -> tuple[Actor, ...]:
        """What is rolled out, in the manifest's order."""
        return tuple(actor for actor in self._actors if actor.is_deployment)

    @property
    def pods(self) -> int:
        """How many pods there are."""
        return len(self._played.cluster.api.store.items("pods"))

    @property
    def stored(self) -> list[JSON]:
        """The Deployments as the server has them; one that was deleted is left out."""
        store = self._played.cluster.api.store
        found = (store.get(actor.key) for actor in self.deployments)
        return [body for body in found if body is not None]

    def set_up(self, before: Before) -> None:
        """Let happen what happened before."""
        for namespace in sorted({actor.key.namespace for actor in self._actors} - {""}):
            self._make_namespace(namespace)
        if before is Before.NOTHING:
            return
        for actor in self._actors:
            self._apply(actor.key, actor.of_version(_BEFORE))
        self._wait(_complete)
        if before is Before.TIMED_OUT:
            self.time_out()

    def play_out(self, trouble: Trouble) -> Play:
        """Let a trouble begin now: for the first image of the first Deployment."""
        first = self.deployments[0]
        return self.play(trouble.scenario(first.images, first.key.name, self.pods))

    def play(self, scenario: Scenario) -> Play:
        """Let a scenario begin now."""
        cluster = self._played.cluster
        namespace = self.deployments[0].key.namespace if self.deployments else "default"
        play = Play(scenario, cluster.api, cluster.kubelet, namespace)
        play.start()
        return play

    def run(
        self, settings: Settings, stdin: bytes, stdout: TextIO, stderr: TextIO, delivered: Delivery
    ) -> int:
        """Run `rollout-gate apply` to its end; return its exit code."""
        signals = PlayedSignals(self._played.clock)
        world = self._played.world(signals, stdout, stderr, stdin=stdin)
        return apply(replace(world, delivered=delivered), settings)

    def time_out(self) -> None:
        """Roll a version out that never gets ready, and wait for its deadline condition."""
        cluster = self._played.cluster
        stuck = Series.constant(behaviour.parse("never-ready"))
        scenario = Scenario(Images((ImageRule(f"*:{_TIMED_OUT}", stuck),)))
        Play(scenario, cluster.api, cluster.kubelet).start()
        for actor in self.deployments:
            self._apply(actor.key, actor.of_version(_TIMED_OUT))
        self._wait(_timed_out)

    def _make_namespace(self, name: str) -> None:
        key = Key("namespaces", "", name)
        if self._played.cluster.api.store.get(key) is None:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self._played.cluster.api.create("namespaces", "", body, _WRITER)

    def _apply(self, key: Key, body: JSON) -> None:
        try:
            self._played.cluster.api.patch(key, Patch(PatchType.APPLY, body, force=True), _WRITER)
        except ApiError as error:
            raise UsageError(f"{key.name}: {error.message}") from error

    def _wait(self, holds: Callable[[JSON], bool]) -> None:
        store = self._played.cluster.api.store
        keys = [actor.key for actor in self.deployments]

        def all_hold() -> bool:
            return all(holds(store.get(key) or {}) for key in keys)

        if not self._played.clock.wait_until(all_hold, PATIENCE_SECONDS):
            raise UsageError("what is to serve before the rehearsal does not get ready")


def actors_of(objects: Sequence[ManifestObject], namespace: str) -> Iterator[Actor]:
    """Yield a manifest's objects; UsageError for a kind that the sandbox does not have."""
    for item in objects:
        resource = BY_KIND.get((item.api_version, item.kind))
        if resource is None:
            known = ", ".join(sorted({kind for _, kind in BY_KIND}))
            problem = f"{item.source}: the sandbox has no {item.kind} ({item.api_version})"
            raise UsageError(problem, hint=f"it has {known}")
        place = (item.namespace or namespace) if resource.namespaced else ""
        body = item.body_copy()
        body["metadata"] = {**body["metadata"], **({"namespace": place} if place else {})}
        yield Actor(Key(resource.key, place, item.name), body)


def _tagged(image: str, tag: str) -> str:
    """Return an image with another tag, its digest left out; a registry's port is no tag."""
    name = image.partition("@")[0]
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}:{tag}"


def _complete(deployment: JSON) -> bool:
    wanted = dig(deployment, "spec", "replicas")
    status = deployment.get("status", {})
    counters = ("replicas", "updatedReplicas", "availableReplicas")
    observed = status.get("observedGeneration", 0) >= dig(deployment, "metadata", "generation")
    return observed and all(status.get(counter, 0) == wanted for counter in counters)


def _timed_out(deployment: JSON) -> bool:
    conditions = dig(deployment, "status", "conditions") or []
    return any(each.get("reason") == "ProgressDeadlineExceeded" for each in conditions)
